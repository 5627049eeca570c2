/**
 * Reports changes of precision where the wire type has room for more than the reader keeps. Elements of `Int8Array`,
 * `Int16Array` and `Uint16Array` have fewer bits than their wire type, and a `Date` has milliseconds where a
 * `Timestamp` has nanoseconds.
 */
import type { FieldRule } from "../wire-rule.js";

export const elementsNarrowed: FieldRule = {
  code: "VC5010",
  name: "elements-narrowed",
  fix: "Add a member with the other type, under another name.",
  compares: "field",
  find({ older, newer }) {
    if ((older.millis ?? false) !== (newer.millis ?? false)) {
      const [was, is] = older.millis ? ["milliseconds", "nanoseconds"] : ["nanoseconds", "milliseconds"];
      return `it kept ${was} and keeps ${is}: the nanoseconds of the one side are lost on the other`;
    }
    if (older.bits === newer.bits) return undefined;
    const bits = (count: number | undefined) => (count === undefined ? "all bits of their type" : `${count} bits`);
    return `its elements had ${bits(older.bits)} and have ${bits(newer.bits)}: numbers that need more are not kept`;
  },
};
