/**
 * Notices when threads share a core, so that links transfer more bytes at a time.
 *
 * Threads with a core each work at the same time: one handles the first batch while the other writes the second, so batches should be small. Threads that share a
 * core take turns, and each turn costs a switch and cold caches, so batches should be large. On Linux the scheduler tells how long a thread has waited for a core:
 * about a third of the time if two busy threads share one, and hardly ever if each has its own. `/proc/<process>/schedstat` shows it while `npm run bench:rpc` runs.
 */

/** The number of large transfers between two looks at the clock. */
const TRANSFERS_PER_LOOK = 16;
/** The shortest and the longest time that is judged, in milliseconds. After a longer one the thread was idle in between. */
const SHORTEST_PERIOD = 100;
const LONGEST_PERIOD = 1000;
/** Shares of the time. Between them nothing changes. */
const CONTENDED_ABOVE = 0.2;
const FREE_BELOW = 0.1;

export class CoreContention {
  /** Whether the thread has to wait for its core while it transfers many bytes. */
  isContended = false;
  #transfers = 0;
  #since = Number.NEGATIVE_INFINITY;
  #waited = 0;

  /**
   * A link has transferred many bytes at once.
   * @param now the time in milliseconds
   * @param readWaiting returns how long this thread has waited for a core since it started, in milliseconds; undefined where that is not known
   */
  transferred(now: () => number, readWaiting: () => number | undefined): void {
    if (++this.#transfers % TRANSFERS_PER_LOOK !== 0) return;
    const at = now();
    const period = at - this.#since;
    if (period < SHORTEST_PERIOD) return;
    const waited = readWaiting();
    if (waited === undefined) {
      this.#since = Number.POSITIVE_INFINITY;
      return;
    }
    const share = (waited - this.#waited) / period;
    this.#since = at;
    this.#waited = waited;
    if (period > LONGEST_PERIOD) return;
    if (share > CONTENDED_ABOVE) this.isContended = true;
    else if (share < FREE_BELOW) this.isContended = false;
  }
}

/** The contention of this thread. Only transports that the operating system provides report transfers, so simulations do not depend on the load of the machine. */
export const coreContention = new CoreContention();
