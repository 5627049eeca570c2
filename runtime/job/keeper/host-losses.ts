/**
 * The losses of one host that is replaced: when it is started again, and when that is given up. A host that is not up in time after a
 * loss, or is lost again and again soon after it was up, has ended for good.
 */

/** The pause in ms before the first start after a loss. Each further one is twice as long while losses follow each other. */
const firstPause = 250;
const longestPause = 30_000;

/** The time in ms for which a host must be up so that earlier losses do not count any more. */
const stableMs = 60_000;

/** The number of losses, each within `stableMs` of a start, that are answered with another start. */
const maxQuickLosses = 5;

export class HostLosses {
  readonly #limit: number;
  /** The losses since the host was up for `stableMs`. */
  #quickLosses = 0;
  /** The failed starts since the last loss. */
  #failedStarts = 0;
  #upSince = 0;
  #start: NodeJS.Timeout | undefined;
  #end: NodeJS.Timeout | undefined;
  /** Whether the host is not started again any more. */
  isStopped = false;

  /** @param limit the time in ms in which the host must be up again after a loss */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Why a host that is not up in time has ended. */
  get lateness(): string {
    return `it did not come back within ${this.#limit} ms (hostTimeout)`;
  }

  /** Notes that the host is up. */
  up(): void {
    clearTimeout(this.#end);
    this.#failedStarts = 0;
    this.#upSince = performance.now();
  }

  /**
   * Handles the end of the host.
   * @param wasUp whether it was up; otherwise a start has failed
   * @param start called after a pause, to start it again
   * @param end called if it is not up in time
   * @returns undefined if it is started again, otherwise why not
   */
  lost(wasUp: boolean, start: () => void, end: () => void): string | undefined {
    if (!wasUp) this.#failedStarts++;
    else {
      const isQuick = performance.now() - this.#upSince < stableMs;
      this.#quickLosses = isQuick ? this.#quickLosses + 1 : 0;
      if (this.#quickLosses > maxQuickLosses) {
        return `it was lost ${this.#quickLosses} times, each within ${stableMs} ms of a start, and is not started again`;
      }
      this.#end = setTimeout(end, Math.min(this.#limit, 0x7fff_ffff));
    }
    const attempts = Math.max(this.#quickLosses - 1, 0) + this.#failedStarts;
    this.#start = setTimeout(start, Math.min(firstPause * 2 ** attempts, longestPause));
    return undefined;
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.#start);
    clearTimeout(this.#end);
  }
}
