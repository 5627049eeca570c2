/** What the actors of a host need of its manager: resources, the start of processes, and limits of memory. */
import type { ActorOrder, HostOptions } from "../../../generated/tasks.js";
import { type Isolation, thisHost } from "../../index.js";
import { mergeEnvironments, prepareEnvironment } from "../environment/index.js";
import type { Allocations } from "../host/allocations.js";
import { placeOf } from "../host/bundles.js";
import { environmentOf, killMarked, markPrefix, newMark } from "../host/left-processes.js";
import type { MemoryGuard } from "../host/memory-guard.js";
import { amountsOf, checkResources, formatBytes } from "../host/resources.js";
import { visibleGpus } from "../host/spawned-worker.js";
import { type ProcessGuard, processGuard } from "../kernel.js";
import { ActorProcesses, type HeldResources } from "./actor-processes.js";

export interface HostParts {
  readonly options: HostOptions;
  readonly allocations: Allocations;
  /** Limits the memory of processes; undefined: the host has no memory to assign. */
  readonly memory: MemoryGuard | undefined;
  /** Runs code that sends messages, as code of the manager of the host. */
  readonly inTurn: <T>(body: () => T) => T;
}

/**
 * Waits until the resources of an actor are free on a host, and takes them.
 *
 * @throws ResourceUnavailableError if they never are; also rethrows the reason of the signal
 */
export async function acquireFor(
  { options, allocations }: Pick<HostParts, "options" | "allocations">,
  order: ActorOrder,
  signal: AbortSignal,
): Promise<HeldResources> {
  const failed = `cannot create actor ${order.label} on host ${options.host}`;
  const amounts = amountsOf(checkResources(order.resources, failed));
  const need = { amounts, place: placeOf(order), usesWorker: false };
  const { share, release } = await allocations.request({ failed, kind: `actor ${order.id}`, ...need }, signal);
  return { gpus: [...share.gpus], release };
}

/** Returns the environment variables of a process of an actor, when all that it needs is on the host. */
export async function environmentFor(
  { options, allocations }: Pick<HostParts, "options" | "allocations">,
  order: ActorOrder,
  gpus: readonly number[],
): Promise<Record<string, string>> {
  const hasGpus = (allocations.total.get("gpus") ?? 0) > 0;
  const environment = mergeEnvironments(options.environment, order.environment);
  return { ...(await prepareEnvironment(environment)), ...visibleGpus(hasGpus ? gpus : undefined) };
}

/** Returns the actors of a host, of which there are none yet. */
export function actorsOfHost(parts: HostParts): ActorProcesses {
  const { options, inTurn } = parts;
  const { root } = options;
  const isolation = options.isolation as Isolation;
  const actors = new ActorProcesses({
    inTurn,
    acquire: (order, signal) => acquireFor(parts, order, signal),
    async prepare(order, gpus) {
      if (isolation === "inline") return (shared) => thisHost().spawnProcs({}, { ...shared, isolation });
      const env = await environmentFor(parts, order, gpus);
      if (isolation === "thread") return (shared) => thisHost().spawnProcs({}, { ...shared, isolation, env });
      return (shared) => {
        const mark = newMark();
        const guard = { ...guardOf(parts, order, mark), mark: markPrefix };
        const marked = { ...env, ...environmentOf(mark) };
        return thisHost().spawnProcs({}, { ...shared, isolation, env: marked, [processGuard]: guard });
      };
    },
    ended: (id, reason) => void inTurn(() => root.actorEnded.broadcast(id, reason)),
  });
  return actors;
}

/** Returns what limits the memory of the processes of an actor, if it has a limit, and ends what they leave behind. */
function guardOf({ memory }: Pick<HostParts, "memory">, { resources }: ActorOrder, mark: string): ProcessGuard {
  const limit = resources["memory"];
  if (limit === undefined || memory === undefined) {
    return {
      started: () => {},
      ended() {
        killMarked(mark);
        return undefined;
      },
    };
  }
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
    ended(pid) {
      killMarked(mark);
      return memory.ended(pid) ? `it needed more memory than ${given}` : why;
    },
  };
}

/** Kills a process and what it has started. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended, which is reported next.
  }
}
