/**
 * Whether the procs of a mesh have started: procs that were started together have one start, which is settled when all of
 * them have been configured, or one of them is lost. A mesh has a first start, and one for each time that procs join it.
 */
import type { ProcConfig, ProcInfo } from "../../../generated/proc-agent.js";
import type { Settled } from "../../actor/call/gather-call.js";
import { ActorError } from "../../actor/errors.js";
import { Deferred } from "../../link/deferred.js";
import { failureCauseOf } from "../../supervise/failure-cause.js";
import type { ProcAgents } from "../proc-agents.js";
import type { ChildProc } from "./child-proc.js";

/** Procs that were started together. */
export interface ProcStart {
  /** The numbers of the procs. */
  readonly ranks: ReadonlySet<number>;
  /** Those that have not been configured yet. */
  readonly missing: Set<number>;
  readonly ready: Deferred<void>;
}

export class ProcStarts {
  readonly #starts = new Set<ProcStart>();
  readonly #belongs: (child: ChildProc) => boolean;

  /** @param belongs returns whether a proc is still the one of its rank, and the rank has not left the mesh */
  constructor(belongs: (child: ChildProc) => boolean) {
    this.#belongs = belongs;
  }

  /** Adds a start. Its promise `ready` may be awaited before `await` is called. */
  add(ranks: Iterable<number>): ProcStart {
    const numbers = [...ranks];
    const start = { ranks: new Set(numbers), missing: new Set(numbers), ready: new Deferred<void>() };
    this.#starts.add(start);
    return start;
  }

  /** Drops a start that has been settled, and that was not the first. */
  remove(start: ProcStart): void {
    this.#starts.delete(start);
  }

  /** Resolves a start when its procs have answered to their configurations. Never rejects. */
  async await(
    start: ProcStart,
    children: readonly ChildProc[],
    asked: PromiseLike<readonly Settled<ProcInfo>[]>,
  ): Promise<void> {
    let rank = 0;
    for (const answer of await asked) {
      const child = children[rank++]!;
      // A start does not wait for procs that have left the mesh in the meantime.
      if (answer.status === "fulfilled" || !this.#belongs(child)) start.missing.delete(child.rank);
      // If the process has ended, its exit is reported instead.
      else if (answer.reason instanceof ActorError)
        child.discard({ kind: "spawn", cause: bootFailureCause(answer.reason) });
    }
    if (start.missing.size === 0) start.ready.resolve();
  }

  /** Notes that a proc has been configured that replaces one which had ended. */
  rankRestarted(rank: number): void {
    for (const { missing, ready } of this.#starts) {
      if (missing.delete(rank) && missing.size === 0) ready.resolve();
    }
  }

  /** Rejects the starts of a proc that is lost. */
  rankLost(rank: number, error: Error): void {
    for (const { ranks, ready } of this.#starts) if (ranks.has(rank)) ready.reject(error);
  }

  /** Rejects all starts, because the mesh was stopped. */
  rejectAll(error: Error): void {
    for (const { ready } of this.#starts) ready.reject(error);
  }
}

/** Sends the configurations of procs, in rank order, as one cast if all are equal. */
export async function configureAll(
  agents: ProcAgents,
  configs: readonly ProcConfig[],
): Promise<readonly Settled<ProcInfo>[]> {
  const [first, ...others] = configs;
  if (first === undefined) return [];
  const same = others.every(({ registry: place, loader }) => place === first.registry && loader === first.loader);
  if (same) return [...(await agents.all().configure.callSettled(first)).values()];
  const tellOne = async (config: ProcConfig, rank: number) => {
    const [answer] = [...(await agents.atRank(rank).configure.callSettled(config)).values()];
    return answer!;
  };
  return Promise.all(configs.map(tellOne));
}

/** Returns the error of the process itself, without the failed call to its agent. */
function bootFailureCause(error: ActorError): ReturnType<typeof failureCauseOf> {
  const { remoteName, message, remoteStack, cause } = error;
  const stack = remoteStack === undefined ? {} : { stack: remoteStack };
  return { name: remoteName, message, ...stack, ...(cause instanceof Error ? { cause: failureCauseOf(cause) } : {}) };
}
