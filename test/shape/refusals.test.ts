/** The texts that a user reads when a shape is wrong. */
import { describe, expect, test } from "vitest";
import {
  checkRegion,
  flattenRegion,
  joinExtents,
  Point,
  range,
  rankAt,
  renameRegion,
  singleRankRegion,
  sliceRegion,
  splitRegion,
  ValueMesh,
  wholeRegion,
} from "../../runtime/shape/index.js";

const grid = wholeRegion({ hosts: 2, gpus: 8 });
const line = wholeRegion({ gpus: 8 });
const empty = wholeRegion({ gpus: 0 });
const none = wholeRegion({});
/** JavaScript callers can pass a value of any type. */
const wrong = (value: unknown) => value as never;

describe("an extent", () => {
  test.each([
    [null, TypeError, "cannot make a mesh: expected an extent like { gpus: 4 }, got null"],
    [[4], TypeError, "cannot make a mesh: expected an extent like { gpus: 4 }, got an array of 1"],
    [4, TypeError, "cannot make a mesh: expected an extent like { gpus: 4 }, got 4"],
    [
      { "gpus of n1": 1 },
      TypeError,
      'cannot name a dimension: expected letters, digits and underscores, no digit first, got "gpus of n1"',
    ],
    [{ gpus: -1 }, RangeError, "cannot make a mesh: expected an integer of at least 0 for gpus, got -1"],
    [{ gpus: 1.5 }, RangeError, "cannot make a mesh: expected an integer of at least 0 for gpus, got 1.5"],
    [{ gpus: Number.NaN }, RangeError, "cannot make a mesh: expected an integer of at least 0 for gpus, got NaN"],
    [{ gpus: Infinity }, RangeError, "cannot make a mesh: expected an integer of at least 0 for gpus, got Infinity"],
    [{ gpus: "4" }, TypeError, 'cannot make a mesh: expected an integer of at least 0 for gpus, got "4"'],
    [{ gpus: 4n }, TypeError, "cannot make a mesh: expected an integer of at least 0 for gpus, got 4n"],
    [
      { a: 65_536, b: 65_537 },
      RangeError,
      "cannot make a mesh: expected at most 4294967296 ranks, got {'a': 65536, 'b': 65537}",
    ],
    [
      { a: 0, b: 2 ** 33 },
      RangeError,
      "cannot make a mesh: expected at most 4294967296 ranks, got {'a': 0, 'b': 8589934592}",
    ],
    [
      { "2d": 1 },
      TypeError,
      'cannot name a dimension: expected letters, digits and underscores, no digit first, got "2d"',
    ],
    [{ "": 1 }, TypeError, 'cannot name a dimension: expected letters, digits and underscores, no digit first, got ""'],
  ])("%o is refused", (extent, type, text) => {
    expect(() => wholeRegion(wrong(extent))).toThrow(new (type as ErrorConstructor)(text));
  });

  test("cannot be joined with an extent that has one of its dimensions", () => {
    expect(joinExtents({ hosts: 2 }, { gpus: 4 })).toEqual({ hosts: 2, gpus: 4 });
    expect(() => joinExtents({ hosts: 2 }, { hosts: 4 })).toThrow(
      new TypeError("cannot join {'hosts': 2} and {'hosts': 4}: expected distinct dimensions, got hosts twice"),
    );
  });
});

