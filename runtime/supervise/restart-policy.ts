/**
 * Restart policies: whether what has failed is made again, when, and when that is given up. Keeps the account of a mesh,
 * rank by rank. How something is made again is no concern of this file.
 */
import { describeValue } from "../../shared/text/describe-value.js";
import { checkOptionNames } from "../shape/index.js";
import type { PastFailure } from "./mesh-failure.js";

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
const MAX_BACKOFF_MS = 30_000;

/** @throws TypeError, RangeError for options that make no sense */
export function planRestart(options: RestartOptions, what: string): RestartPlan {
  if (typeof options !== "object" || options === null) throw typeError(what, "restart as an object", options);
  checkOptionNames(`cannot ${what}: invalid restart`, options, ["policy", "maxRestarts", "within", "backoff"]);
  const { policy, maxRestarts = 3, within = 60_000, backoff = 100 } = options;
  if (!policies.includes(policy)) throw typeError(what, 'the policy "never", "on-failure" or "always"', policy);
  if (maxRestarts !== Number.POSITIVE_INFINITY && (!Number.isInteger(maxRestarts) || maxRestarts < 0)) {
    throw rangeError(what, "maxRestarts of at least 0", maxRestarts);
  }
  if (!(typeof within === "number" && within > 0))
    throw rangeError(what, "within in milliseconds, more than 0", within);
  if (!(typeof backoff === "number" && backoff >= 0 && backoff <= MAX_BACKOFF_MS)) {
    throw rangeError(what, `backoff in milliseconds, from 0 to ${MAX_BACKOFF_MS}`, backoff);
  }
  return { policy, maxRestarts, within, backoff };
}

function typeError(what: string, expected: string, got: unknown): TypeError {
  return new TypeError(`cannot ${what}: expected ${expected}, got ${describeValue(got)}`);
}

function rangeError(what: string, expected: string, got: unknown): RangeError {
  return new RangeError(`cannot ${what}: expected ${expected}, got ${describeValue(got)}`);
}

interface RestartRecord {
  /** By the clock that is asked. */
  readonly at: number;
  readonly failure: PastFailure;
}

/** What of a rank's past a failure tells. */
const HISTORY_LIMIT = 16;

/** The restarts of the ranks of one mesh. */
export class RestartTracker {
  readonly #plan: RestartPlan;
  readonly #restartsByRank = new Map<number, RestartRecord[]>();

  constructor(plan: RestartPlan) {
    this.#plan = plan;
  }

  /**
   * A rank has failed.
   * @param now milliseconds of a clock that never goes back
   * @param clean it has ended in order, when nobody had asked it to
   * @returns in how many milliseconds it is to be made again; undefined: it is not
   */
  nextDelay(rank: number, failure: PastFailure, now: number, clean: boolean): number | undefined {
    const { policy, maxRestarts, within, backoff } = this.#plan;
    if (policy === "never" || (clean && policy === "on-failure")) return undefined;
    const recent = (this.#restartsByRank.get(rank) ?? []).filter(({ at }) => now - at < within);
    this.#restartsByRank.set(rank, recent);
    if (recent.length >= maxRestarts) return undefined;
    // Where restarts are not limited, they need not all be remembered for the back-off to be the longest.
    if (maxRestarts === Number.POSITIVE_INFINITY && recent.length > HISTORY_LIMIT) recent.shift();
    const delay = Math.min(backoff * 2 ** recent.length, MAX_BACKOFF_MS);
    recent.push({ at: now, failure });
    return delay;
  }

  /** The failures after which a rank was made again, as far as they count; the oldest first. */
  history(rank: number): readonly PastFailure[] {
    return (this.#restartsByRank.get(rank) ?? []).slice(-HISTORY_LIMIT).map(({ failure }) => failure);
  }
}
