/** Checks time limits. */
import { describeValue } from "../../../shared/text/describe-value.js";

/**
 * @param what begins the text of the error
 * @returns the limit in ms; undefined: there is none
 * @throws TypeError, RangeError
 */
export function checkTimeout(timeout: unknown, what: string): number | undefined {
  if (timeout === undefined || timeout === Number.POSITIVE_INFINITY) return undefined;
  const text = `${what}: expected timeout in milliseconds, from 0, got ${describeValue(timeout)}`;
  if (typeof timeout !== "number") throw new TypeError(text);
  if (!(timeout >= 0)) throw new RangeError(text);
  return timeout;
}
