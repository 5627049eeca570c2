/** Time limits: the time that is left of a limit, and waiting for a promise with one. */
import type { Clock } from "../link/clock.js";

/**
 * Returns a function that returns the remaining time of `ms` milliseconds from now, in whole milliseconds and at least
 * 0.
 */
export function countdown(clock: Clock, ms: number): () => number {
  const end = clock.now() + ms;
  return () => Math.max(0, Math.ceil(end - clock.now()));
}

/**
 * Waits until a promise settles, `ms` at most. Never rejects, and keeps this process alive while it waits.
 * @returns whether the promise settled in time
 */
export function settlesWithin(clock: Clock, ms: number, what: PromiseLike<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = clock.after(ms, () => resolve(false), true);
    const done = () => {
      timer.cancel();
      resolve(true);
    };
    what.then(done, done);
  });
}
