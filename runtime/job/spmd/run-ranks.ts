/** Runs all processes of an SPMD run once: they start together, and end together when one of them fails. */
import type { CommandEvent } from "../../../generated/host-agent.js";
import { errorMessage } from "../../../shared/text/error-message.js";
import type { SpmdRank } from "./rank-environment.js";
import type { SpmdFailure } from "./spmd-options.js";

/** The process of a rank that was started. */
export interface StartedRank {
  readonly events: AsyncIterable<CommandEvent>;
  /** Ends the process. Its events go on until it has ended. */
  end(): void;
}

/** Why the processes were ended, and whether starting them again can help. */
export interface RanksFailure extends SpmdFailure {
  readonly kind: "exit" | "start" | "lost";
}

export interface RanksOrder {
  readonly ranks: readonly SpmdRank[];
  start(rank: SpmdRank): StartedRank;
  /** Gets what a process prints. */
  print(rank: SpmdRank, event: CommandEvent): void;
  /** The name of a host in failures. */
  nameOf(host: number): string;
  /** Ends all processes when it is aborted. */
  readonly signal: AbortSignal;
}

/** @returns the failure of the rank that failed first, when all processes have ended; undefined if none has failed */
export async function runRanks(order: RanksOrder): Promise<RanksFailure | undefined> {
  const { ranks, signal } = order;
  const started = ranks.map((rank) => order.start(rank));
  let failure: RanksFailure | undefined;
  const endAll = () => {
    for (const each of started) each.end();
  };
  if (signal.aborted) endAll();
  signal.addEventListener("abort", endAll, { once: true });
  const ended = ranks.map(async (rank, index) => {
    const found = await readRank(order, rank, started[index]!);
    if (found === undefined || failure !== undefined) return;
    failure = found;
    endAll();
  });
  await Promise.all(ended);
  signal.removeEventListener("abort", endAll);
  return failure;
}

async function readRank(order: RanksOrder, rank: SpmdRank, { events }: StartedRank): Promise<RanksFailure | undefined> {
  const host = order.nameOf(rank.host);
  const place = `rank ${rank.rank} on ${host}`;
  try {
    for await (const event of events) {
      order.print(rank, event);
      const { exitCode, error } = event;
      if (exitCode === undefined) continue;
      if (exitCode === 0) return undefined;
      const known = { rank: rank.rank, host, exitCode };
      if (error !== undefined) return { ...known, kind: "start", reason: `${place} could not be started: ${error}` };
      return { ...known, kind: "exit", reason: `${place} ended with exit code ${exitCode}` };
    }
    throw new Error("its host has ended");
  } catch (error) {
    return { rank: rank.rank, host, kind: "lost", reason: `${place} is lost: ${errorMessage(error)}` };
  }
}
