/** Takes the place of a driver: connects to its hosts and processes, and owns its meshes from then on. */
import { hostname } from "node:os";
import type { ActorMesh } from "../../actor/mesh/actor-mesh.js";
import type { ActorClass } from "../../actor/reference/actor-request.js";
import { parseNetworkAddress } from "../../link/transport/network-address.js";
import type { ProcBackend } from "../../proc/launch/proc-backend.js";
import type { ChildProc } from "../../proc/mesh/child-proc.js";
import type { StartedChild } from "../../proc/mesh/replace-child.js";
import { SpawnedProcs } from "../../proc/mesh/spawned-procs.js";
import { agentOf, runAsRoot } from "../../proc/proc-agents.js";
import type { ProcessRuntime } from "../../proc/process/process-runtime.js";
import { Point } from "../../shape/index.js";
import { AttachedHosts } from "../attached/attached-hosts.js";
import { publicationsOf } from "../publish/program-publications.js";
import { withOwnCertificate } from "./controller-certificate.js";
import type { HandedActors, HandedHosts, HandedProc, HandedProcs, HandOver } from "./hand-over.js";

/** The classes of the actors, in the order of the hand-over. */
export type HandedClasses = readonly ActorClass[];

/** Resolves when this process owns everything. Rejects if a host does not accept it. */
export async function takeOver(runtime: ProcessRuntime, state: HandOver, classes: HandedClasses): Promise<void> {
  const groups = state.hosts.map((hosts) =>
    attachHandedHosts(
      runtime,
      hosts,
      hosts.hosts.map(({ agent }) => agent),
    ),
  );
  await Promise.all(groups.map(({ ready }) => ready));
  const hosts = groups.flatMap((group) => group.hosts);
  const living = await Promise.all(hosts.map((host) => host.ask((agent) => agent.processes.callOne())));
  const procs = state.procs.map((handed) => adoptProcs(runtime, handed, groups, new Set(living.flat())));
  const meshes = state.actors.map((handed, i) => adoptActors(runtime, handed, procs[handed.procs]!, classes[i]!));
  const publications = publicationsOf(runtime);
  for (const { publication, actors, senders } of state.publications) {
    publications.restore({ publication, mesh: meshes[actors]!, senders }, hosts);
  }
  const publisher = `the controller of ${state.subject}, process ${runtime.platform.pid} on ${hostname()},`;
  await Promise.all(hosts.map((host) => host.ask((agent) => agent.resume.callOne(publisher))));
}

/** @param agents the agents of the driver whose place is taken; undefined for agents of this process's own */
export function attachHandedHosts(
  runtime: ProcessRuntime,
  handed: HandedHosts,
  agents?: readonly bigint[],
): AttachedHosts {
  const { name, dimension, hosts, registry, ...access } = withOwnCertificate(handed);
  const targets = hosts.map(({ address }) => ({ address: parseNetworkAddress(address) }));
  const options = {
    name,
    dimension,
    targets,
    access: { registry, readOnly: false, ...access },
    ...(agents && { agents }),
  };
  return new AttachedHosts(runtime, runtime.mainProc.proc.root, options);
}

function adoptProcs(
  runtime: ProcessRuntime,
  { name, extent, restart, procs: handed }: HandedProcs,
  groups: readonly AttachedHosts[],
  living: ReadonlySet<bigint>,
): SpawnedProcs {
  const owner = runtime.mainProc.proc.root;
  const start = (procs: SpawnedProcs, rank: number) => startAgain(runtime, procs, handed[rank]!, rank, groups);
  const procs = new SpawnedProcs(runtime, { name, extent, owner, restart, start });
  const children = handed.map((each, rank) => adoptProc(runtime, procs, each, rank, groups));
  procs.adoptChildren(children);
  for (const { group } of handed) groups[group]!.addProcs(procs);
  for (const [rank, { proc, ended }] of handed.entries()) {
    if (ended !== undefined) continue;
    if (living.has(proc)) void askForFailures(runtime, children[rank]!);
    else {
      const cause = { name: "ProcessEnd", message: "its process has ended while its mesh was handed over" };
      runtime.hostedBackends.get(proc)?.reportLost("process", cause);
    }
  }
  return procs;
}

function adoptProc(
  runtime: ProcessRuntime,
  procs: SpawnedProcs,
  { proc, group, host: number, ended, label }: HandedProc,
  rank: number,
  groups: readonly AttachedHosts[],
): ChildProc {
  const host = groups[group]!.hostAt(number);
  const backend = host.adopt(procs.proc, { proc, label, rank, stdio: "ignore" });
  const child = addChild(runtime, procs, { id: proc, rank, location: host.location, backend });
  if (ended !== undefined) {
    child.isExitExpected = true;
    backend.reportLost("process", ended);
  }
  return child;
}

/** Starts another process for a rank, as the driver would have done. */
function startAgain(
  runtime: ProcessRuntime,
  procs: SpawnedProcs,
  { group, host: number, label, env, execArgv, cpus, cwd, config }: HandedProc,
  rank: number,
  groups: readonly AttachedHosts[],
): StartedChild {
  const host = groups[group]!.hostAt(number);
  const { proc } = procs;
  const id = proc.random.id();
  const { extent } = new Point(procs.extent, rank);
  const identity = { universe: runtime.universe, id, parent: proc.id, rank, extent, runDir: "" };
  const variables = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value ?? undefined]));
  const backend = host.start(proc, { identity, label, env: variables, execArgv, cpus, cwd, stdio: "ignore" });
  return { child: addChild(runtime, procs, { id, rank, location: host.location, backend }), config };
}

function addChild(
  runtime: ProcessRuntime,
  procs: SpawnedProcs,
  options: { readonly id: bigint; readonly rank: number; readonly location: string; readonly backend: ProcBackend },
): ChildProc {
  return runtime.addChild(procs.proc, options, (ended, exit) => procs.childExited(ended, exit));
}

/** Learns of actors that have failed while neither the driver nor this process was there. Never rejects. */
async function askForFailures(runtime: ProcessRuntime, { id }: ChildProc): Promise<void> {
  const { proc } = runtime.mainProc;
  const asked = runAsRoot(proc, () => agentOf(id).failures.callOne());
  for (const notice of await asked.catch(() => [])) runtime.mainProc.handleNotice(notice);
}

function adoptActors(
  runtime: ProcessRuntime,
  { mesh: id, name, region, args, protobuf, restart, watch, ranks }: HandedActors,
  procs: SpawnedProcs,
  actorClass: ActorClass,
): ActorMesh {
  const plan = { actorClass, descriptor: actorClass.descriptor, args, protobuf, restart, watch };
  return procs.adopt({ id, name }, runtime.mainProc.proc.root, region, plan, ranks);
}
