/**
 * Reports fields that are now required. Code that creates such objects without them does not compile, and older
 * messages are read with the default.
 */

import { isRequired } from "../../absence.js";
import type { BreakRule } from "../../break-rule.js";
import { compareMembers } from "../../comparison.js";

export const memberRequired: BreakRule = {
  code: "VC5037",
  name: "member-required",
  class: "SOURCE",
  find({ shapes }) {
    return shapes.flatMap((shape) => {
      if (shape.newer.kind !== "message") return [];
      const made = compareMembers(shape)
        .pairs.filter(({ older, newer }) => !isRequired(older) && isRequired(newer))
        .map(({ newer }) => newer);
      return [...compareMembers(shape).added.filter(isRequired), ...made].map(({ name, at }) => ({
        place: `${shape.place}.${name}`,
        at,
        side: "newer" as const,
        text: `${shape.place}.${name} must be given now: code that makes a ${shape.place} without it does not compile`,
        fix: `Make it optional: \`${name}?: …\`.`,
      }));
    });
  },
};
