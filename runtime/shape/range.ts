/**
 * Ranges of indices for `slice`: `range(0, 4)` is 0, 1, 2, 3. A range belongs to no mesh; `slice` checks whether the indices
 * exist.
 */

import { describeValue } from "../../shared/text/describe-value.js";

/** A range of indices of a dimension. {@link range} makes ranges. */
export class Range {
  /** The first index, from 0. */
  readonly start: number;
  /** The index that ends the range; the range does not include it. */
  readonly stop: number;
  /** The distance of two indices, at least 1. */
  readonly step: number;
  readonly #range = true;

  /**
   * Called by {@link range}, which checks the numbers.
   *
   * @hidden
   */
  constructor(start: number, stop: number, step: number) {
    this.start = start;
    this.stop = stop;
    this.step = step;
  }

  /** Returns whether a value is a range. */
  static is(value: unknown): value is Range {
    return typeof value === "object" && value !== null && #range in value && value.#range;
  }

  /** The number of indices. */
  get size(): number {
    return Math.max(0, Math.ceil((this.stop - this.start) / this.step));
  }

  /** Returns the expression that makes the range: `range(0, 4)`, `range(0, 4, 2)`. */
  toString(): string {
    const step = this.step === 1 ? "" : `, ${this.step}`;
    return `range(${this.start}, ${this.stop}${step})`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

/**
 * Returns the indices from 0 up to, but not including, `stop`, for `slice`.
 *
 * @example
 * ```ts
 * import { type HostMesh, range } from "viceroy";
 *
 * declare const hosts: HostMesh<"hosts">;
 * const firstFour = hosts.slice({ hosts: range(4) });
 * const everySecond = hosts.slice({ hosts: range(0, 8, 2) });
 * ```
 *
 * @param stop the index that ends the range, an integer from 0
 * @throws {RangeError} when a number is not an integer, `start` or `stop` is negative, or `step` is less than 1
 */
export function range(stop: number): Range;
/**
 * Returns the indices from `start` up to, but not including, `stop`.
 *
 * @param start the first index, an integer from 0
 * @param stop the index that ends the range, an integer from 0
 * @param step the distance of two indices, an integer from 1; default 1
 * @throws {RangeError} when a number is not an integer, `start` or `stop` is negative, or `step` is less than 1
 */
export function range(start: number, stop: number, step?: number): Range;
export function range(first: number, second?: number, step = 1): Range {
  const start = second === undefined ? 0 : first;
  const stop = second === undefined ? first : second;
  checkInteger("start", start, 0);
  checkInteger("stop", stop, 0);
  checkInteger("step", step, 1);
  return new Range(start, stop, step);
}

function checkInteger(what: string, value: unknown, least: number): void {
  if (Number.isInteger(value) && (value as number) >= least) return;
  throw new RangeError(
    `cannot make a range: expected an integer of at least ${least} as ${what}, got ${describeValue(value)}`,
  );
}