describe("slice", () => {
  test.each([
    [line, { gpus: 8 }, RangeError, "cannot slice gpus of {'gpus': 8}: expected an integer from 0 to 7, got 8"],
    [line, { gpus: -1 }, RangeError, "cannot slice gpus of {'gpus': 8}: expected an integer from 0 to 7, got -1"],
    [line, { gpus: 0.5 }, RangeError, "cannot slice gpus of {'gpus': 8}: expected an integer from 0 to 7, got 0.5"],
    [line, { gpus: NaN }, RangeError, "cannot slice gpus of {'gpus': 8}: expected an integer from 0 to 7, got NaN"],
    [
      empty,
      { gpus: 0 },
      RangeError,
      "cannot slice gpus of {'gpus': 0}: expected no index, the dimension being empty, got 0",
    ],
    [line, { gpus: "0" }, TypeError, "cannot slice gpus of {'gpus': 8}: expected an index or a range, got \"0\""],
    [line, { gpus: {} }, TypeError, "cannot slice gpus of {'gpus': 8}: expected an index or a range, got an object"],
    [
      line,
      { gpus: undefined },
      TypeError,
      "cannot slice gpus of {'gpus': 8}: expected an index or a range, got undefined",
    ],
    [line, { gpu: 0 }, TypeError, "cannot slice {'gpus': 8}: expected the dimension gpus, got dimension \"gpu\""],
    [
      grid,
      { gpus: 0, toString: 0 },
      TypeError,
      "cannot slice {'hosts': 2, 'gpus': 8}: expected one of the dimensions hosts, gpus, got dimension \"toString\"",
    ],
    [none, { gpus: 0 }, TypeError, 'cannot slice {}: expected no dimension, got dimension "gpus"'],
    [
      line,
      { gpus: range(3, 3) },
      RangeError,
      "cannot slice gpus of {'gpus': 8}: expected a range with at least one index, got range(3, 3)",
    ],
    [
      empty,
      { gpus: range(0, 0) },
      RangeError,
      "cannot slice gpus of {'gpus': 0}: expected a range with at least one index, got range(0, 0)",
    ],
    [
      line,
      { gpus: range(0, 9, 2) },
      RangeError,
      "cannot slice gpus of {'gpus': 8}: expected a range that ends at 8 or before, got range(0, 9, 2)",
    ],
    [line, 3, TypeError, "cannot slice {'gpus': 8}: expected dimensions, each with an index or a range, got 3"],
    [
      line,
      range(0, 2),
      TypeError,
      "cannot slice {'gpus': 8}: expected dimensions, each with an index or a range, got \"range(0, 2)\"",
    ],
    [
      line,
      new Point({ gpus: 4 }, 1),
      TypeError,
      "cannot slice {'gpus': 8}: expected a point of that extent, got {'gpus': 1/4}",
    ],
  ])("refuses the spec in row %#", (region, spec, type, text) => {
    expect(() => sliceRegion(region, wrong(spec))).toThrow(new (type as ErrorConstructor)(text));
  });
});

describe("range", () => {
  test.each([
    [[0, 4, 0], "cannot make a range: expected an integer of at least 1 as step, got 0"],
    [[0, 4, -1], "cannot make a range: expected an integer of at least 1 as step, got -1"],
    [[-1, 4], "cannot make a range: expected an integer of at least 0 as start, got -1"],
    [[0, Number.NaN], "cannot make a range: expected an integer of at least 0 as stop, got NaN"],
    [["0", 4], 'cannot make a range: expected an integer of at least 0 as start, got "0"'],
  ])("range(%s) is refused", (args, text) => {
    expect(() => (range as (...args: unknown[]) => unknown)(...args)).toThrow(new RangeError(text));
  });

  test("with one argument starts at 0", () => {
    expect(String(range(4))).toBe("range(0, 4)");
    expect([range(4).size, range(0, 4, 3).size, range(4, 2).size]).toEqual([4, 2, 0]);
  });
});

describe("look-up", () => {
  test.each([
    [
      { hosts: 0 },
      TypeError,
      "cannot look up gpus of {'hosts': 2, 'gpus': 8}: expected an index for each dimension, got none",
    ],
    [
      { hosts: 0, gpus: 8 },
      RangeError,
      "cannot look up gpus of {'hosts': 2, 'gpus': 8}: expected an integer from 0 to 7, got 8",
    ],
    [
      { hosts: 0, gpus: range(2) },
      TypeError,
      "cannot look up gpus of {'hosts': 2, 'gpus': 8}: expected an integer from 0 to 7, got a Range",
    ],
    [
      { hosts: 0, gpus: 0, x: 0 },
      TypeError,
      "cannot look up {'hosts': 2, 'gpus': 8}: expected one of the dimensions hosts, gpus, got dimension \"x\"",
    ],
    [5, TypeError, "cannot look up {'hosts': 2, 'gpus': 8}: expected dimensions, each with an index, got 5"],
    [
      new Point({ gpus: 8, hosts: 2 }, 1),
      TypeError,
      "cannot look up {'hosts': 2, 'gpus': 8}: expected a point of that extent, got {'gpus': 0/8, 'hosts': 1/2}",
    ],
  ])("refuses the position in row %#", (where, type, text) => {
    expect(() => rankAt(grid, wrong(where))).toThrow(new (type as ErrorConstructor)(text));
  });

  test("a point is refused if its rank is outside its extent", () => {
    for (const rank of [8, -1, 0.5, Number.NaN]) {
      expect(() => new Point({ gpus: 8 }, rank)).toThrow(
        new RangeError(`cannot make a point: expected a rank from 0 to 7, got ${rank}`),
      );
    }
  });
});

