/** Calls that wait for actors that are being restarted, and are sent when those are there again: `with({ wait: true })`. */
import type { KeepAlive } from "../link/keep-alive.js";
import { type Called, CallFuture } from "./call-future.js";
import { currentTurn } from "./context.js";
import { SupervisionError } from "./errors.js";
import type { Future } from "./future.js";
import { awaitAsPromise } from "./plain-promise.js";

/** Returns a promise that settles when the ranks that keep a call from being sent may be back; undefined if nothing keeps it. */
export type Obstacle = () => Promise<unknown> | undefined;

/** Waits while there are obstacles, for as long as somebody wants to know. A call that waits holds the process. */
export class Waiting {
  readonly #keepAlive: KeepAlive;
  #over = false;

  constructor(keepAlive: KeepAlive) {
    this.#keepAlive = keepAlive;
    keepAlive.hold();
  }

  /** @returns whether the call can be sent now; false: it was given up */
  async until(first: Promise<unknown>, obstacle: Obstacle): Promise<boolean> {
    for (let next: Promise<unknown> | undefined = first; next !== undefined; next = obstacle()) {
      await next;
      if (this.#over) return false;
    }
    this.giveUp();
    return true;
  }

  /** Nobody waits any more. */
  giveUp(): void {
    if (this.#over) return;
    this.#over = true;
    this.#keepAlive.release();
  }
}

class Waited<T> extends CallFuture<T> {
  static {
    awaitAsPromise(Waited);
  }
  readonly #waiting: Waiting;
  #current: Future<T> | undefined;

  constructor(called: Called, waiting: Waiting) {
    super(called);
    this.#waiting = waiting;
  }

  async start(first: Promise<unknown>, obstacle: Obstacle, make: () => Future<T>): Promise<void> {
    try {
      if (!(await this.#waiting.until(first, obstacle))) return;
      this.turn?.unbind(this);
      this.#current = make();
      const value = await this.#current;
      if (!this.settled) this.fulfil(value);
    } catch (error) {
      this.#waiting.giveUp();
      if (!this.settled) this.fail(error, error instanceof SupervisionError);
    }
  }

  protected override release(): void {
    this.#waiting.giveUp();
    this.#current?.cancel();
  }
}

/** The parts of a call that waits. */
export interface WaitedCall<T> {
  readonly called: Called;
  /** Milliseconds for the waiting and the call together; 0: none. */
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
  readonly keepAlive: KeepAlive;
  /** Settles when the call may be sent. */
  readonly first: Promise<unknown>;
  readonly obstacle: Obstacle;
  readonly make: () => Future<T>;
}

/** Makes a call when nothing keeps it from being sent any more. */
export function waited<T>({ called, timeout, signal, keepAlive, first, obstacle, make }: WaitedCall<T>): Future<T> {
  const call = new Waited<T>(called, new Waiting(keepAlive));
  currentTurn()?.bind(call);
  if (timeout > 0 || signal !== undefined) call.guard(timeout, signal);
  void call.start(first, obstacle, make);
  return call;
}
