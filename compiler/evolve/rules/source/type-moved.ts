/**
 * Reports declarations that moved to another file or namespace. Their generated code is imported from another module or
 * has another name.
 */
import type { BreakRule } from "../../break-rule.js";

export const typeMoved: BreakRule = {
  code: "VC5031",
  name: "type-moved",
  class: "SOURCE",
  find({ types, actors, tasks }) {
    const visible = types.filter(({ older, newer }) => older.exported && newer.exported);
    const renamed = visible
      .filter(({ older, newer }) => older.name !== newer.name)
      .map(({ older, newer: { name, at } }) => ({
        place: name,
        at,
        side: "newer" as const,
        text: `${older.name} is called ${name} now: code that names it, or its codec, does not compile, and the type URL in an Any is another`,
        fix: "Move it back, or change the code of its users. Bytes are as before.",
      }));
    const elsewhere = [...visible, ...actors, ...tasks]
      .filter(({ older, newer }) => older.at.file !== newer.at.file)
      .map(({ older, newer: { name, at } }) => ({
        place: name,
        at,
        side: "newer" as const,
        text: `${name} was in ${older.at.file}: code that imports it from there does not compile`,
        fix: "Move it back, or change the imports of its users.",
      }));
    return [...elsewhere, ...renamed];
  },
};
