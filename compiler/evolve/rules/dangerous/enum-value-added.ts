/** Reports new values of an enumeration. Older readers do not know them. */

import type { BreakRule } from "../../break-rule.js";
import { compareMembers } from "../../comparison.js";

export const enumValueAdded: BreakRule = {
  code: "VC5071",
  name: "enum-value-added",
  class: "DANGEROUS",
  find({ shapes }) {
    return shapes.flatMap((shape) => {
      const { place, newer } = shape;
      if (newer.kind !== "enum") return [];
      const isNumber = newer.values.some(({ value }) => typeof value === "number");
      return compareMembers(shape).added.map(({ name, id, at }) => ({
        place: `${place}.${name}`,
        at,
        side: "newer" as const,
        text: `the value ${name} is new: older readers get ${isNumber ? id : `"$unknown:${id}"`} for it`,
      }));
    });
  },
};
