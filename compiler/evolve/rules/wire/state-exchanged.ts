/**
 * Reports actors whose state, which checkpoints contain, is another type or is gone. Checkpoints that were stored before can
 * then only be restored if the new type reads what the old one has written. A state that is still the same type is compared
 * member by member by the other rules.
 */
import { findWireDifferences } from "../../../../shared/evolution/index.js";
import type { Pair } from "../../../../shared/evolution/pair.js";
import type { TypeDeclaration } from "../../../model/index.js";
import type { LoweredSchema } from "../../../protobuf/lower/lowered-schema.js";
import { messageOf, stateOf } from "../../actor-state.js";
import type { BreakRule } from "../../break-rule.js";

export const stateExchanged: BreakRule = {
  code: "VC5023",
  name: "state-exchanged",
  class: "WIRE",
  find({ states: sides, indexes, types, actors }) {
    return actors.flatMap(({ older, newer }) => {
      const was = stateOf(older, indexes.older);
      const is = stateOf(newer, indexes.newer);
      if (was === undefined || types.some((pair) => pair.older === was && pair.newer === is)) return [];
      const found = { place: newer.name, at: newer.at, side: "newer" as const };
      const had = `${newer.name} had the state ${was.name}`;
      if (is === undefined) {
        const text = `${had} and has none: actors cannot begin with the checkpoints that are stored`;
        return [{ ...found, text, fix: `Declare the state again: \`extends Actor<[…], ${was.name}>\`.` }];
      }
      const lowered = { older: sides.older.lowered, newer: sides.newer.lowered };
      const difference = firstDifference(lowered, { older: was, newer: is });
      if (difference === undefined) return [];
      const text = `${had} and has ${is.name}, which cannot read the checkpoints that are stored: ${difference}`;
      const fix = `Keep ${was.name} as the state, and add optional members to it.`;
      return [{ ...found, text, fix }];
    });
  },
};

function firstDifference(
  { older, newer }: Pair<LoweredSchema>,
  declarations: Pair<TypeDeclaration>,
): string | undefined {
  const [was, is] = [messageOf(older, declarations.older), messageOf(newer, declarations.newer)];
  if (was === undefined || is === undefined) return undefined;
  const roots = { messages: [{ older: was, newer: is }], actors: [] };
  const names = { older: older.memberNames, newer: newer.memberNames };
  const [first] = findWireDifferences(older.schema, newer.schema, roots, names);
  if (first === undefined) return undefined;
  const origin = newer.origins.get(first.place) ?? older.origins.get(first.place);
  return `${origin?.place ?? first.place}: ${first.text}`;
}
