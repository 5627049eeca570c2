/**
 * A `Oneof` whose cases all have an `@id` is part of the message that it stands in, and any other is a message of its own.
 * Where that changes, its cases have other numbers in another message: each side keeps what the other has written as unknown,
 * and finds no value.
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

/** Whether it is a `Oneof` whose cases are fields of the message that it stands in. */
function casesIn({ type, optional }: ShapeMember): boolean {
  return type !== undefined && flattenedCases(type, optional) !== undefined;
}
