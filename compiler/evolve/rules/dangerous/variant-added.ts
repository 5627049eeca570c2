/** Reports new variants and cases. Older readers do not know them. */

import type { BreakRule } from "../../break-rule.js";
import { compareMembers } from "../../comparison.js";
import { memberKind } from "../../shape-members.js";

export const variantAdded: BreakRule = {
  code: "VC5070",
  name: "variant-added",
  class: "DANGEROUS",
  find({ shapes }) {
    return shapes.flatMap((shape) => {
      const { place, newer } = shape;
      if (newer.kind !== "union" && newer.kind !== "oneof") return [];
      return compareMembers(shape).added.map(({ name, at }) => ({
        place: `${place}.${name}`,
        at,
        side: "newer" as const,
        text: `the ${memberKind(newer)} ${name} is new: older readers get "$unknown" for it`,
      }));
    });
  },
};
