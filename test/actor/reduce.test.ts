/** Reductions: what becomes of the answers of all ranks. */
import { describe, expect, test } from "vitest";
import { foldOf, topK } from "../../runtime/actor/reduce.js";

const fold = (operation: unknown, values: readonly unknown[]): unknown => foldOf("mesh.endpoint", operation)(values);

describe("named operations", () => {
  test.each([
    ["sum", [1, 2, 3.5], 6.5],
    ["sum", [1n, 2n], 3n],
    ["sum", [], 0],
    ["min", [3, 1, 2], 1],
    ["max", ["a", "c", "b"], "c"],
    ["max", [1n, 5n], 5n],
    ["min", [new Date(5), new Date(3)], new Date(3)],
    ["concat", [[1], [], [2, 3]], [1, 2, 3]],
    ["concat", ["a", "b"], "ab"],
    ["concat", [new Uint8Array([1]), new Uint8Array([2])], new Uint8Array([1, 2])],
    ["concat", [], []],
    ["count", ["x", "y"], 2],
  ])("%s (%#)", (operation, values, expected) => {
    expect(fold(operation, values)).toEqual(expected);
  });

  test("of what cannot be combined", () => {
    expect(() => fold("sum", ["a"])).toThrow(
      new TypeError("cannot reduce mesh.endpoint: sum takes numbers, got string"),
    );
    expect(() => fold("concat", [1])).toThrow(
      new TypeError("cannot reduce mesh.endpoint: concat takes arrays, strings or bytes, got number"),
    );
    expect(() => fold(undefined, [1])).toThrow(
      new TypeError(
        "cannot reduce mesh.endpoint: expected sum, min, max, concat, count, a reducer or a function, got none, and the " +
          "endpoint has no @reduce",
      ),
    );
    expect(() => fold("max", [])).toThrow(new RangeError("cannot reduce mesh.endpoint: the mesh is empty"));
  });
});

test("topK takes the largest items of all ranks, lower ranks first among equals", () => {
  const words = [
    [
      { word: "a", count: 3 },
      { word: "b", count: 1 },
    ],
    [
      { word: "c", count: 3 },
      { word: "d", count: 9 },
    ],
  ];
  const top = topK<{ word: string; count: number }>(3, ({ count }) => count);
  expect((fold(top, words) as { word: string }[]).map(({ word }) => word)).toEqual(["d", "a", "c"]);
  expect(fold(topK(2), [[5, 1], [7]])).toEqual([7, 5]);
  expect(() => topK(-1)).toThrow(new RangeError("cannot take the top -1: expected an integer of at least 0"));
});

test("a function folds from the lowest rank on", () => {
  expect(fold((a: string, b: string) => `(${a}${b})`, ["x", "y", "z"])).toBe("((xy)z)");
});

test("anything else is refused before anything is sent", () => {
  expect(() => foldOf("mesh.endpoint", "average")).toThrow(
    new TypeError(
      "cannot reduce mesh.endpoint: expected sum, min, max, concat, count, a reducer or a function, got average",
    ),
  );
});
