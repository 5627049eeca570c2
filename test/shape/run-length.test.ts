/** Sequences in which equal neighbours are stored once. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { joinEqualNeighbours, RunLengthSequence } from "../../runtime/shape/run-length.js";
import { cases } from "../profile.js";

/** Values that repeat often, so that runs are long. */
const someValues = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 40 });

test("values are read at any positions and in any order, as from a plain list", () => {
  const inputs = someValues.chain((values) =>
    fc.record({ values: fc.constant(values), places: fc.array(fc.nat(values.length - 1), { maxLength: 40 }) }),
  );
  fc.assert(
    fc.property(inputs, fc.boolean(), ({ values, places }, encoded) => {
      const runs = joinEqualNeighbours(values);
      const sequence = encoded
        ? new RunLengthSequence<number>(
            runs.map(({ value, length }) => ({ value: String(value), length })),
            (text: string) => Number(text),
          )
        : new RunLengthSequence<number>(runs, undefined);
      const expected = places.map((place) => values[place]);
      expect(sequence.size).toBe(values.length);
      expect([...sequence.values(places)]).toEqual(expected);
      expect(places.map((place) => sequence.at(place))).toEqual(expected);
      expect([...sequence.values(values.keys())]).toEqual(values);
    }),
    { numRuns: cases(300) },
  );
});

test("equal neighbours become one run, where NaN equals NaN but 0 does not equal -0", () => {
  expect(joinEqualNeighbours([1, 1, 2, 1, Number.NaN, Number.NaN, 0, -0])).toEqual([
    { value: 1, length: 2 },
    { value: 2, length: 1 },
    { value: 1, length: 1 },
    { value: Number.NaN, length: 2 },
    { value: 0, length: 1 },
    { value: -0, length: 1 },
  ]);
  expect(joinEqualNeighbours([])).toEqual([]);
});

test.each([[1], [2]])("a run of length %i is decoded once at its first read, and not before", (length) => {
  const decoded: string[] = [];
  const runs = new RunLengthSequence<object>(
    [
      { value: "a", length },
      { value: "b", length: 1 },
    ],
    (value: string) => {
      decoded.push(value);
      return { value };
    },
  );
  const [first] = [...runs.values([0])];
  expect(decoded).toEqual(["a"]);
  expect(runs.at(length - 1)).toBe(first);
  expect(runs.at(length)).toBe([...runs.values([length])][0]);
  expect([...runs.values([0, length, 0])]).toEqual([first, { value: "b" }, first]);
  expect(decoded).toEqual(["a", "b"]);
});

test.each([0, -1, 1.5, Number.NaN, "2"])("a run of the length %o is refused", (length) => {
  expect(() => new RunLengthSequence([{ value: 1, length: length as number }], undefined)).toThrow(
    new RangeError(
      `cannot make runs: expected lengths of at least 1, got ${typeof length === "string" ? '"2"' : length}`,
    ),
  );
});
