/**
 * Finds the line that a user has edited. If the type of a member is an alias, an edit of the alias changes the member,
 * and the finding then belongs to the declaration of the alias.
 */

import type { Pair } from "../../shared/evolution/pair.js";
import { typeText } from "../lock/type-text.js";
import { type Position, partsOf, type SchemaIndex, type Type } from "../model/index.js";
import type { StateComparison } from "./comparison.js";

/**
 * Maps the position of a member in the newer schema to the position of the edited alias in its type. Members without
 * such an alias have no entry.
 */
export function changedLines({ typePairs, indexes }: StateComparison): ReadonlyMap<string, Position> {
  return new Map(
    typePairs.flatMap(({ older, newer, at }): [string, Position][] => {
      const changed = changedAlias({ older, newer }, indexes, new Set());
      return changed === undefined ? [] : [[lineKey(at), changed]];
    }),
  );
}

export function lineKey({ file, line, column }: Position): string {
  return `${file}:${line}:${column}`;
}

/**
 * Returns the position of the first alias in a type that stands for another type now. Returns undefined if the text of
 * the type itself differs, or if no alias changed.
 */
function changedAlias(
  { older, newer }: Pair<Type>,
  indexes: Pair<SchemaIndex>,
  seen: Set<string>,
): Position | undefined {
  if (typeText(older) !== typeText(newer)) return undefined;
  if (older.kind === "ref" && newer.kind === "ref" && indexes.older.has(older.target) && !seen.has(newer.target)) {
    seen.add(newer.target);
    const [was, is] = [indexes.older.type(older.target), indexes.newer.type(newer.target)];
    if (was.shape.kind !== is.shape.kind) return is.at;
    if (was.shape.kind === "alias" && is.shape.kind === "alias") {
      const pair = { older: was.shape.type, newer: is.shape.type };
      if (typeText(pair.older) !== typeText(pair.newer)) return is.at;
      const inside = changedAlias(pair, indexes, seen);
      if (inside !== undefined) return inside;
    }
  }
  // Members of an inline shape have lines of their own.
  if (newer.kind === "inline") return undefined;
  const before = partsOf(older);
  for (const [i, part] of partsOf(newer).entries()) {
    const was = before[i];
    const found = was && changedAlias({ older: was, newer: part }, indexes, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}
