import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  baseRank,
  baseRanks,
  checkRegion,
  flattenRegion,
  isDense,
  points,
  type Region,
  rankAt,
  rankOfBaseRank,
  regionExtent,
  regionSize,
  renameRegion,
  sameExtent,
  sameRegion,
  sliceRegion,
  splitRegion,
  wholeRegion,
} from "../../runtime/shape/index.js";
import { cases } from "../profile.js";
import { type Naive, naive, naiveRename, naiveSlice, naiveSplit, realSpec, someSizes, someSlice } from "./naive.js";

/** Expects every query on the region to give the result of the naive model. */
function expectSame(region: Region, model: Naive, whole: number): void {
  expect(Object.entries(regionExtent(region))).toEqual(model.sizes);
  expect(regionSize(region)).toBe(model.cells.length);
  expect([...baseRanks(region)]).toEqual(model.cells.map((cell) => cell.base));
  expect([...points(region)].map((point) => point.coordinates)).toEqual(model.cells.map((cell) => cell.index));
  for (const [rank, cell] of model.cells.entries()) {
    expect(baseRank(region, rank)).toBe(cell.base);
    expect(rankAt(region, cell.index)).toBe(rank);
  }
  for (let base = 0; base < whole; base++) {
    const rank = model.cells.findIndex((cell) => cell.base === base);
    expect(rankOfBaseRank(region, base)).toBe(rank === -1 ? undefined : rank);
  }
  const bases = model.cells.map((cell) => cell.base);
  expect(isDense(region)).toBe(bases.every((base, i) => i === 0 || base === bases[i - 1]! + 1));
  expect(() => checkRegion(region, whole)).not.toThrow();
}

/** One random step from a region and its model to the next. */
function someStep(region: Region, model: Naive): fc.Arbitrary<readonly [Region, Naive]> {
  const slice = someSlice(region).map(
    (spec) => [sliceRegion(region, realSpec(spec)), naiveSlice(model, spec)] as const,
  );
  if (region.labels.length === 0) return slice;
  const split = fc
    .record({ at: fc.nat(region.labels.length - 1), pick: fc.nat(), given: fc.constantFrom("outer", "inner", "both") })
    .map(({ at, pick, given }) => {
      const name = region.labels[at]!;
      const size = region.sizes[at]!;
      const divisors = Array.from({ length: size }, (_, i) => i + 1).filter((d) => size % d === 0);
      const inner = divisors[pick % divisors.length]!;
      const names = [`${name}_o`, `${name}_i`] as const;
      const sizes = {
        ...(given !== "inner" && { [names[0]]: size / inner }),
        ...(given !== "outer" && { [names[1]]: inner }),
      };
      return [
        splitRegion(region, { [name]: [...names] }, sizes),
        naiveSplit(model, name, names[0], names[1], inner),
      ] as const;
    });
  const rename = fc.nat(region.labels.length - 1).map((at) => {
    const names = { [region.labels[at]!]: `${region.labels[at]!}_r` };
    return [renameRegion(region, names), naiveRename(model, names)] as const;
  });
  return fc.oneof({ weight: 3, arbitrary: slice }, split, rename);
}

function someSteps(region: Region, model: Naive, count: number): fc.Arbitrary<readonly [Region, Naive]> {
  if (count === 0) return fc.constant([region, model] as const);
  return someStep(region, model).chain(([next, nextModel]) => someSteps(next, nextModel, count - 1));
}

test("a region cut, split and renamed in any order has the ranks that the naive model has", () => {
  const inputs = fc
    .tuple(someSizes, fc.nat(5))
    .chain(([sizes, count]) =>
      someSteps(wholeRegion(Object.fromEntries(sizes)), naive(sizes), count).map((end) => [sizes, end] as const),
    );
  fc.assert(
    fc.property(inputs, ([sizes, [region, model]]) => {
      expectSame(
        region,
        model,
        sizes.reduce((product, [, size]) => product * size, 1),
      );
    }),
    { numRuns: cases(500) },
  );
});

test("a dense region flattens to the same ranks, and flattening any other region throws", () => {
  fc.assert(
    fc.property(
      someSizes.chain((sizes) => {
        const region = wholeRegion(Object.fromEntries(sizes));
        return someSlice(region).map((spec) => sliceRegion(region, realSpec(spec)));
      }),
      (region) => {
        if (!isDense(region)) expect(() => flattenRegion(region, "rank")).toThrow(/^cannot flatten /);
        else expect([...baseRanks(flattenRegion(region, "rank"))]).toEqual([...baseRanks(region)]);
      },
    ),
    { numRuns: cases(300) },
  );
});

