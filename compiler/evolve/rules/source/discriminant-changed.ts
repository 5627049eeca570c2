/** Reports unions whose discriminant property changed. The discriminant is not on the wire. */
import type { BreakRule } from "../../break-rule.js";

export const discriminantChanged: BreakRule = {
  code: "VC5039",
  name: "discriminant-changed",
  class: "SOURCE",
  find({ shapes }) {
    return shapes.flatMap(({ place, older, newer }) => {
      if (older.kind !== "union" || newer.kind !== "union" || older.discriminant === newer.discriminant) return [];
      const at = newer.variants[0]?.at;
      if (at === undefined) return [];
      const text = `the variants of ${place} were told apart by ${older.discriminant} and are by ${newer.discriminant}: code that uses them does not compile`;
      return [{ place, at, side: "newer" as const, text, fix: `Call the property ${older.discriminant} again.` }];
    });
  },
};
