/**
 * Restart policies: whether what has failed is made again, when, and when that is given up. Keeps the account of a mesh,
 * rank by rank. How something is made again is no concern of this file.
 */
import { checkOptionNames, formatValue } from "../shape/index.js";
import type { PastFailure } from "./failure.js";

/** A restart policy: whether ranks that fail are made again in place, at the same address and with fresh state. */
export interface RestartOptions {
  /**
   * Which failures lead to a restart.
   *
   * - `"never"`: none; the owner receives the failure.
   * - `"on-failure"`: every failure, except a process that has ended with exit code 0.
   * - `"always"`: every failure, also a process that has ended with exit code 0.
   */
  readonly policy: "never" | "on-failure" | "always";
  /**
   * The number of restarts of a rank within the time `within`, an integer from 0, or Infinity. The owner receives the
   * next failure. Default: 3.
   */
  readonly maxRestarts?: number;
  /** The time in which restarts are counted, in milliseconds, more than 0. Default: 60,000. */
  readonly within?: number;
  /**
   * The pause before the first restart of a rank, in milliseconds, from 0 to 30,000. It doubles with each further
   * restart within the time `within`, up to 30,000. Default: 100.
   */
  readonly backoff?: number;
}

/** Options with everything decided. */
export type RestartPlan = Required<RestartOptions>;

const policies = ["never", "on-failure", "always"];

/** No restart is put off for longer, in milliseconds. */
const LONGEST_BACKOFF = 30_000;

/** @throws TypeError, RangeError for options that make no sense */
export function planRestart(options: RestartOptions, what: string): RestartPlan {
  if (typeof options !== "object" || options === null) throw wrong(what, "restart as an object", options);
  checkOptionNames(`cannot ${what}: invalid restart`, options, ["policy", "maxRestarts", "within", "backoff"]);
  const { policy, maxRestarts = 3, within = 60_000, backoff = 100 } = options;
  if (!policies.includes(policy)) throw wrong(what, 'the policy "never", "on-failure" or "always"', policy);
  if (maxRestarts !== Number.POSITIVE_INFINITY && (!Number.isInteger(maxRestarts) || maxRestarts < 0)) {
    throw outOf(what, "maxRestarts of at least 0", maxRestarts);
  }
  if (!(typeof within === "number" && within > 0)) throw outOf(what, "within in milliseconds, more than 0", within);
  if (!(typeof backoff === "number" && backoff >= 0 && backoff <= LONGEST_BACKOFF)) {
    throw outOf(what, `backoff in milliseconds, from 0 to ${LONGEST_BACKOFF}`, backoff);
  }
  return { policy, maxRestarts, within, backoff };
}

function wrong(what: string, expected: string, got: unknown): TypeError {
  return new TypeError(`cannot ${what}: expected ${expected}, got ${formatValue(got)}`);
}

function outOf(what: string, expected: string, got: unknown): RangeError {
  return new RangeError(`cannot ${what}: expected ${expected}, got ${formatValue(got)}`);
}

interface Restart {
  /** By the clock that is asked. */
  readonly at: number;
  readonly failure: PastFailure;
}

/** What of a rank's past a failure tells. */
const REMEMBERED = 16;

/** The restarts of the ranks of one mesh. */
export class Restarts {
  readonly #plan: RestartPlan;
  readonly #ranks = new Map<number, Restart[]>();

  constructor(plan: RestartPlan) {
    this.#plan = plan;
  }

  /**
   * A rank has failed.
   * @param now milliseconds of a clock that never goes back
   * @param clean it has ended in order, when nobody had asked it to
   * @returns in how many milliseconds it is to be made again; undefined: it is not
   */
  after(rank: number, failure: PastFailure, now: number, clean: boolean): number | undefined {
    const { policy, maxRestarts, within, backoff } = this.#plan;
    if (policy === "never" || (clean && policy === "on-failure")) return undefined;
    const recent = (this.#ranks.get(rank) ?? []).filter(({ at }) => now - at < within);
    this.#ranks.set(rank, recent);
    if (recent.length >= maxRestarts) return undefined;
    // Where restarts are not limited, they need not all be remembered for the back-off to be the longest.
    if (maxRestarts === Number.POSITIVE_INFINITY && recent.length > REMEMBERED) recent.shift();
    const delay = Math.min(backoff * 2 ** recent.length, LONGEST_BACKOFF);
    recent.push({ at: now, failure });
    return delay;
  }

  /** The failures after which a rank was made again, as far as they count; the oldest first. */
  history(rank: number): readonly PastFailure[] {
    return (this.#ranks.get(rank) ?? []).slice(-REMEMBERED).map(({ failure }) => failure);
  }
}
