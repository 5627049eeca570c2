/** Gives the actors of a host what they need of its manager: resources, the start of processes, and limits of memory. */
import type { ActorOrder, HostOptions } from "../../../generated/tasks.js";
import { formatBytes } from "../../../shared/text/format-bytes.js";
import { type Isolation, thisHost } from "../../index.js";
import { mergeEnvironments, prepareEnvironment } from "../environment/index.js";
import type { Allocations } from "../host/allocations.js";
import { placeOf } from "../host/bundles.js";
import { environmentOf, killMarked, markPrefix, newMark } from "../host/left-processes.js";
import type { MemoryGuard } from "../host/memory-guard.js";
import { amountsOf, checkResources } from "../host/resources.js";
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
      return (shared) =>
        thisHost().spawnProcs({}, { ...shared, isolation, env, [processGuard]: guardOf(parts, order) });
    },
    ended: (id, reason) => void inTurn(() => root.actorEnded.broadcast(id, reason)),
  });
  return actors;
}

/**
 * Returns what ends what the processes of an actor leave behind, and limits their memory if the actor has a limit. There can be two
 * processes at a time, of which one takes the place of the other.
 */
function guardOf({ memory }: Pick<HostParts, "memory">, { resources }: ActorOrder): ProcessGuard {
  const limit = resources["memory"];
  const limited = limit === undefined || memory === undefined ? undefined : limitedMemory(memory, limit);
  const marks = new Map<number, string>();
  let nextMark = "";
  return {
    groups: limited?.groups,
    mark: markPrefix,
    environment() {
      nextMark = newMark();
      return environmentOf(nextMark);
    },
    started(pid) {
      marks.set(pid, nextMark);
      limited?.started(pid);
    },
    ended(pid) {
      killMarked(marks.get(pid)!);
      marks.delete(pid);
      return limited?.ended(pid);
    },
  };
}

function limitedMemory(memory: MemoryGuard, limit: number): ProcessGuard {
  const given = `its limit of ${formatBytes(limit)}`;
  const reasons = new Map<number, string>();
  return {
    groups: memory.groups,
    started(pid) {
      memory.started(pid);
      memory.limit(pid, limit, (used) => {
        if (used !== undefined) reasons.set(pid, `it used ${formatBytes(used)} of memory, more than ${given}`);
        killGroup(pid);
      });
    },
    ended(pid) {
      const why = reasons.get(pid);
      reasons.delete(pid);
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
