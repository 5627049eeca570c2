/**
 * A range of indices, as `slice` takes it: `range(0, 4)` is 0, 1, 2, 3. It knows no mesh: whether the indices exist is
 * seen when it is used.
 */
import { describeValue } from "./extent.js";

/** From `start` up to, not including, `stop`, every `step`-th. */
export class Range {
  readonly start: number;
  readonly stop: number;
  readonly step: number;
  readonly #range = true;

  /** Use `range`. */
  constructor(start: number, stop: number, step: number) {
    this.start = start;
    this.stop = stop;
    this.step = step;
  }

  static is(value: unknown): value is Range {
    return typeof value === "object" && value !== null && #range in value && value.#range;
  }

  /** How many indices it has. */
  get size(): number {
    return Math.max(0, Math.ceil((this.stop - this.start) / this.step));
  }

  /** As it is written: `range(0, 4)`, `range(0, 4, 2)`. */
  toString(): string {
    const step = this.step === 1 ? "" : `, ${this.step}`;
    return `range(${this.start}, ${this.stop}${step})`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

/**
 * The indices from `start` up to, not including, `stop`, every `step`-th; `range(stop)` starts at 0.
 * @throws RangeError if one is no integer, `start` or `stop` is negative, or `step` is below 1
 */
export function range(stop: number): Range;
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
