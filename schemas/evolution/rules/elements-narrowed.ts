/** How many bits the elements of a typed array have, where the wire has room for more: `Int8Array` and `Int16Array`. */
import type { FieldRule } from "../rule.js";

export const elementsNarrowed: FieldRule = {
  code: "VC5010",
  name: "elements-narrowed",
  fix: "Add a member with the other typed array, under another name.",
  compares: "field",
  find({ older, newer }) {
    if (older.bits === newer.bits) return undefined;
    const bits = (count: number | undefined) => (count === undefined ? "all bits of their type" : `${count} bits`);
    return `its elements had ${bits(older.bits)} and have ${bits(newer.bits)}: numbers that need more are not kept`;
  },
};
