/**
 * Ids of merged members. Those of the base keep theirs. Where both branches gave one id to two members, one of them moves
 * to the next free id: not the one that is published already, else that of theirs.
 */
import { isReserved, type Locked } from "../members.js";
import { areRelated, type Versions } from "./pair.js";

export interface NumberedMembers {
  /** In the order of the members. */
  readonly ids: readonly number[];
  readonly next: number;
}

/**
 * @param next the highest of all versions
 * @param published what others use already; empty if that is not known
 */
export function numberMembers(
  members: readonly Versions<Locked>[],
  next: number,
  published: readonly Locked[],
): NumberedMembers {
  const ids = members.map(({ base }) => base?.id);
  const taken = new Set(ids);
  const claim = (wanted: (member: Versions<Locked>) => number | undefined) => {
    for (const [i, member] of members.entries()) {
      const id = wanted(member);
      if (ids[i] !== undefined || id === undefined || taken.has(id)) continue;
      ids[i] = id;
      taken.add(id);
    }
  };
  claim(({ ours, theirs }) => [ours, theirs].find((member) => member && isAmong(published, member))?.id);
  claim(({ ours }) => ours?.id);
  claim(({ theirs }) => theirs?.id);
  const given = ids.filter((id) => id !== undefined);
  let free = Math.max(next, 1, ...given.map((id) => id + 1));
  const all = ids.map((id) => {
    if (id !== undefined) return id;
    while (isReserved(free)) free++;
    return free++;
  });
  return { ids: all, next: free };
}

function isAmong(published: readonly Locked[], member: Locked): boolean {
  return published.some((known) => known.id === member.id && areRelated(known, member));
}
