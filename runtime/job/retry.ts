/** Asks an API server again while it is away, which it is during its own upgrades. */
import { setTimeout as pause } from "node:timers/promises";

/** An error that says whether the same request may succeed later. */
export interface RetryableError extends Error {
  readonly isTransient: boolean;
  /** The time in ms after which the API server wants to be asked again; absent if it has not said so. */
  readonly retryAfter?: number;
}

/** The pauses in ms: each is twice the one before, and a part of it is random, so that many programs do not ask together. */
const firstPauseMs = 250;
const longestPauseMs = 10_000;

/** The longest time in ms for which the API server can ask for a pause. A longer one is a mistake of something in between. */
const longestWantedMs = 60_000;

/** Time in ms for which an API server that is away is asked again, where nobody says otherwise. */
export const awayLimit = 60_000;

/** Time and chance, which tests give. */
export interface RetryWorld {
  /** Returns ms of a monotonic clock. */
  now(): number;
  /** Returns a number that is uniform in [0, 1). */
  random(): number;
  /** @param isBackground whether the program may end meanwhile */
  pause(ms: number, signal: AbortSignal | undefined, isBackground?: boolean): Promise<void>;
}

export const systemWorld: RetryWorld = {
  now: () => performance.now(),
  random: Math.random,
  pause: (ms, signal, isBackground = false) =>
    pause(ms, undefined, { ref: !isBackground, ...(signal === undefined ? {} : { signal }) }),
};

/** Returns the pause in ms before an attempt. @param failures the number of attempts that have failed, at least 1 */
export function pauseAfter(failures: number, { random }: Pick<RetryWorld, "random">, wanted = 0): number {
  const whole = Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1));
  return Math.max(Math.min(wanted, longestWantedMs), whole * (0.5 + random() / 2));
}

export interface RetryOptions {
  /** The time in ms after which the last error is thrown. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether the request can be sent again after a transient error, which may hide that it was received. Default: always. */
  readonly isRepeatable?: (error: RetryableError) => boolean;
  /** Told of each failure that is followed by another attempt. */
  readonly onAway?: (error: RetryableError) => void;
  readonly world?: RetryWorld;
}

/**
 * Returns what a request returns, after as many attempts as it takes.
 * @throws the error of the last attempt, or at once one after which the request is not sent again
 */
export async function retrying<T>(
  ask: () => Promise<T>,
  { limit, signal, onAway, isRepeatable = () => true, world = systemWorld }: RetryOptions,
): Promise<T> {
  const end = world.now() + limit;
  for (let failures = 1; ; failures++) {
    try {
      return await ask();
    } catch (error) {
      if (!isRetryable(error) || !isRepeatable(error)) throw error;
      const wait = pauseAfter(failures, world, error.retryAfter);
      if (world.now() + wait > end) throw error;
      onAway?.(error);
      await world.pause(wait, signal);
    }
  }
}

function isRetryable(error: unknown): error is RetryableError {
  return error instanceof Error && (error as Partial<RetryableError>).isTransient === true;
}
