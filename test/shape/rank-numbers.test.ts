/** Tests the numbers of the ranks of a mesh that is resized. */
import { describe, expect, test } from "vitest";
import {
  baseRank,
  baseRanks,
  checkRegion,
  type Extent,
  flattenRegion,
  points,
  RankNumbers,
  type Region,
  rankOfBaseRank,
  renameRegion,
  resizedExtent,
  sameRegion,
  sliceRegion,
  splitRegion,
  wholeRegion,
} from "../../runtime/shape/index.js";
import { withRandom } from "../random.js";

const bases = (region: Region) => [...baseRanks(region)];

describe("the numbers of ranks", () => {
  test("are those of the spawned mesh, and new positions get the next ones", () => {
    const numbers = new RankNumbers({ hosts: 2, gpus: 2 });
    expect(bases(numbers.regionOf({ hosts: 2, gpus: 2 }))).toEqual([0, 1, 2, 3]);
    expect(bases(numbers.regionOf({ hosts: 2, gpus: 3 }))).toEqual([0, 1, 4, 2, 3, 5]);
    expect(bases(numbers.regionOf({ hosts: 3, gpus: 3 }))).toEqual([0, 1, 4, 2, 3, 5, 6, 7, 8]);
    expect(bases(numbers.regionOf({ hosts: 3, gpus: 1 }))).toEqual([0, 2, 6]);
    expect(numbers.count).toBe(9);
  });

  test("can be counted before an extent is taken", () => {
    const numbers = new RankNumbers({ hosts: 2, gpus: 2 });
    expect(numbers.countWith({ hosts: 1, gpus: 1 })).toBe(4);
    expect(numbers.countWith({ hosts: 3, gpus: 3 })).toBe(9);
    expect(numbers.count).toBe(4);
    numbers.regionOf({ hosts: 1, gpus: 3 });
    expect([numbers.count, numbers.countWith({ hosts: 2, gpus: 3 })]).toEqual([5, 6]);
  });

  test("stay with their positions, in any order of extents", () =>
    withRandom((next) => {
      const extent: Extent = { a: 2, b: 1, c: 2 };
      const numbers = new RankNumbers(extent);
      const known = new Map<string, number>();
      let region: Region = wholeRegion(extent);
      for (let i = 0; i < 200; i++) {
        const label = ["a", "b", "c"][next(3)]!;
        region = numbers.regionOf(resizedExtent(region, label, 1 + next(4)));
        checkRegion(region, region.members?.length ?? 4);
        const seen = new Set<number>();
        for (const { rank, coordinates } of points(region)) {
          const number = baseRank(region, rank);
          const key = JSON.stringify(coordinates);
          expect(known.get(key) ?? number).toBe(number);
          known.set(key, number);
          seen.add(number);
          expect(rankOfBaseRank(region, number)).toBe(rank);
        }
        expect(bases(region)).toEqual(Array.from(points(region), ({ rank }) => baseRank(region, rank)));
        for (let other = 0; other < numbers.count; other++)
          if (!seen.has(other)) expect(rankOfBaseRank(region, other)).toBeUndefined();
      }
      expect(new Set(known.values()).size).toBe(known.size);
    }));
});

describe("a region with members", () => {
  const region = new RankNumbers({ hosts: 2, gpus: 2 }).regionOf({ hosts: 2, gpus: 4 });

  test("can be cut and reshaped like any other", () => {
    expect(bases(region)).toEqual([0, 1, 4, 5, 2, 3, 6, 7]);
    expect(bases(sliceRegion(region, { hosts: 1 }))).toEqual([2, 3, 6, 7]);
    expect(bases(sliceRegion(region, { gpus: 2 }))).toEqual([4, 6]);
    expect(bases(splitRegion(region, { gpus: ["dp", "tp"] }, { tp: 2 }))).toEqual(bases(region));
    expect(bases(renameRegion(region, { gpus: "tp" }))).toEqual(bases(region));
    expect(bases(flattenRegion(region, "rank"))).toEqual(bases(region));
    expect(rankOfBaseRank(sliceRegion(region, { hosts: 1 }), 6)).toBe(2);
    expect(rankOfBaseRank(sliceRegion(region, { hosts: 1 }), 4)).toBeUndefined();
  });

  test("equals only a region with the same members", () => {
    const { members: _, ...without } = region;
    expect(sameRegion(region, { ...region, members: [...region.members!] })).toBe(true);
    expect(sameRegion(region, without)).toBe(false);
    expect(sameRegion(region, { ...region, members: [0, 1, 5, 4, 2, 3, 6, 7] })).toBe(false);
  });

  test("is refused if a member occurs twice or a position has none", () => {
    expect(() => checkRegion({ ...region, members: [0, 1, 4, 5, 2, 3, 6, 6] }, 8)).toThrow(
      "cannot use a region: expected distinct members, got 6 twice",
    );
    expect(() => checkRegion({ ...region, members: [0, 1, 4] }, 3)).toThrow(
      "cannot use a region: expected base ranks below 3, got offset 0 and strides [4, 1]",
    );
  });
});
