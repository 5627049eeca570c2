/** Reductions: operations that combine the answers of all ranks into one value. */
import { describe, expect, test } from "vitest";
import { findReduction, foldOf, reductionName, registerReducer, topK } from "../../../runtime/actor/call/reduction.js";

const fold = (operation: unknown, values: readonly unknown[]): unknown => foldOf("mesh.endpoint", operation)(values);

describe("a named operation", () => {
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
  ])("%s combines the answers into the expected value (%#)", (operation, values, expected) => {
    expect(fold(operation, values)).toEqual(expected);
  });

  test.each(["min", "max"])("%s is the value of the lowest rank among equal ones", (operation) => {
    const dates = [new Date(5), new Date(5), new Date(5)];
    expect(fold(operation, dates)).toBe(dates[0]);
  });

  test("throws an error if it is missing or cannot combine the answers", () => {
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

test("topK takes the largest items of all ranks, and the lower rank first for equal items", () => {
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
  const equal = Array.from({ length: 20 }, (_, index) => ({ word: `${index}`, count: 1 }));
  expect(
    fold(
      topK<{ word: string; count: number }>(20, ({ count }) => count),
      [equal],
    ),
  ).toEqual(equal);
  expect(() => topK(-1)).toThrow(new RangeError("cannot take the top -1: expected an integer of at least 0"));
});

test("a function folds the answers from the lowest rank upwards", () => {
  expect(fold((a: string, b: string) => `(${a}${b})`, ["x", "y", "z"])).toBe("((xy)z)");
});

test("an unknown operation name is refused before any answer exists", () => {
  expect(() => foldOf("mesh.endpoint", "average")).toThrow(
    new TypeError(
      "cannot reduce mesh.endpoint: expected sum, min, max, concat, count, a reducer or a function, got average",
    ),
  );
});

describe("an operation with a name that every process knows", () => {
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
  ])("gives the same result when another process finds it by its name (%#)", (operation, name, values) => {
    expect(reductionName(operation)).toBe(name);
    expect(findReduction(name)!(values)).toEqual(fold(operation, values));
  });

  test.each<[unknown]>([
    [(a: unknown) => a],
    [topK(2, (item: number) => -item)],
    [undefined],
    [null],
    [{ fold: () => 1 }],
  ])("an operation that other processes cannot know has an empty name (%#)", (operation) => {
    expect(reductionName(operation)).toBe("");
  });

  test.each(["", "average", "topK", "topK x", "topK 2 of 3", "not topK 2", "registered longer", "toString"])(
    'cannot be found by an unknown name: "%s"',
    (name) => {
      expect(findReduction(name)).toBe(undefined);
    },
  );

  test("shares its name with no other function, but can be registered again", () => {
    expect(reducer).toMatchObject({ name: "shorter", everywhere: "registered shorter" });
    expect(fold(registerReducer("shorter", shorter), ["abc", "d", "e"])).toBe("d");
    expect(() => registerReducer("shorter", (a: string) => a)).toThrow(
      new Error('cannot register reducer "shorter": another function has that name already'),
    );
  });

  test("shows its name in the error for an empty mesh, and a function shows the endpoint", () => {
    expect(() => fold(reducer, [])).toThrow(new RangeError("cannot reduce shorter: the mesh is empty"));
    expect(() => findReduction("registered shorter")!([])).toThrow(
      "cannot reduce registered shorter: the mesh is empty",
    );
    expect(() => fold((a: unknown) => a, [])).toThrow(new RangeError("cannot reduce mesh.endpoint: the mesh is empty"));
  });
});

test("topK accepts any whole number of items and refuses a fraction", () => {
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
])("a value that is not an operation is refused with an error that shows the value: %o", (operation, got) => {
  expect(() => foldOf("mesh.endpoint", operation)).toThrow(
    new TypeError(
      `cannot reduce mesh.endpoint: expected sum, min, max, concat, count, a reducer or a function, got ${got}`,
    ),
  );
});