describe("split", () => {
  test.each([
    [
      { gpus: ["dp", "tp"] },
      {},
      TypeError,
      "cannot split gpus of {'hosts': 2, 'gpus': 8}: expected at most one size to be left out, got none for dp, tp",
    ],
    [
      { gpus: ["dp", "tp"] },
      { tp: 3 },
      RangeError,
      "cannot split gpus of {'hosts': 2, 'gpus': 8}: expected sizes that divide 8, got {'tp': 3}",
    ],
    [
      { gpus: ["dp", "tp"] },
      { tp: 0 },
      RangeError,
      "cannot split gpus of {'hosts': 2, 'gpus': 8}: expected sizes that divide 8, got {'tp': 0}",
    ],
    [
      { gpus: ["dp", "tp"] },
      { tp: 2, dp: 3 },
      RangeError,
      "cannot split gpus of {'hosts': 2, 'gpus': 8}: expected sizes that make 8 together, got {'dp': 3, 'tp': 2}",
    ],
    [
      { gpus: ["dp", "tp"] },
      { tp: -2 },
      RangeError,
      "cannot split gpus of {'hosts': 2, 'gpus': 8}: expected an integer of at least 0 for tp, got -2",
    ],
    [
      { gpus: ["dp", "tp"] },
      { tp: "2" },
      TypeError,
      "cannot split gpus of {'hosts': 2, 'gpus': 8}: expected an integer of at least 0 for tp, got \"2\"",
    ],
    [
      { gpus: ["dp", "tp"] },
      { tp: 2, pp: 2 },
      TypeError,
      "cannot split {'hosts': 2, 'gpus': 8}: expected sizes of the new dimensions, got one for \"pp\"",
    ],
    [
      { gpus: ["hosts", "tp"] },
      { tp: 2 },
      TypeError,
      "cannot name a dimension: expected distinct names, got hosts twice",
    ],
    [
      { gpus: ["tp", "tp"] },
      { tp: 2 },
      RangeError,
      "cannot split gpus of {'hosts': 2, 'gpus': 8}: expected sizes that make 8 together, got {'tp': 2}",
    ],
    [
      { gpus: [] },
      {},
      TypeError,
      "cannot split gpus of {'hosts': 2, 'gpus': 8}: expected a list of new dimensions, got an empty one",
    ],
    [
      { gpus: "dp" },
      {},
      TypeError,
      "cannot split gpus of {'hosts': 2, 'gpus': 8}: expected a list of new dimensions, got \"dp\"",
    ],
    [
      { gpu: ["a", "b"] },
      { a: 1 },
      TypeError,
      "cannot split {'hosts': 2, 'gpus': 8}: expected one of the dimensions hosts, gpus, got dimension \"gpu\"",
    ],
    [
      null,
      {},
      TypeError,
      "cannot split {'hosts': 2, 'gpus': 8}: expected dimensions, each with a list of new ones, got null",
    ],
  ])("refuses the dimensions and sizes in row %#", (spec, sizes, type, text) => {
    expect(() => splitRegion(grid, wrong(spec), wrong(sizes))).toThrow(new (type as ErrorConstructor)(text));
  });
});

test("two dimensions can swap names, but a name that is taken, invalid or of no dimension is refused", () => {
  expect(renameRegion(grid, { hosts: "gpus", gpus: "hosts" }).labels).toEqual(["gpus", "hosts"]);
  expect(() => renameRegion(grid, { gpus: "hosts" })).toThrow(
    new TypeError("cannot name a dimension: expected distinct names, got hosts twice"),
  );
  expect(() => renameRegion(grid, wrong({ gpus: 3 }))).toThrow(
    new TypeError("cannot name a dimension: expected letters, digits and underscores, no digit first, got 3"),
  );
  expect(() => renameRegion(grid, wrong({ gpu: "x" }))).toThrow(
    new TypeError(
      "cannot rename {'hosts': 2, 'gpus': 8}: expected one of the dimensions hosts, gpus, got dimension \"gpu\"",
    ),
  );
});

