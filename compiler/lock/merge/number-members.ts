/**
 * Ids of merged members. Those that the base knows keep theirs. Where both branches gave one id to two members, one of them
 * moves to the next free id: not the one that is published already, else that of theirs. In a rebase the base is an earlier
 * commit of the very branch, whose ids may have moved when that commit was carried over: then what ours says counts.
 */
import { isReserved, type LockedMember } from "../assign-members.js";
import { type MergeVersions, shareAnyName } from "./pair-members.js";

export interface NumberedMembers {
  /** In the order of the members. */
  readonly ids: readonly number[];
  readonly next: number;
}

/**
 * @param next the highest of all versions; it is over every id that they have
 * @param published what others use already; empty if that is not known
 */
export function numberMembers(
  members: readonly MergeVersions<LockedMember>[],
  next: number,
  published: readonly LockedMember[],
): NumberedMembers {
  const ids: (number | undefined)[] = members.map(() => undefined);
  const taken = new Set<number>();
  const claim = (wanted: (member: MergeVersions<LockedMember>) => number | undefined) => {
    for (const [i, member] of members.entries()) {
      const id = wanted(member);
      if (ids[i] !== undefined || id === undefined || taken.has(id)) continue;
      ids[i] = id;
      taken.add(id);
    }
  };
  const claimPublished = (isMeant: (known: LockedMember, member: LockedMember) => boolean) => {
    const isPublished = (member: LockedMember) =>
      published.some((known) => known.id === member.id && shareAnyName(known, member) && isMeant(known, member));
    claim(({ base, ours, theirs }) => [base, ours, theirs].find((member) => member && isPublished(member))?.id);
  };
  claimPublished((known, member) => known.retired === member.retired);
  claimPublished(() => true);
  const givenByOurs = new Set(members.map(({ ours }) => ours?.id));
  claim(({ base }) => (givenByOurs.has(base?.id) ? undefined : base?.id));
  claim(({ ours }) => ours?.id);
  claim(({ theirs }) => theirs?.id);
  let free = next;
  const all = ids.map((id) => {
    if (id !== undefined) return id;
    while (isReserved(free)) free++;
    return free++;
  });
  return { ids: all, next: free };
}
