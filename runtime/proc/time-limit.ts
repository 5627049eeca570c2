import type { Clock } from "../link/clock.js";

/** Returns a function that tells how many whole milliseconds of `ms`, which begin now, are left: at least 0. */
export function countdown(clock: Clock, ms: number): () => number {
  const end = clock.now() + ms;
  return () => Math.max(0, Math.ceil(end - clock.now()));
}

/**
 * Waits for something, but not longer than `ms`. Never rejects, and keeps this process alive meanwhile.
 * @returns whether it has come to pass
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
