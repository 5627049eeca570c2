/**
 * Starts the procs of a mesh, all at once: it starts the backend that the isolation asks for, and attaches the link. It
 * waits for nothing.
 */
import type { ProcConfig } from "../../../generated/proc-agent.js";
import { currentCell } from "../../actor/context.js";
import type { Proc } from "../../actor/proc/proc.js";
import { formatRelayedLocation } from "../../link/relayed-location.js";
import { withInspector } from "../../proc/launch/inspector.js";
import type { ProcBackend, ProcIdentity } from "../../proc/launch/proc-backend.js";
import type { JoiningRank } from "../../proc/mesh/membership.js";
import { MeshSpares } from "../../proc/mesh/mesh-spares.js";
import type { StartedChild } from "../../proc/mesh/replace-child.js";
import { SpawnedProcs, type StartDescription } from "../../proc/mesh/spawned-procs.js";
import { ownScheme } from "../../proc/platform/program-places.js";
import type { ProcessRuntime } from "../../proc/process/process-runtime.js";
import { type Extent, type Point, points, wholeRegion } from "../../shape/index.js";
import type { AttachedHost } from "../attached/attached-host.js";
import { codeOn, startIn } from "../attached/hosts-code.js";
import type { Env, ProcsPlan } from "./spawn-procs-options.js";
import { startInlineBackend } from "./start-inline-backend.js";

/** The parameters for the start of one proc. */
interface ProcStart {
  /** The attached host; undefined for this machine. */
  readonly host: AttachedHost | undefined;
  /** The number of the proc in its mesh. It differs from its rank after the mesh has been resized. */
  readonly number: number;
  readonly identity: ProcIdentity;
  readonly config: ProcConfig;
  readonly label: string;
  readonly env: Env;
  readonly cpus: string | undefined;
}

/** Returns the plan for procs of a mesh with the given extent. */
export type PlanForExtent<D extends string> = (extent: Extent<D>) => ProcsPlan<D>;

/** @throws rethrows errors of functions among the options; then nothing has been started */
export function startProcs<D extends string>(
  runtime: ProcessRuntime,
  extent: Extent<D>,
  planFor: PlanForExtent<D>,
): SpawnedProcs {
  const owner = currentCell();
  const plan = planFor(extent);
  runtime.checkSpawn(owner, "procs");
  const starts = [...points(wholeRegion(extent))].map((point) =>
    planStart(runtime, runtime.procOf(owner), point.rank, point, plan),
  );
  const { name, restart } = plan;
  const start = (made: SpawnedProcs, rank: number) => planReplacements(runtime, made, planFor)(rank);
  const describeStart = (made: SpawnedProcs, rank: number) => describeReplacement(runtime, made, planFor, rank);
  const hostComeback = (made: SpawnedProcs, rank: number) => {
    const point = made.members.placeOf(rank) as Point<D>;
    return planFor(point.extent).host(point.rank)?.comeback;
  };
  const spares = sparesFor(runtime, plan, starts);
  const procs = new SpawnedProcs(runtime, { name, extent, owner, restart, start, describeStart, hostComeback, spares });
  procs.configureChildren(starts.map((start) => startChild(runtime, procs, start, plan)));
  return procs;
}

/** Returns the spares of a mesh, for processes that start as the first one does; undefined if spares cannot be used. */
function sparesFor<D extends string>(
  { platform }: ProcessRuntime,
  { spares, usesSpares, execArgv }: ProcsPlan<D>,
  [first]: readonly ProcStart[],
): MeshSpares | undefined {
  const { keepSpares } = platform;
  if (!usesSpares || keepSpares === undefined || first === undefined) return undefined;
  return new MeshSpares(spares, (count) => keepSpares.call(platform, count, { env: first.env, execArgv }));
}

/**
 * Starts the procs that join a mesh.
 *
 * @throws rethrows errors of functions among the options; then nothing has been started
 */
export function startJoining<D extends string>(
  runtime: ProcessRuntime,
  procs: SpawnedProcs,
  planFor: PlanForExtent<D>,
  joining: readonly JoiningRank[],
): StartedChild[] {
  runtime.checkSpawn(procs.owner, `processes of mesh "${procs.name}"`);
  const starts = joining.map(({ number, point }) => {
    const plan = planFor(point.extent as Extent<D>);
    return { plan, start: planStart(runtime, procs.proc, number, point as Point<D>, plan) };
  });
  return starts.map(({ start, plan }) => startChild(runtime, procs, start, plan));
}

/** Returns the function that starts replacements for procs. It takes the number of the proc. */
export function planReplacements<D extends string>(
  runtime: ProcessRuntime,
  procs: SpawnedProcs,
  planFor: PlanForExtent<D>,
): (rank: number) => StartedChild {
  return (rank) => {
    const point = procs.members.placeOf(rank) as Point<D>;
    const plan = planFor(point.extent);
    return startChild(runtime, procs, planStart(runtime, procs.proc, rank, point, plan), plan);
  };
}

