/**
 * Reports members that keep their name but have another id. Each side keeps as unknown what the other writes under that
 * name.
 */

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
