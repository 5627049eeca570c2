/** Limits the time of a wait. */
import type { Clock } from "../../link/clock.js";

/**
 * Waits for `done`, for `ms` milliseconds at most. Rejects if `done` rejects in time, and otherwise resolves.
 */
export function waitAtMost(clock: Clock, ms: number, done: PromiseLike<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => resolve(undefined));
    const settled = (): void => timer.cancel();
    done.then(resolve, reject);
    done.then(settled, settled);
  });
}
