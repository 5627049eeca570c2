/**
 * Reports a `Oneof` that moves into or out of the message that contains it. If all its cases have an `@id`, its cases
 * are fields of that message; otherwise it is a message of its own. After a move, the cases have other numbers in
 * another message: each side keeps what the other writes as unknown fields and finds no value.
 */
import { flattenedCases } from "../../../model/flattened-oneof.js";
import type { BreakRule } from "../../break-rule.js";
import { compareMembers } from "../../comparison.js";
import type { ShapeMember } from "../../shape-members.js";

export const oneofMoved: BreakRule = {
  code: "VC5022",
  name: "oneof-moved",
  class: "WIRE",
  find({ shapes }) {
    return shapes.flatMap((shape) => {
      if (shape.newer.kind !== "message") return [];
      return compareMembers(shape).pairs.flatMap(({ older, newer }) => {
        const was = casesIn(older);
        if (was === casesIn(newer)) return [];
        const place = `${shape.place}.${newer.name}`;
        const [before, after] = was ? ["fields of", "is not"] : ["not fields of", "is"];
        const text = `${place}: its cases were ${before} the message that it stands in, and now it ${after} part of that message: neither side finds the other's value`;
        const fix = was
          ? "Write `@id` above all of its cases again, each with its old number, and leave it optional or nullable, not both."
          : "Take the `@id`s away again, or add a member of this type under another name.";
        return [{ place, at: newer.at, side: "newer" as const, text, fix }];
      });
    });
  },
};

/** Returns whether the member is a `Oneof` whose cases are fields of the message that contains it. */
function casesIn({ type, optional }: ShapeMember): boolean {
  return type !== undefined && flattenedCases(type, optional) !== undefined;
}
