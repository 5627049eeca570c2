import fc from "fast-check";
import { expect, test } from "vitest";
import { planRemoval } from "../../../runtime/sync/store/plan-removal.js";
import { cases } from "../../profile.js";

const digest = fc.integer({ min: 0, max: 20 }).map(String);
const tree = fc.record({
  folderBytes: fc.nat(100),
  usedAt: fc.nat(100),
  isUsed: fc.boolean(),
  blobs: fc.uniqueArray(digest, { maxLength: 8 }).map((digests) => new Set(digests)),
});
const blobs = fc.uniqueArray(digest).chain((digests) =>
  fc
    .array(fc.record({ bytes: fc.nat(100), storedAt: fc.nat(100) }), {
      minLength: digests.length,
      maxLength: digests.length,
    })
    .map((sizes) => new Map(digests.map((name, i) => [name, sizes[i]!]))),
);

test("nothing that a used tree needs is removed, the oldest goes first, and no more than needed", () => {
  fc.assert(
    fc.property(fc.array(tree, { maxLength: 6 }), blobs, fc.nat(800), (parts, stored, quota) => {
      const trees = parts.map((part, i) => ({ ...part, id: `tree ${i}` }));
      const plan = planRemoval(trees, stored, quota, 50);
      const removed = new Set(plan.trees);
      const kept = trees.filter(({ id }) => !removed.has(id));
      const needed = new Set(kept.flatMap((one) => [...one.blobs]));
      expect(trees.filter(({ id, isUsed }) => isUsed && removed.has(id))).toEqual([]);
      expect(plan.blobs.filter((name) => needed.has(name))).toEqual([]);
      const left = [...stored].filter(([name]) => !plan.blobs.includes(name));
      const bytes =
        left.reduce((sum, [, one]) => sum + one.bytes, 0) + kept.reduce((sum, one) => sum + one.folderBytes, 0);
      expect(plan.bytesKept).toBe(bytes);
      const unused = kept.filter(({ isUsed }) => !isUsed);
      if (bytes > quota) expect(unused).toEqual([]);
      const newest = Math.max(-1, ...trees.filter(({ id }) => removed.has(id)).map(({ usedAt }) => usedAt));
      for (const one of unused) expect(one.usedAt).toBeGreaterThanOrEqual(newest);
      const everything = [...stored.values(), ...trees.map(({ folderBytes }) => ({ bytes: folderBytes }))];
      if (everything.reduce((sum, one) => sum + one.bytes, 0) <= quota)
        expect(plan).toMatchObject({ trees: [], blobs: [] });
    }),
    { numRuns: cases(500) },
  );
});
