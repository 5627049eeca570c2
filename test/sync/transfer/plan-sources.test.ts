import fc from "fast-check";
import { expect, test } from "vitest";
import { DRIVER, STRIPES, sourcesOf, stripeOf } from "../../../runtime/sync/transfer/plan-sources.js";
import { digestOf } from "../../../runtime/sync/tree/digest.js";

test("every host sends at most one copy, the driver too, and the depth grows with the logarithm of the hosts", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), (hosts) => {
      /** The number of stripes that a source sends to its children. */
      const sends = new Map<number, number>();
      for (let stripe = 0; stripe < STRIPES; stripe++) {
        for (let rank = 0; rank < hosts; rank++) {
          const sources = sourcesOf(rank, hosts, stripe);
          expect(sources.length).toBeLessThanOrEqual(1 + Math.log2(hosts));
          expect(sources.at(-1)).toBe(DRIVER);
          expect(new Set(sources).size).toBe(sources.length);
          expect(sources).not.toContain(rank);
          // The next source is the one from which the first source fetches: nobody waits in a circle.
          if (sources[0] !== DRIVER) expect(sourcesOf(sources[0]!, hosts, stripe)).toEqual(sources.slice(1));
          sends.set(sources[0]!, (sends.get(sources[0]!) ?? 0) + 1);
        }
      }
      expect(Math.max(...sends.values())).toBeLessThanOrEqual(STRIPES);
      expect(sends.get(DRIVER)).toBe(STRIPES);
    }),
    { numRuns: 30 },
  );
});

test("blobs are dealt evenly to the stripes", () => {
  const stripes = Array.from({ length: 1000 }, (_, i) => stripeOf(digestOf(Buffer.from(String(i)))));
  const first = stripes.filter((stripe) => stripe === 0).length;
  expect(first).toBeGreaterThan(400);
  expect(first).toBeLessThan(600);
});
