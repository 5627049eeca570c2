/** Reports types and tasks that can no longer be imported. The wire rules report removed actors. */
import type { BreakRule } from "../../break-rule.js";

export const typeRemoved: BreakRule = {
  code: "VC5030",
  name: "type-removed",
  class: "SOURCE",
  find({ removedTypes: goneTypes, removedTasks, types }) {
    const gone = goneTypes.filter(({ exported }) => exported);
    const hidden = types.filter(({ older, newer }) => older.exported && !newer.exported);
    return [
      ...gone.map(({ name, at }) => ({
        place: name,
        at,
        side: "older" as const,
        text: `${name} has gone: code that imports it, or its codec, does not compile`,
        fix: "Keep it, or an alias of the new name: `export type Old = New`.",
      })),
      ...removedTasks.map(({ name, at }) => ({
        place: name,
        at,
        side: "older" as const,
        text: `task ${name} has gone: code that implements it does not compile`,
        fix: "Keep it until no code uses it.",
      })),
      ...hidden.map(({ newer: { name, at } }) => ({
        place: name,
        at,
        side: "newer" as const,
        text: `${name} is not exported any more: code that imports it, or its codec, does not compile`,
        fix: "Write `export` before it.",
      })),
    ];
  },
};
