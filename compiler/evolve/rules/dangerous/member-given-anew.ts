/** Members of a name that was there before, with another id: what either side writes under that name the other keeps as unknown. */

import type { BreakRule } from "../../break-rule.js";
import { compareMembers } from "../../comparison.js";

export const memberGivenAnew: BreakRule = {
  code: "VC5072",
  name: "member-given-anew",
  class: "DANGEROUS",
  find({ shapes }) {
    return shapes.flatMap((shape) =>
      compareMembers(shape)
        .pairs.filter(({ older, newer }) => older.id !== newer.id)
        .map(({ older, newer: { name, id, at } }) => ({
          place: `${shape.place}.${name}`,
          at,
          side: "newer" as const,
          text: `${shape.place}.${name} has id ${id} and had ${older.id}: what was written as ${name} is not read as ${name} any more`,
        })),
    );
  },
};