test("slicing at a point gives the same region as slicing at its coordinates", () => {
  fc.assert(
    fc.property(someSizes, fc.nat(), (sizes, pick) => {
      const region: Region = wholeRegion(Object.fromEntries(sizes));
      const all = [...points(region)];
      const point = all[pick % all.length]!;
      expect(sliceRegion(region, point)).toEqual(sliceRegion(region, point.coordinates));
      expect(rankAt(region, point)).toBe(point.rank);
    }),
  );
});

test("dimensions may be called __proto__ and constructor", () => {
  const extent = Object.fromEntries([
    ["__proto__", 2],
    ["constructor", 3],
  ]);
  const region: Region = wholeRegion(extent);
  expect(Object.entries(regionExtent(region))).toEqual([
    ["__proto__", 2],
    ["constructor", 3],
  ]);
  expect(sliceRegion(region, Object.fromEntries([["__proto__", 1]]))).toEqual({
    labels: ["constructor"],
    sizes: [3],
    offset: 3,
    strides: [1],
  });
  expect(sliceRegion(wholeRegion({ gpus: 2 }), {}).sizes).toEqual([2]);
});

test("a mesh has up to 2^32 ranks", () => {
  const region = wholeRegion({ a: 65_536, b: 65_536 });
  expect(regionSize(region)).toBe(4_294_967_296);
  expect(baseRank(region, 4_294_967_295)).toBe(4_294_967_295);
  expect(rankOfBaseRank(sliceRegion(region, { a: 65_535 }), 4_294_967_295)).toBe(65_535);
});

test("an extent without dimensions has one rank, and an extent with an empty dimension has none", () => {
  expect(regionSize(wholeRegion({}))).toBe(1);
  expect([...points(wholeRegion({}))].map(String)).toEqual(["{}"]);
  const empty = wholeRegion({ hosts: 2, gpus: 0 });
  expect(regionSize(empty)).toBe(0);
  expect([...points(empty)]).toEqual([]);
  expect([...baseRanks(empty)]).toEqual([]);
  expect(rankOfBaseRank(empty, 0)).toBeUndefined();
  expect(regionExtent(splitRegion(empty, { gpus: ["dp", "tp"] }, { tp: 2 }))).toEqual({ hosts: 2, dp: 0, tp: 2 });
  expect(regionExtent(flattenRegion(empty, "rank"))).toEqual({ rank: 0 });
});

test("a point prints the index and the size of each dimension", () => {
  expect([...points(wholeRegion({ hosts: 1, gpus: 2 }))].map(String)).toEqual([
    "{'hosts': 0/1, 'gpus': 0/2}",
    "{'hosts': 0/1, 'gpus': 1/2}",
  ]);
});

test("base ranks are found in regions whose dimensions are not in the order of their strides", () => {
  const transposed = { labels: ["a", "b"], sizes: [2, 4], offset: 3, strides: [1, 2] };
  for (const [rank, base] of [...baseRanks(transposed)].entries()) expect(rankOfBaseRank(transposed, base)).toBe(rank);
  expect(rankOfBaseRank(transposed, 2)).toBeUndefined();
  expect(rankOfBaseRank(transposed, 11)).toBeUndefined();
});

test("a region without ranks contains no base rank, whatever its strides are", () => {
  const empty = { labels: ["a", "b"], sizes: [0, 7], offset: 0, strides: [2, 1] };
  for (let base = 0; base < 8; base++) expect(rankOfBaseRank(empty, base)).toBeUndefined();
});

test("regions are the same when they have the same dimension names and the same ranks in order", () => {
  const region: Region = { labels: ["a", "b"], sizes: [2, 3], offset: 1, strides: [6, 2] };
  expect(sameRegion(region, region)).toBe(true);
  expect(sameRegion(region, structuredClone(region))).toBe(true);
  const others: Partial<Region>[] = [
    { offset: 2 },
    { labels: ["a", "c"] },
    { sizes: [2, 4] },
    { sizes: [3, 3] },
    { strides: [6, 1] },
    { strides: [6, 2, 1] },
  ];
  for (const other of others) expect(sameRegion(region, { ...region, ...other })).toBe(false);
  expect(sameRegion({ ...region, labels: [] }, { ...region, labels: ["a"] })).toBe(false);
});

test("extents are the same when they have the same dimensions in the same order", () => {
  const extent = { hosts: 2, gpus: 4 };
  expect(sameExtent(extent, extent)).toBe(true);
  expect(sameExtent(extent, { hosts: 2, gpus: 4 })).toBe(true);
  const others: Record<string, number>[] = [{ gpus: 4, hosts: 2 }, { hosts: 2 }, { hosts: 2, gpus: 4, x: 1 }];
  for (const other of [...others, { hosts: 2, gpus: 5 }, { hosts: 3, gpus: 4 }]) {
    expect(sameExtent(extent, other)).toBe(false);
    expect(sameExtent(other, extent)).toBe(false);
  }
});
