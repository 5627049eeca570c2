/** Durations as users write them: a number of milliseconds, or text such as `"90s"`, `"15m"`, `"4h"`, `"2d"`. */
import { describeValue } from "../../shared/text/describe-value.js";

/** A number of milliseconds, or a number with a unit: `"500ms"`, `"90s"`, `"15m"`, `"4h"`, `"2d"`. */
export type Duration = number | `${number}${DurationUnit}`;

/** The units of durations. */
export type DurationUnit = "ms" | "s" | "m" | "h" | "d";

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Returns a duration in milliseconds.
 * @param option the name of the option, for the error
 * @throws {TypeError} when the duration is malformed, negative, or not finite
 */
export function durationMs(duration: unknown, option: string): number {
  const ms = typeof duration === "string" ? parseDuration(duration) : duration;
  if (typeof ms === "number" && Number.isFinite(ms) && ms >= 0) return ms;
  throw new TypeError(
    `cannot make a job: expected ${option} as milliseconds or as text such as "90s", "15m", "4h", got ${describeValue(duration)}`,
  );
}

function parseDuration(text: string): number | undefined {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * unitMs[unit!]!;
}
