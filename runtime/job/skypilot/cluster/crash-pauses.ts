/**
 * The pauses before a cluster is launched again. They grow while its hosts end by themselves again and again, such as those of a program that uses
 * too much memory. Kubernetes does the same for its pods. Hosts on machines that were taken away are replaced without such a pause.
 */

/** The first pause in milliseconds. Each further one is twice as long. */
const FIRST_MS = 4000;
const LONGEST_MS = 300_000;
/** Hosts that have run for this number of milliseconds have not crashed because of their start. */
const STEADY_MS = 600_000;

export class CrashPauses {
  readonly #now: () => number;
  #launchedAt: number | undefined;
  #crashes = 0;

  /** @param now returns a time in milliseconds that never goes back */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Tells that the cluster was launched again. */
  launched(): void {
    this.#launchedAt = this.#now();
  }

  /**
   * Returns the pause in milliseconds before the next launch.
   * @param isMachineLost whether hosts were lost with their machines
   */
  next(isMachineLost: boolean): number {
    const isSoon = this.#launchedAt !== undefined && this.#now() - this.#launchedAt < STEADY_MS;
    this.#crashes = isSoon && !isMachineLost ? this.#crashes + 1 : 0;
    return this.#crashes === 0 ? 0 : Math.min(FIRST_MS * 2 ** (this.#crashes - 1), LONGEST_MS);
  }
}
