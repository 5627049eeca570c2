/** Reductions: what becomes of the answers of all ranks. */
import { describe, expect, test } from "vitest";
import { findReduction, foldOf, reductionName, registerReducer, topK } from "../../../runtime/actor/call/reduction.js";

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

describe("an operation that every process knows", () => {
  const shorter = (a: string, b: string) => (b.length < a.length ? b : a);
  const reducer = registerReducer("shorter", shorter);

  test.each<[unknown, string, readonly unknown[]]>([
    ["sum", "sum", [1, 2, 4]],
    ["min", "min", [3, 1, 2]],
    ["max", "max", [1, 3, 2]],
    ["concat", "concat", ["a", "b"]],
    [topK(2), "topK 2", [[1, 5], [7]]],
    [topK(12), "topK 12", [[1, 5], [7]]],
    [reducer, "registered shorter", ["abc", "d", "ef"]],
  ])("has a name by which it does the same elsewhere (%#)", (operation, name, values) => {
    expect(reductionName(operation)).toBe(name);
    expect(findReduction(name)!(values)).toEqual(fold(operation, values));
  });

  test.each<[unknown]>([
    [(a: unknown) => a],
    [topK(2, (item: number) => -item)],
    [undefined],
    [null],
    [{ fold: () => 1 }],
  ])("is none that has no name (%#)", (operation) => {
    expect(reductionName(operation)).toBe("");
  });

  test.each(["", "average", "topK", "topK x", "topK 2 of 3", "not topK 2", "registered longer", "toString"])(
    'is none of a name that nobody knows: "%s"',
    (name) => {
      expect(findReduction(name)).toBe(undefined);
    },
  );

  test("has its name alone", () => {
    expect(reducer).toMatchObject({ name: "shorter", everywhere: "registered shorter" });
    expect(fold(registerReducer("shorter", shorter), ["abc", "d", "e"])).toBe("d");
    expect(() => registerReducer("shorter", (a: string) => a)).toThrow(
      new Error('cannot register reducer "shorter": another function has that name already'),
    );
  });

  test("says what it was applied to where there is nothing", () => {
    expect(() => fold(reducer, [])).toThrow(new RangeError("cannot reduce shorter: the mesh is empty"));
    expect(() => findReduction("registered shorter")!([])).toThrow(
      "cannot reduce registered shorter: the mesh is empty",
    );
    expect(() => fold((a: unknown) => a, [])).toThrow(new RangeError("cannot reduce mesh.endpoint: the mesh is empty"));
  });
});

test("topK is a whole number of items, those of the smallest mesh too", () => {
  expect(topK(3).name).toBe("topK(3)");
  expect(fold(topK(0), [[1, 2]])).toEqual([]);
  expect(fold(topK(5), [[1, 2]])).toEqual([2, 1]);
  expect(fold(topK(2), [[1n, 3n], [2n]])).toEqual([3n, 2n]);
  expect(() => topK(1.5)).toThrow(new RangeError("cannot take the top 1.5: expected an integer of at least 0"));
});

test.each<[unknown, string]>([
  [5, "5"],
  [null, "null"],
  ["toString", "toString"],
  [{}, "[object Object]"],
])("what is no operation is refused by its name: %o", (operation, got) => {
  expect(() => foldOf("mesh.endpoint", operation)).toThrow(
    new TypeError(
      `cannot reduce mesh.endpoint: expected sum, min, max, concat, count, a reducer or a function, got ${got}`,
    ),
  );
});
