/** What the actors of a host need of its manager: resources, the start of processes, and limits of memory. */
import type { HostOptions } from "../../../generated/tasks.js";
import type { Isolation } from "../../index.js";
import { mergeEnvironments, prepareEnvironment } from "../environment/index.js";
import type { Allocations } from "../host/allocations.js";
import { placeOf } from "../host/bundles.js";
import type { MemoryWatch } from "../host/memory-watch.js";
import { amountsOf, checkResources, formatBytes } from "../host/resources.js";
import { visibleGpus } from "../host/spawned-worker.js";
import { ActorProcesses } from "./actor-processes.js";

/** The time in ms between two looks for the process that a restart has started. */
const restartInterval = 200;

export interface HostParts {
  readonly options: HostOptions;
  readonly allocations: Allocations;
  readonly memory: MemoryWatch;
  /** Runs code that sends messages, as code of the manager of the host. */
  readonly inTurn: <T>(body: () => T) => T;
}

/** Returns the actors of a host, of which there are none yet. */
export function actorsOfHost({ options, allocations, memory, inTurn }: HostParts): ActorProcesses {
  const { host, root, environment: own } = options;
  const isolation = options.isolation as Isolation;
  const hasGpus = (allocations.total.get("gpus") ?? 0) > 0;
  const actors = new ActorProcesses({
    isolation,
    inTurn,
    async acquire(order, signal) {
      const failed = `cannot create actor ${order.label} on host ${host}`;
      const amounts = amountsOf(checkResources(order.resources, failed));
      const kind = `actor ${order.id}`;
      const { share, release } = await allocations.request(
        { failed, kind, amounts, place: placeOf(order), usesWorker: false },
        signal,
      );
      return { gpus: [...share.gpus], release };
    },
    async processOptions(given, gpus) {
      if (isolation === "inline") return {};
      const environment = mergeEnvironments(own, given);
      return { env: { ...(await prepareEnvironment(environment)), ...visibleGpus(hasGpus ? gpus : undefined) } };
    },
    limitMemory({ id, resources, restarts }, procs) {
      const limit = resources["memory"];
      if (limit === undefined) return () => {};
      let watched: number | undefined;
      const exceeded = (used: number) => {
        const use = `it used ${formatBytes(used)} of memory, more than its limit of ${formatBytes(limit)}`;
        inTurn(() => actors.kill(id, `process ${watched} was killed: ${use}`));
      };
      const watch = () => {
        const pid = procs.backends[0]?.pid;
        if (pid === watched) return;
        if (watched !== undefined) memory.limit(watched, undefined, exceeded);
        if (pid !== undefined) memory.limit(pid, limit, exceeded);
        watched = pid;
      };
      watch();
      // A restart replaces the process.
      const timer = restarts === 0 ? undefined : setInterval(watch, restartInterval).unref();
      return () => {
        clearInterval(timer);
        if (watched !== undefined) memory.limit(watched, undefined, exceeded);
      };
    },
    ended: (id, reason) => void inTurn(() => root.actorEnded.broadcast(id, reason)),
  });
  return actors;
}
