/** Starts the calls of the adverbs: applies the options of the endpoint, and refuses calls that cannot be sent. */
import { currentCell, currentTurn } from "../context.js";
import { SupervisionError } from "../errors.js";
import { callAfterRestart, RestartWait } from "./call-after-restart.js";
import type { Dispatcher } from "./dispatcher.js";
import type { Future } from "./future.js";
import type { GatherCall } from "./gather-call.js";
import { pendingRestart, type RanksNeeded } from "./living-ranks.js";
import { callWithRetry } from "./retried-call.js";
import { SingleCall } from "./single-call.js";
import { StreamCall } from "./stream-call.js";

/**
 * Starts a call with the options of its endpoint: with `retry`, a call that fails is made again; with `wait`, the call is
 * sent when the ranks that it needs are alive.
 */
export function startWithOptions<T>(
  to: Dispatcher,
  args: readonly unknown[],
  needed: RanksNeeded,
  make: () => Future<T>,
): Future<T> {
  const { retry, wait } = to.options;
  const send = wait === true ? () => startAfterRestart(to, args, needed, make) : make;
  return retry === undefined ? send() : callWithRetry(to, retry, to.options.signal, send);
}

export function startAfterRestart<T>(
  to: Dispatcher,
  args: readonly unknown[],
  needed: RanksNeeded,
  make: () => Future<T>,
): Future<T> {
  const nextRestart = () => pendingRestart(to.view, currentCell(), needed);
  const { signal } = to.options;
  const first = signal?.aborted === true ? undefined : nextRestart();
  if (first === undefined) return make();
  to.checkEncodable(args);
  const { timeout, keepAlive } = to;
  return callAfterRestart({ called: to, timeout, signal, keepAlive, first, pendingRestart: nextRestart, make });
}

export function startSingleWithOptions<R>(to: Dispatcher, args: readonly unknown[]): Future<R> {
  return startWithOptions(to, args, "all", () => startSingleCall<R>(to, args, 0));
}

export function startSingleCall<R>(to: Dispatcher, args: readonly unknown[], rank: number): Future<R> {
  const call = new SingleCall<R>(to, rank);
  const { signal } = to.options;
  if (signal?.aborted === true) return call.refuse(signal.reason);
  const refused = to.callOne(args, rank, call, call);
  if (refused !== undefined) return call.refuse(refused);
  if (to.timeout > 0 || signal !== undefined) call.guard(to.timeout, signal);
  return call;
}

export function startGatherCall<T>(call: GatherCall<T>, to: Dispatcher, args: readonly unknown[]): Future<T> {
  const { signal } = to.options;
  if (signal?.aborted === true) return call.refuse(signal.reason);
  const refused = to.callAll(args, call);
  if (refused instanceof SupervisionError) {
    // The one actor of the mesh is known to be dead. `callSettled` returns this as the outcome of its rank.
    call.failed(0, refused);
    return call;
  }
  if (refused !== undefined) return call.refuse(refused);
  if (to.timeout > 0 || signal !== undefined) call.guard(to.timeout, signal);
  call.allSent();
  return call;
}

export function startStreamCall(to: Dispatcher, args: readonly unknown[]): StreamCall {
  to.check(args);
  const { signal } = to.options;
  const call = new StreamCall(to.label, to.descriptor.result, to.view);
  const first =
    to.options.wait === true && signal?.aborted !== true ? pendingRestart(to.view, currentCell(), "all") : undefined;
  if (first !== undefined) {
    to.checkEncodable(args);
    void startStreamAfterRestart(to, args, call, first);
  } else {
    const refused = signal?.aborted === true ? signal.reason : to.callAll(args, call);
    if (refused !== undefined) {
      call.abandon(refused, 0);
      return call;
    }
  }
  if (to.timeout > 0 || signal !== undefined) call.guard(to.clock, to.timeout, signal);
  return call;
}

/** Starts a stream when all ranks are alive, or when one is lost. */
async function startStreamAfterRestart(
  to: Dispatcher,
  args: readonly unknown[],
  call: StreamCall,
  first: Promise<unknown>,
): Promise<void> {
  const waiting = new RestartWait(to.keepAlive);
  call.onFinished = () => waiting.giveUp();
  currentTurn()?.addOutstanding(call);
  try {
    if (!(await waiting.until(first, () => pendingRestart(to.view, currentCell(), "all")))) return;
    call.turn?.removeOutstanding(call);
    to.check(args);
    const refused = to.callAll(args, call);
    if (refused !== undefined) call.abandon(refused, 0);
  } catch (error) {
    call.abandon(error, 0);
  }
}
