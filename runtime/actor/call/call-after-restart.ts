/** Calls that wait for actors that are being restarted, and are sent when those are there again: `with({ wait: true })`. */
import type { KeepAlive } from "../../link/keep-alive.js";
import { awaitAsPromise } from "../../plain-promise.js";
import { currentTurn } from "../context.js";
import { SupervisionError } from "../errors.js";
import { type CalledEndpoint, CallFuture } from "./call-future.js";
import type { Future } from "./future.js";

/** Returns a promise that settles when the ranks that keep a call from being sent may be back; undefined if nothing keeps it. */
export type PendingRestart = () => Promise<unknown> | undefined;

/** Waits while there are obstacles, for as long as somebody wants to know. A call that waits holds the process. */
export class RestartWait {
  readonly #keepAlive: KeepAlive;
  #isOver = false;

  constructor(keepAlive: KeepAlive) {
    this.#keepAlive = keepAlive;
    keepAlive.hold();
  }

  /** @returns whether the call can be sent now; false: it was given up */
  async until(first: Promise<unknown>, obstacle: PendingRestart): Promise<boolean> {
    for (let next: Promise<unknown> | undefined = first; next !== undefined; next = obstacle()) {
      await next;
      if (this.#isOver) return false;
    }
    this.giveUp();
    return true;
  }

  /** Nobody waits any more. */
  giveUp(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#keepAlive.release();
  }
}

class CallAfterRestart<T> extends CallFuture<T> {
  static {
    awaitAsPromise(CallAfterRestart);
  }
  readonly #waiting: RestartWait;
  #current: Future<T> | undefined;

  constructor(called: CalledEndpoint, waiting: RestartWait) {
    super(called);
    this.#waiting = waiting;
  }

  async start(first: Promise<unknown>, obstacle: PendingRestart, make: () => Future<T>): Promise<void> {
    try {
      if (!(await this.#waiting.until(first, obstacle))) return;
      this.turn?.removeOutstanding(this);
      this.#current = make();
      const value = await this.#current;
      if (!this.settled) this.fulfil(value);
    } catch (error) {
      this.#waiting.giveUp();
      if (!this.settled) this.rejectWith(error, error instanceof SupervisionError);
    }
  }

  protected override onAbandoned(): void {
    this.#waiting.giveUp();
    this.#current?.cancel();
  }
}

/** The parts of a call that waits. */
export interface CallAfterRestartOptions<T> {
  readonly called: CalledEndpoint;
  /** Milliseconds for the waiting and the call together; 0: none. */
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
  readonly keepAlive: KeepAlive;
  /** Settles when the call may be sent. */
  readonly first: Promise<unknown>;
  readonly pendingRestart: PendingRestart;
  readonly make: () => Future<T>;
}

/** Makes a call when nothing keeps it from being sent any more. */
export function callAfterRestart<T>({
  called,
  timeout,
  signal,
  keepAlive,
  first,
  pendingRestart,
  make,
}: CallAfterRestartOptions<T>): Future<T> {
  const call = new CallAfterRestart<T>(called, new RestartWait(keepAlive));
  currentTurn()?.addOutstanding(call);
  if (timeout > 0 || signal !== undefined) call.guard(timeout, signal);
  void call.start(first, pendingRestart, make);
  return call;
}