/** Describes how a process of a rank would be started. @throws Error if it would run on this machine */
function describeReplacement<D extends string>(
  runtime: ProcessRuntime,
  procs: SpawnedProcs,
  planFor: PlanForExtent<D>,
  rank: number,
): StartDescription {
  const point = procs.members.placeOf(rank) as Point<D>;
  const plan = planFor(point.extent);
  const { host, label, env, cpus, config } = planStart(runtime, procs.proc, rank, point, plan);
  if (host === undefined) throw new Error(`the processes of mesh "${procs.name}" run on this machine`);
  const execArgv = withInspector(plan.execArgv ?? runtime.platform.execArgv, plan.inspect(rank));
  const place = codeOn(plan.code, host.id);
  if (place instanceof Promise) throw new Error(`the code of mesh "${procs.name}" is still on its way to its hosts`);
  return startIn(place, { location: host.location, label, env, execArgv, cpus, cwd: undefined, config });
}

function planStart<D extends string>(
  runtime: ProcessRuntime,
  proc: Proc,
  number: number,
  point: Point<D>,
  plan: ProcsPlan<D>,
): ProcStart {
  const host = plan.host(point.rank);
  const isProcess = plan.isolation === "process";
  const runDir = isProcess && host === undefined ? runtime.runDir : "";
  // The processes of a thread have no run directory.
  const listens = isProcess && (host !== undefined || runDir !== "");
  const id = proc.random.id();
  const made = runtime.childLocationOf(proc);
  const { rank, extent } = point;
  const place = {
    ...{ rank, extent, runDir },
    ...(made === undefined ? {} : { host: made }),
    ...(listens ? {} : { relayed: formatRelayedLocation({ via: proc.id, location: proc.location }) }),
  };
  const identity = { universe: runtime.universe, id, parent: proc.id, ...place };
  const known = procConfigOf(runtime, plan, plan.registry(point) ?? host?.registry);
  // Processes on a host get the credentials of the host, from its daemon, and none of the driver.
  const config = host === undefined ? { ...known, ...keysOf(runtime) } : known;
  return { host, number, identity, config, label: labelOf(plan, point), env: plan.env(point), cpus: plan.cpus(point) };
}

function startChild<D extends string>(
  runtime: ProcessRuntime,
  procs: SpawnedProcs,
  start: ProcStart,
  plan: ProcsPlan<D>,
): StartedChild {
  const { identity, config, host, number } = start;
  const { id, runDir } = identity;
  const backend = startBackend(runtime, procs.proc, start, plan);
  const location = host?.location ?? identity.relayed ?? identity.host ?? runtime.platform.locationOf(runDir, id);
  const child = runtime.addChild(procs.proc, { id, rank: number, location, backend }, (ended, exit) =>
    procs.childExited(ended, exit),
  );
  return { child, config };
}

function labelOf<D extends string>({ name, isNamed }: ProcsPlan<D>, point: Point<D>): string {
  const place = Object.entries(point.coordinates).map(([dimension, index]) => `${dimension}=${index}`);
  return (isNamed || place.length === 0 ? [name, ...place] : place).join(" ");
}

function startBackend<D extends string>(
  runtime: ProcessRuntime,
  from: Proc,
  start: ProcStart,
  plan: ProcsPlan<D>,
): ProcBackend {
  const { host, number, identity, label, env, cpus } = start;
  const { isolation, execArgv, stdio, guard } = plan;
  if (isolation === "inline") return startInlineBackend(runtime, identity);
  const inspect = plan.inspect(number);
  const request = { isolation, identity, label, env, execArgv, inspect, cpus, stdio, guard };
  return host === undefined ? runtime.platform.start(request) : host.start(from, request, plan.code);
}

/** Returns the credentials for hosts, as the configuration of a process contains them. */
function keysOf({ hostKeyring: { own, keys } }: ProcessRuntime): Pick<ProcConfig, "proof" | "keys"> {
  return { ...(own === undefined ? {} : { proof: own }), ...(keys.length === 0 ? {} : { keys }) };
}

function procConfigOf<D extends string>(
  { platform }: ProcessRuntime,
  plan: ProcsPlan<D>,
  place: string | undefined,
): ProcConfig {
  const { bootstrap, isolation, execArgv } = plan;
  // Viceroy's own modules are the same on all hosts, and need nothing of the program.
  if (place?.startsWith(ownScheme)) return { registry: place };
  const { registryUrls } = platform.classes;
  const places = place === undefined ? registryUrls : [...registryUrls, place];
  const roots = bootstrap === undefined ? places : [...places, bootstrap];
  const loader = isolation === "inline" ? undefined : platform.loaderFor({ isolation, execArgv }, roots);
  return {
    ...(loader === undefined ? {} : { loader }),
    ...(bootstrap === undefined ? {} : { bootstrap }),
    ...(place === undefined ? {} : { registry: place }),
  };
}
