/** Starts the procs of a mesh, all at once, in what they are to run in, and links them. Waits for nothing. */
import type { ProcConfig } from "../../generated/proc-agent.js";
import { currentCell } from "../actor/context.js";
import type { Proc } from "../actor/proc.js";
import type { Body, Identity } from "../proc/body.js";
import { inlineBody } from "../proc/inline-body.js";
import type { Local } from "../proc/local.js";
import { Member } from "../proc/member.js";
import type { StartedMember } from "../proc/replacement.js";
import { SpawnedProcs } from "../proc/spawned-procs.js";
import { type Extent, Point, points, wholeRegion } from "../shape/index.js";
import type { AttachedHost } from "./attached-host.js";
import type { Env, ProcsPlan } from "./options.js";

/** What one proc is started with. */
interface Start {
  /** Undefined: this machine. */
  readonly host: AttachedHost | undefined;
  readonly identity: Identity;
  readonly config: ProcConfig;
  readonly label: string;
  readonly env: Env;
  readonly cpus: string | undefined;
}

/** @throws what functions among the options throw; then nothing has been started */
export function startProcs<D extends string>(local: Local, extent: Extent<D>, plan: ProcsPlan<D>): SpawnedProcs {
  const owner = currentCell();
  local.checkSpawn(owner, "procs");
  const starts = [...points(wholeRegion(extent))].map((point) => startOf(local, owner.proc, point, extent, plan));
  const { name, restart } = plan;
  const start = (made: SpawnedProcs, rank: number) => replacements(local, made, plan)(rank);
  const procs = new SpawnedProcs(local, { name, extent, owner, restart, start });
  procs.configure(starts.map((start) => startMember(local, procs, start, plan)));
  return procs;
}

/** What starts procs that take the places of others. */
export function replacements<D extends string>(
  local: Local,
  procs: SpawnedProcs,
  plan: ProcsPlan<D>,
): (rank: number) => StartedMember {
  return (rank) => {
    const point = new Point<D>(procs.extent as Extent<D>, rank);
    return startMember(local, procs, startOf(local, procs.proc, point, procs.extent, plan), plan);
  };
}

function startOf<D extends string>(
  local: Local,
  proc: Proc,
  point: Point<D>,
  extent: Extent,
  plan: ProcsPlan<D>,
): Start {
  const host = plan.host(point.rank);
  const runDir = plan.isolation === "process" && host === undefined ? local.runDir : "";
  const id = proc.random.id();
  const made = local.placeOfMade(proc);
  const place = { rank: point.rank, extent, runDir, ...(made === undefined ? {} : { host: made }) };
  const identity = { universe: local.universe, id, parent: proc.id, ...place };
  const known = configOf(local, plan, plan.registry(point) ?? host?.registry);
  // On a host, it is the host who says.
  const { proof } = local;
  const config = proof === undefined || host !== undefined ? known : { ...known, proof };
  return { host, identity, config, label: labelOf(plan, point), env: plan.env(point), cpus: plan.cpus(point) };
}

function startMember<D extends string>(
  local: Local,
  procs: SpawnedProcs,
  start: Start,
  plan: ProcsPlan<D>,
): StartedMember {
  const { identity, config, host } = start;
  const { id, rank, runDir } = identity;
  const body = bodyOf(local, procs.proc, start, plan);
  procs.proc.attach(body.pipe, id);
  const near = () => (plan.isolation === "process" ? (identity.host ?? local.platform.locationOf(runDir, id)) : "");
  const location = host?.location ?? near();
  const member = new Member({ id, maker: procs.proc.id, rank, location, body, clock: procs.proc.clock }, (ended, end) =>
    procs.ended(ended, end),
  );
  return { member, config };
}

function labelOf<D extends string>({ name, named }: ProcsPlan<D>, point: Point<D>): string {
  const place = Object.entries(point.coordinates).map(([dimension, index]) => `${dimension}=${index}`);
  return (named || place.length === 0 ? [name, ...place] : place).join(" ");
}

function bodyOf<D extends string>(local: Local, from: Proc, start: Start, plan: ProcsPlan<D>): Body {
  const { host, identity, label, env, cpus } = start;
  const { isolation, execArgv, stdio } = plan;
  if (isolation === "inline") return inlineProc(local, identity);
  const request = { isolation, identity, label, env, execArgv, cpus, stdio };
  return host === undefined ? local.platform.start(request) : host.start(from, request);
}

function inlineProc(local: Local, identity: Identity): Body {
  return inlineBody(local.platform.clock, (pipe, ended) => {
    const leave = (reason: string) => {
      made.proc.close(reason);
      local.procs.delete(identity.id);
      ended();
    };
    const made = local.addProc(identity, leave);
    made.proc.attach(pipe, identity.parent);
    return () => leave("killed");
  });
}

function configOf<D extends string>({ platform }: Local, plan: ProcsPlan<D>, place: string | undefined): ProcConfig {
  const { bootstrap, isolation, execArgv } = plan;
  const { urls } = platform.classes;
  const places = place === undefined ? urls : [...urls, place];
  const loader = isolation === "inline" ? undefined : platform.loaderFor({ isolation, execArgv }, places);
  return {
    ...(loader === undefined ? {} : { loader }),
    ...(bootstrap === undefined ? {} : { bootstrap }),
    ...(place === undefined ? {} : { registry: place }),
  };
}
