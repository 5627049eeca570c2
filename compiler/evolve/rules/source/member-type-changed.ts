/**
 * Reports members whose TypeScript type changed. If the wire format changed too, the wire rules report the member
 * instead.
 */
import { typeText } from "../../../lock/type-text.js";
import { withoutNull } from "../../absence.js";
import type { BreakRule } from "../../break-rule.js";
import { compareMembers } from "../../comparison.js";

export const memberTypeChanged: BreakRule = {
  code: "VC5036",
  name: "member-type-changed",
  class: "SOURCE",
  find({ shapes, currentTypeText: textNow }) {
    return shapes.flatMap((shape) =>
      compareMembers(shape).pairs.flatMap(({ older, newer }) => {
        if (older.type === undefined || newer.type === undefined) return [];
        const was = typeText(withoutNull(older.type));
        const is = typeText(withoutNull(newer.type));
        if (textNow(withoutNull(older.type)) === is) return [];
        const text = `${shape.place}.${newer.name} was ${was} and is ${is}: code that uses it may not compile`;
        return [{ place: `${shape.place}.${newer.name}`, at: newer.at, side: "newer" as const, text }];
      }),
    );
  },
};
