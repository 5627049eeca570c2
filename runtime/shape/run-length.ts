/**
 * A sequence in which equal neighbours are stored once. The values may come encoded: each is decoded when it is first
 * asked for, once for its whole run.
 */

import { describeValue } from "../../shared/text/describe-value.js";

/** `length` places in a row with the same value. */
export interface ValueRun<T> {
  readonly value: T;
  readonly length: number;
}

const nothingToDecode = new Uint8Array(0);

export class RunLengthSequence<T> {
  /** The number of places. */
  readonly size: number;
  /** Where each run ends; undefined if each place has a run of its own. */
  readonly #ends: Float64Array | undefined;
  readonly #values: unknown[];
  #decode: ((value: never) => T) | undefined;
  readonly #decoded: Uint8Array;
  #undecoded: number;

  /**
   * @param decode makes a value of what a run holds; undefined: the runs hold values
   * @throws RangeError if the length of a run is no integer of at least 1
   */
  constructor(runs: readonly ValueRun<unknown>[], decode: ((value: never) => T) | undefined) {
    let size = 0;
    for (const { length } of runs) {
      if (!Number.isInteger(length) || length < 1) {
        throw new RangeError(`cannot make runs: expected lengths of at least 1, got ${describeValue(length)}`);
      }
      size += length;
    }
    this.size = size;
    this.#ends = size === runs.length ? undefined : endsOf(runs);
    this.#values = runs.map((run) => run.value);
    this.#decode = decode;
    this.#undecoded = decode === undefined ? 0 : runs.length;
    this.#decoded = decode === undefined ? nothingToDecode : new Uint8Array(runs.length);
  }

  /** The value at a place, which must be from 0 to the size - 1. */
  at(place: number): T {
    return this.#value(this.#runOf(place));
  }

  /** Values of many places, quicker than one by one where they follow each other. */
  *values(places: Iterable<number>): Generator<T, void, undefined> {
    const ends = this.#ends;
    let run = 0;
    for (const place of places) {
      if (ends === undefined) run = place;
      else if (place >= ends[run]! || (run > 0 && place < ends[run - 1]!)) run = this.#runOf(place);
      yield this.#value(run);
    }
  }

  #runOf(place: number): number {
    const ends = this.#ends;
    if (ends === undefined) return place;
    let low = 0;
    let high = ends.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (ends[middle]! <= place) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #value(run: number): T {
    const decode = this.#decode;
    if (decode !== undefined && this.#decoded[run] === 0) {
      this.#values[run] = decode(this.#values[run] as never);
      this.#decoded[run] = 1;
      if (--this.#undecoded === 0) this.#decode = undefined;
    }
    return this.#values[run] as T;
  }
}

function endsOf(runs: readonly ValueRun<unknown>[]): Float64Array {
  let end = 0;
  return Float64Array.from(runs, ({ length }) => {
    end += length;
    return end;
  });
}

/** Joins neighbours that are the same value (`Object.is`). */
export function joinEqualNeighbours<T>(values: Iterable<T>): ValueRun<T>[] {
  const runs: { value: T; length: number }[] = [];
  for (const value of values) {
    const last = runs.at(-1);
    if (last !== undefined && Object.is(last.value, value)) last.length++;
    else runs.push({ value, length: 1 });
  }
  return runs;
}
