/**
 * Assigns the ids of merged members. Members of the base keep their ids. If both branches have assigned one id to two
 * members, the published member keeps it, otherwise ours does; the other member moves to the next free id. In a rebase,
 * the base is an earlier commit of the rebased branch, whose ids can have changed when that commit was rebased.
 * Therefore an id that ours has assigned takes precedence over the base.
 */
import { isReserved, type LockedMember } from "../assign-members.js";
import { type MergeVersions, shareAnyName } from "./pair-members.js";

export interface NumberedMembers {
  /** The ids, in the order of the members. */
  readonly ids: readonly number[];
  readonly next: number;
}

/**
 * @param next the highest `next` of all versions, which is above all their ids
 * @param published the members of the published lock; empty if it is unknown
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
