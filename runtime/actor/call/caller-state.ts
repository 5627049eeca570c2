/**
 * The state of the caller that a message carries: its position in the called mesh or slice, the time that the caller
 * still waits, its trace, and its call chain, by which deadlocks are detected.
 */
import { emptyChain, isInChain, type MessageExtension, WHOLE_MESH } from "../../link/frame/message-extension.js";
import type { Session } from "../../link/outbound/session.js";
import type { TraceContext } from "../../link/trace-context.js";
import type { AnyTurn } from "../context.js";
import { DeadlockError } from "../errors.js";
import type { MeshView } from "../reference/mesh-view.js";

/** Stands for the time limit of a message that nobody waits for. */
export const noAnswer = -1;

/**
 * Returns the time limit of a call in milliseconds: its own timeout or the time that the caller of the running handler
 * still waits, whichever is shorter. 0: there is no limit.
 *
 * @param timeout the timeout of the call in milliseconds. 0: it has none
 */
export function timeLimit(timeout: number, turn: AnyTurn | undefined): number {
  const left = turn === undefined ? 0 : turn.timeLeft;
  return left === 0 || (timeout !== 0 && timeout < left) ? timeout : left;
}

/**
 * Returns the extension of the message to one rank, or undefined if the message needs none.
 *
 * @param timeout the time limit in milliseconds, 0 for no limit, or `noAnswer`
 * @param chain the actors that wait for the answer. Default: those that wait for the calls of the turn
 */
export function messageExtension(
  view: MeshView,
  session: Session,
  rank: number,
  turn: AnyTurn | undefined,
  timeout: number,
  trace: TraceContext | undefined,
  chain?: readonly number[],
): MessageExtension | undefined {
  const isEmpty = turn === undefined && trace === undefined && view.key === undefined;
  if (view.isWholeMesh && timeout <= 0 && isEmpty) return undefined;
  const { isWholeMesh, extent, key } = view;
  return {
    rank,
    extent: isWholeMesh ? WHOLE_MESH : session.link.numberOfExtent(extent),
    timeout: timeout === noAnswer ? 0 : timeout,
    trace,
    chain: timeout === noAnswer ? emptyChain : (chain ?? turn?.chain ?? emptyChain),
    key,
  };
}

/** Returns whether the actor at `rank` waits, directly or through other actors, for the handler of `turn`. */
export function wouldDeadlock({ chain }: AnyTurn, view: MeshView, rank: number): boolean {
  return chain.length > 0 && isInChain(chain, view.target(rank).token);
}

/** @param label the called endpoint: `counters.value` */
export function deadlockError(label: string, { cell }: AnyTurn, view: MeshView, rank: number): DeadlockError {
  const actor = `${view.record.name}[${view.target(rank).rank}]`;
  return new DeadlockError(`cannot call ${label} from ${cell.name}: ${deadlockReason(actor)}`);
}

/** @param actor the actor that waits: `counters[1]` */
export function deadlockReason(actor: string): string {
  return (
    `${actor} waits for the answer of this call chain itself; ` +
    "make the endpoint that called out @concurrent, or use broadcast"
  );
}
