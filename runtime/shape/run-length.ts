/**
 * Run-length sequences, which store equal neighbours once. The stored values can be encoded; a run is decoded when one of its
 * values is first read.
 */

import { describeValue } from "../../shared/text/describe-value.js";

/** A run: consecutive elements with the same value. */
export interface ValueRun<T> {
  readonly value: T;
  readonly length: number;
}

const nothingToDecode = new Uint8Array(0);

export class RunLengthSequence<T> {
  /** The number of elements. */
  readonly size: number;
  /** The index at which each run ends, exclusive; undefined if every run has one element. */
  readonly #ends: Float64Array | undefined;
  readonly #values: unknown[];
  #decode: ((value: never) => T) | undefined;
  readonly #decoded: Uint8Array;
  #undecoded: number;

  /**
   * @param decode decodes the content of a run; undefined: the runs contain values
   * @throws {RangeError} when the size of a run is not an integer from 1
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

  /** Returns an element. @param place its index, from 0 to the size - 1 */
  at(place: number): T {
    return this.#value(this.#runOf(place));
  }

  /** Yields the elements at many indices. Consecutive indices are faster than single calls of `at`. */
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
  // `Float64Array.from` takes at least three times as long for the answers of up to 64 ranks.
  const ends = new Float64Array(runs.length);
  let end = 0;
  for (let i = 0; i < runs.length; i++) {
    end += runs[i]!.length;
    ends[i] = end;
  }
  return ends;
}

/** Returns runs of neighbours that are the same value (`Object.is`). */
export function joinEqualNeighbours<T>(values: Iterable<T>): ValueRun<T>[] {
  const runs: { value: T; length: number }[] = [];
  for (const value of values) {
    const last = runs.at(-1);
    if (last !== undefined && Object.is(last.value, value)) last.length++;
    else runs.push({ value, length: 1 });
  }
  return runs;
}
