/** Calls with the option `wait`: they are sent when the actors that are being restarted are alive again. */
import type { KeepAlive } from "../../link/keep-alive.js";
import { awaitAsPromise } from "../../plain-promise.js";
import { currentTurn } from "../context.js";
import { SupervisionError } from "../errors.js";
import { type CalledEndpoint, CallFuture } from "./call-future.js";
import type { Future } from "./future.js";

/**
 * Returns a promise that settles when the ranks that a call needs, and that are being restarted, may be back. Undefined:
 * the call can be sent.
 */
export type PendingRestart = () => Promise<unknown> | undefined;

/** The wait of one call for restarts. It keeps the process alive. */
export class RestartWait {
  readonly #keepAlive: KeepAlive;
  #isOver = false;

  constructor(keepAlive: KeepAlive) {
    this.#keepAlive = keepAlive;
    keepAlive.hold();
  }

  /**
   * Waits for `first`, and then as long as there is a pending restart.
   *
   * @returns true when the call can be sent, false if the wait has been given up
   */
  async until(first: Promise<unknown>, pendingRestart: PendingRestart): Promise<boolean> {
    for (let next: Promise<unknown> | undefined = first; next !== undefined; next = pendingRestart()) {
      await next;
      if (this.#isOver) return false;
    }
    this.giveUp();
    return true;
  }

  /** Ends the wait. Idempotent. */
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

  async start(first: Promise<unknown>, pendingRestart: PendingRestart, make: () => Future<T>): Promise<void> {
    try {
      if (!(await this.#waiting.until(first, pendingRestart))) return;
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

/** The arguments of `callAfterRestart`. */
export interface CallAfterRestartOptions<T> {
  readonly called: CalledEndpoint;
  /** The time limit of the wait and the call together, in milliseconds. 0: there is no limit. */
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
  readonly keepAlive: KeepAlive;
  /** The pending restart at the time of the call. */
  readonly first: Promise<unknown>;
  readonly pendingRestart: PendingRestart;
  /** Sends the call. */
  readonly make: () => Future<T>;
}

/** Sends a call when the ranks that it needs are alive, or when it must fail. */
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
