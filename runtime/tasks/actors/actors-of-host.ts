/** What the actors of a host need of its manager: resources, the start of processes, and limits of memory. */
import type { HostOptions } from "../../../generated/tasks.js";
import type { Isolation } from "../../index.js";
import { mergeEnvironments, prepareEnvironment } from "../environment/index.js";
import type { Allocations } from "../host/allocations.js";
import { placeOf } from "../host/bundles.js";
import type { MemoryGuard } from "../host/memory-guard.js";
import { amountsOf, checkResources, formatBytes } from "../host/resources.js";
import { visibleGpus } from "../host/spawned-worker.js";
import { ActorProcesses } from "./actor-processes.js";

export interface HostParts {
  readonly options: HostOptions;
  readonly allocations: Allocations;
  /** Limits the memory of processes; undefined: the host has no memory to assign. */
  readonly memory: MemoryGuard | undefined;
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
    guard({ resources }) {
      const limit = resources["memory"];
      if (limit === undefined || memory === undefined) return undefined;
      const given = `its limit of ${formatBytes(limit)}`;
      let why: string | undefined;
      return {
        groups: memory.groups,
        started(pid) {
          why = undefined;
          memory.started(pid);
          memory.limit(pid, limit, (used) => {
            if (used !== undefined) why = `it used ${formatBytes(used)} of memory, more than ${given}`;
            killGroup(pid);
          });
        },
        ended: (pid) => (memory.ended(pid) ? `it needed more memory than ${given}` : why),
      };
    },
    ended: (id, reason) => void inTurn(() => root.actorEnded.broadcast(id, reason)),
  });
  return actors;
}

/** Kills a process and what it has started. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended, which is reported next.
  }
}
