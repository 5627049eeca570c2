/** Simulated time: it advances to the next timer when nothing else is to be done. */
import type { TransferClock } from "../../../runtime/sync/transfer/transfer-clock.js";

interface Timer {
  task: (() => void) | undefined;
}

export class SimulatedTime implements TransferClock {
  #now = 0;
  /** The timers by their time. */
  readonly #timers = new Map<number, Timer[]>();

  now(): number {
    return this.#now;
  }

  after(ms: number, task: () => void): { cancel(): void } {
    const timer: Timer = { task };
    const at = this.#now + ms;
    const same = this.#timers.get(at);
    if (same === undefined) this.#timers.set(at, [timer]);
    else same.push(timer);
    return {
      cancel: () => {
        timer.task = undefined;
      },
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  /** Advances the time until a promise is settled, and returns its value. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = () => {
      isSettled = true;
    };
    promise.then(settled, settled);
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (isSettled) return promise;
      const next = Math.min(...this.#timers.keys());
      if (next === Number.POSITIVE_INFINITY)
        throw new Error("nothing happens any more, and the promise is not settled");
      const due = this.#timers.get(next) ?? [];
      this.#timers.delete(next);
      this.#now = next;
      for (const timer of due) timer.task?.();
    }
  }
}
