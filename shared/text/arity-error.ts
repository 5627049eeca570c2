/** The error of a call with too few or too many arguments. */

/**
 * @param label what is called: `counters.increment`
 * @param min the smallest number of arguments
 * @param max the largest number of arguments
 * @param got the number of arguments of the call
 */
export function arityError(label: string, min: number, max: number, got: number): TypeError {
  const expected = min === max ? `${max}` : `${min} to ${max}`;
  return new TypeError(`cannot call ${label}: expected ${expected} argument${expected === "1" ? "" : "s"}, got ${got}`);
}