test("rename refuses a value that is not a record", () => {
  expect(() => renameRegion(grid, wrong("gpus"))).toThrow(
    new TypeError("cannot rename {'hosts': 2, 'gpus': 8}: expected dimensions, each with a new name, got \"gpus\""),
  );
});

test("an empty dimension cannot be split into parts of 0", () => {
  expect(() => splitRegion(empty, { gpus: ["dp", "tp"] }, { tp: 0 })).toThrow(
    new RangeError("cannot split gpus of {'gpus': 0}: expected sizes that divide 0, got {'tp': 0}"),
  );
});

test("the region of a single rank needs an index of every dimension", () => {
  expect(singleRankRegion(grid, { hosts: 1, gpus: 2 })).toEqual({ labels: [], sizes: [], offset: 10, strides: [] });
  expect(singleRankRegion(grid, new Point({ hosts: 2, gpus: 8 }, 10))).toEqual(
    singleRankRegion(grid, { hosts: 1, gpus: 2 }),
  );
  expect(() => singleRankRegion(grid, { hosts: 1 })).toThrow(
    new TypeError("cannot look up gpus of {'hosts': 2, 'gpus': 8}: expected an index for each dimension, got none"),
  );
});

test("a region with gaps cannot be flattened", () => {
  expect(() => flattenRegion(sliceRegion(grid, { gpus: range(0, 8, 2) }), "rank")).toThrow(
    new RangeError(
      "cannot flatten {'hosts': 2, 'gpus': 4}: expected ranks without a gap, got strides [8, 2] of the mesh it was cut from",
    ),
  );
});

test("a mesh of values refuses a wrong number of values and an empty run", () => {
  expect(() => ValueMesh.of({ gpus: 3 }, [1, 2])).toThrow(
    new RangeError("cannot make a mesh of values: expected 3 for {'gpus': 3}, got 2"),
  );
  expect(() => ValueMesh.fromRuns(line, [{ value: 1, length: 0 }], (value) => value)).toThrow(
    new RangeError("cannot make runs: expected lengths of at least 1, got 0"),
  );
});

describe("a received region", () => {
  const good = { labels: ["gpus"], sizes: [4], offset: 2, strides: [2] };
  test("is accepted if all its ranks exist", () => {
    expect(() => checkRegion(good, 9)).not.toThrow();
  });
  test("may be as large as the largest mesh, and no larger", () => {
    const largest = { labels: ["gpus"], sizes: [1], offset: 0, strides: [2 ** 32] };
    expect(() => checkRegion(largest, 8)).not.toThrow();
    expect(() => checkRegion({ ...largest, strides: [2 ** 32 + 1] }, 8)).toThrow(
      "got offset 0 and strides [4294967297]",
    );
    const none = { labels: ["gpus"], sizes: [0], offset: 2 ** 40, strides: [1] };
    expect(() => checkRegion(none, 8)).toThrow("got offset 1099511627776 and strides [1]");
  });
  test.each([
    [good, "cannot use a region: expected base ranks below 8, got offset 2 and strides [2]"],
    [{ ...good, offset: -1 }, "cannot use a region: expected base ranks below 8, got offset -1 and strides [2]"],
    [{ ...good, strides: [0] }, "cannot use a region: expected base ranks below 8, got offset 2 and strides [0]"],
    [{ ...good, strides: [NaN] }, "cannot use a region: expected base ranks below 8, got offset 2 and strides [NaN]"],
    [{ ...good, sizes: [] }, "cannot use a region: expected a size and a stride for each of 1 dimensions, got 0 and 1"],
    [
      { ...good, sizes: [4, 4] },
      "cannot use a region: expected a size and a stride for each of 1 dimensions, got 2 and 1",
    ],
    [
      { ...good, strides: [] },
      "cannot use a region: expected a size and a stride for each of 1 dimensions, got 1 and 0",
    ],
    [
      { labels: ["a", "b"], sizes: [4, 4], offset: 0, strides: [1, 1] },
      "cannot use a region: expected base ranks below 8, got offset 0 and strides [1, 1]",
    ],
    [{ ...good, sizes: [-1] }, "cannot make a mesh: expected an integer of at least 0 for gpus, got -1"],
    [
      { labels: ["a", "a"], sizes: [1, 1], offset: 0, strides: [1, 1] },
      "cannot name a dimension: expected distinct names, got a twice",
    ],
  ])("is refused in row %#", (region, text) => {
    expect(() => checkRegion(region, 8)).toThrow(text);
  });
});
