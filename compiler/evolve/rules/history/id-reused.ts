/**
 * Reports ids that belong to another member than before. Data written with the id, by the older schema or an earlier
 * one, is misread. The compiler never reuses an id, so the lock was edited or merged by hand.
 */
import type { BreakRule } from "../../break-rule.js";
import { entryPairs, positionIn } from "../../lock-pairs.js";

export const idReused: BreakRule = {
  code: "VC5018",
  name: "id-reused",
  class: "WIRE",
  find({ states: { older, newer } }) {
    return entryPairs(older.lock, newer.lock).flatMap(({ block, older: was, newer: is }) => {
      if (is === undefined || is.retired || is.name === was.name || is.was.includes(was.name)) return [];
      // In an enum of numbers, a value may have been renamed; only the sources can tell.
      if (block.kind === "enum" && !was.retired) return [];
      const place = `${block.name}.${is.name}`;
      const text = `id ${is.id} of ${block.name} was ${was.name} and is ${is.name}: what was written as one is read as the other`;
      const fix = `If ${was.name} was renamed, write \`@was ${was.name}\` above ${is.name}. If not, restore the line in the lock and give ${is.name} the number after \`next\`.`;
      return [{ place, at: positionIn(newer.lockFile, is.line), side: "newer" as const, text, fix }];
    });
  },
};
