/**
 * Reports removed fields, cases, variants and values. The wire rules report removed members without which a message is
 * refused.
 */

import type { BreakRule } from "../../break-rule.js";
import { compareMembers } from "../../comparison.js";
import { memberKind } from "../../shape-members.js";

export const memberRemoved: BreakRule = {
  code: "VC5035",
  name: "member-removed",
  class: "SOURCE",
  find({ shapes }) {
    return shapes.flatMap((shape) =>
      compareMembers(shape).removed.map(({ name, at }) => ({
        place: `${shape.place}.${name}`,
        at,
        side: "older" as const,
        text: `the ${memberKind(shape.older)} ${name} has gone: code that uses it does not compile`,
        fix: `If it was renamed, write \`@was ${name}\` above the new name. If it is wanted no more, announce it first.`,
      })),
    );
  },
};
