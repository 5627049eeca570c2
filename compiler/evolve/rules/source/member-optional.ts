/** Reports fields that may now be absent or null. Code that reads them must handle that case. */

import type { BreakRule } from "../../break-rule.js";
import { compareMembers } from "../../comparison.js";

export const memberOptional: BreakRule = {
  code: "VC5038",
  name: "member-optional",
  class: "SOURCE",
  find({ shapes }) {
    return shapes.flatMap((shape) =>
      compareMembers(shape).pairs.flatMap(({ older, newer }) => {
        const absent = !older.optional && newer.optional;
        const isNull = older.type?.kind !== "nullable" && newer.type?.kind === "nullable";
        if (!absent && !isNull) return [];
        const what = absent && isNull ? "absent or null" : absent ? "absent" : "null";
        const text = `${shape.place}.${newer.name} may be ${what} now: code that reads it may not compile`;
        return [{ place: `${shape.place}.${newer.name}`, at: newer.at, side: "newer" as const, text }];
      }),
    );
  },
};
