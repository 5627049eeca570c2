/** Opens a context: its root, the managers of its hosts, and the part of it in this process. */
import type {
  ContextHost,
  HostOptions,
  TaskHostMesh,
  TaskRootMesh,
  TaskStoreMesh,
  TaskWorkerMesh,
} from "../../../generated/tasks.js";
import { type HostMesh, type ProcMesh, thisProc } from "../../index.js";
import { RootActors } from "../actors/root-actors.js";
import { DetachedActors } from "../detached/detached-actors.js";
import { taskEnvironmentOf } from "../environment/index.js";
import { HostManager } from "../host/host-actor.js";
import { HostStore } from "../host/host-store.js";
import { untilKilled } from "../host/left-processes.js";
import { currentCell, currentRuntime, oneRank } from "../kernel.js";
import { closeRecord, openRecord } from "../objects/context-objects.js";
import { type ReservingClock, type ReservingHost, reserveBundles } from "../placement/reserve-bundles.js";
import { removeMember } from "../refs/owner-actor.js";
import { type AsRoot, addRootState, ContextRoot, removeRootState } from "../root/context-root.js";
import { PoolWorker } from "../worker/pool-worker.js";
import { makeMember } from "./make-member.js";
import type { ContextMember } from "./member.js";
import { type JobContextOptions, type OpenPlan, planOpen } from "./open-options.js";
import { isLost } from "./ports-of-actors.js";

/** Ends a context. */
export type CloseContext = (reason: string) => Promise<void>;

/** A context, as the program has it. */
export interface OpenedContext {
  readonly member: ContextMember;
  readonly close: CloseContext;
}

export async function openContext(options: JobContextOptions): Promise<OpenedContext> {
  const plan = planOpen(options);
  const environment = await taskEnvironmentOf(plan.environment);
  const id = currentCell().proc.random.id().toString(16).padStart(16, "0");
  const hosts: ContextHost[] = [];
  const host = plan.hosts === undefined || isOwnHost(plan.hosts) ? 0 : undefined;
  const { objects } = plan;
  openRecord(id, objects);
  const member = makeMember({
    ...{ id, host, objects: { objects } },
    root: () => root,
    store: () => (host === undefined ? undefined : hosts[host]?.store),
    describe: () => ({ hosts, grace: plan.grace }),
  });
  const inTurn = <T>(body: () => T): T => {
    let result: T;
    member.inTurn(() => {
      result = body();
    });
    return result!;
  };
  const detached = new DetachedActors({ mesh: plan.hosts, hosts, inTurn });
  const actors = new RootActors({ hosts, detached, now: () => member.clock.epochMs() });
  let created: (asRoot: AsRoot) => void;
  const asRoot = new Promise<AsRoot>((resolve) => {
    created = resolve;
  });
  addRootState(id, {
    created: (own) => created(own),
    failed: (meshes) => {
      for (const i of hosts.keys()) if (meshes.includes(nameOfManager(i, id))) actors.hostEnded(i);
    },
    describe: () => ({ hosts, grace: plan.grace, registries: [...currentRuntime().platform.classes.registryUrls] }),
    actor: (request) => actors.request(request),
    findActor: (name) => actors.find(name),
    stopActor: (name) => actors.stopNamed(name),
    endActor: (actor, reason, drain) => actors.stop(actor, reason, drain),
    actorEnded: (actor) => actors.ended(actor),
    reserve: (request) => reserveBundles(hosts.map(reservingHostOf), request, clock),
    unreserve: async (group) => {
      await Promise.allSettled(hosts.map(({ host }) => host.unreserve.callOne(group)));
    },
  });
  const root: TaskRootMesh<never> = thisProc().spawn(`task root ${id}`, ContextRoot, id);
  const clock: ReservingClock = {
    now: () => member.clock.now(),
    sleep: (ms) => new Promise((resolve) => member.clock.after(ms, resolve, true)),
  };
  const stops: (() => Promise<void>)[] = [() => root.stop()];
  let closing: Promise<void> | undefined;
  const close = (reason: string): Promise<void> => {
    closing ??= (async () => {
      member.close(reason);
      // The managers end their processes; then the processes of the managers end.
      for (const stop of stops.reverse()) await stop();
      await untilKilled();
      removeRootState(id);
      removeMember(member);
      closeRecord(id);
    })();
    return closing;
  };
  try {
    const own = await asRoot;
    const managers = own(() => startManagers(plan, { context: id, root, environment }, stops));
    for (const [i, { host, store }] of managers.entries()) {
      const procs = plan.mesh === undefined ? plan.procs : plan.mesh.size;
      hosts[i] = { host, store, procs, resources: { ...plan.resources } };
    }
    await Promise.all(managers.flatMap(({ host, store }) => [host.ready, store.ready]));
    await detached.holdExisting();
  } catch (error) {
    await close("it could not be opened");
    throw error;
  }
  return { member, close };
}

