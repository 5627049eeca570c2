/** Declarations in another file: generated code is imported from another module. */
import type { BreakRule } from "../../rule.js";

export const typeMoved: BreakRule = {
  code: "VC5031",
  name: "type-moved",
  class: "SOURCE",
  find({ types, actors }) {
    const visible = types.filter(({ older, newer }) => older.exported && newer.exported);
    return [...visible, ...actors]
      .filter(({ older, newer }) => older.at.file !== newer.at.file)
      .map(({ older, newer: { name, at } }) => ({
        place: name,
        at,
        side: "newer",
        text: `${name} was in ${older.at.file}: code that imports it from there does not compile`,
        fix: "Move it back, or change the imports of its users.",
      }));
  },
};