function reservingHostOf({ host, resources }: ContextHost): ReservingHost {
  return {
    total: resources,
    load: () => host.load.callOne().then(undefined, unlessLost(undefined)),
    reserve: (group, bundle, amounts, timeout) =>
      host.reserve.callOne(group, bundle, { ...amounts }, timeout).then(undefined, unlessLost(false)),
    unreserve: (group) => host.unreserve.callOne(group),
  };
}

/** Returns a function that replaces the error of a host that has ended, and throws others. */
function unlessLost<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (isLost(error)) return value;
    throw error;
  };
}

/** The actors that each host has. */
interface HostActors {
  readonly host: TaskHostMesh<never>;
  readonly store: TaskStoreMesh<never>;
}

/** Spawns the manager and the store of each host: in this process for this machine, and in a process of its own on other hosts. */
function startManagers(
  { hosts, procs, mesh, resources, isolation, objects }: OpenPlan,
  shared: Pick<HostOptions, "context" | "root" | "environment">,
  stops: (() => Promise<void>)[],
): HostActors[] {
  const optionsOf = (host: number, workers: TaskWorkerMesh<never>[]): HostOptions => ({
    ...shared,
    ...{ host, procs, isolation, workers, objects },
    resources: { ...resources },
  });
  const spawn = (on: ProcMesh<never>, options: HostOptions): HostActors => {
    const { context, host: index, root } = options;
    const host: TaskHostMesh<never> = on.spawn(nameOfManager(options.host, options.context), HostManager, options);
    // Without it, the manager would wait for the streams of notices, which end with it.
    stops.push(() => host.stop({ drain: 0 }));
    // It uses the record that the manager has made.
    const name = `task store ${index} of ${context}`;
    const store: TaskStoreMesh<never> = on.spawn(name, HostStore, { context, root, host: index, objects });
    stops.push(() => store.stop({ drain: 0 }));
    return { host, store };
  };
  if (mesh !== undefined) return [spawn(thisProc(), optionsOf(0, workersOn(mesh, shared.context, stops)))];
  if (hosts === undefined || isOwnHost(hosts)) return [spawn(thisProc(), optionsOf(0, []))];
  const places = hosts.spawnProcs({}, { name: "task hosts" });
  stops.push(() => places.stop());
  return Array.from({ length: places.size }, (_, rank) => spawn(oneRank(places, rank), optionsOf(rank, [])));
}

function nameOfManager(host: number, context: string): string {
  return `task host ${host} of ${context}`;
}

/** Spawns a worker on each process that the program has. */
function workersOn(mesh: ProcMesh, context: string, stops: (() => Promise<void>)[]): TaskWorkerMesh<never>[] {
  const workers = mesh.spawn(`task workers ${context}`, PoolWorker);
  stops.push(() => workers.stop());
  return Array.from({ length: workers.size }, (_, rank) => oneRank(workers, rank));
}

/** Returns whether a mesh of hosts is this machine. */
function isOwnHost(hosts: HostMesh): boolean {
  return Object.keys(hosts.extent).length === 0;
}
