/**
 * Pairs the members of two branches with those of their common base. An id alone does not identify a member, because
 * both branches can have assigned it. A name alone does not either, because members are renamed.
 */

import type { LockedMember } from "../assign-members.js";
import type { Pending } from "../lock.js";

/** The versions of one member in the base and in both branches. */
export type MergeVersions<M> = Readonly<Record<MergeSide | "base", M | undefined>>;

export type MergeSide = "ours" | "theirs";

/**
 * Returns the members of the base in its order, then the new members of ours, then the members that only theirs has.
 * @param idIsIdentity whether the id alone identifies a member: for parameters and enumeration values, whose renames
 * leave no trace
 */
export function pairMembers<M extends LockedMember>(
  { base, ours, theirs }: Readonly<Record<MergeSide | "base", readonly M[]>>,
  idIsIdentity: boolean,
): readonly MergeVersions<M>[] {
  const [ourKnown, ourNew] = pairWithBase(base, ours, idIsIdentity);
  const [theirKnown, theirNew] = pairWithBase(base, theirs, idIsIdentity);
  const known = base.map((member) => ({ base: member, ours: ourKnown.get(member), theirs: theirKnown.get(member) }));
  const twins = new Map<M, M>();
  const left = new Set(theirNew);
  takeMatches(ourNew, left, twins, (a, b) => a.id === b.id && a.retired === b.retired && shareAnyName(a, b));
  takeMatches(ourNew, left, twins, (a, b) => a.name === b.name && a.retired === b.retired);
  return [
    ...known,
    ...ourNew.map((member) => ({ base: undefined, ours: member, theirs: twins.get(member) })),
    ...[...left].map((member) => ({ base: undefined, ours: undefined, theirs: member })),
  ];
}

/** Finds the members that continue a member of the base, and the new members. */
function pairWithBase<M extends LockedMember>(
  base: readonly M[],
  side: readonly M[],
  idIsIdentity: boolean,
): readonly [ReadonlyMap<M, M>, readonly M[]] {
  const found = new Map<M, M>();
  const left = new Set(side);
  takeMatches(base, left, found, (a, b) => a.id === b.id && shareAnyName(a, b));
  // Another merge has changed the id of this member.
  takeMatches(base, left, found, (a, b) => a.name === b.name && a.retired === b.retired);
  if (idIsIdentity) takeMatches(base, left, found, (a, b) => a.id === b.id);
  return [found, [...left]];
}

/**
 * Pairs each unpaired element of `from` with the first equal element of `left`, and removes that element from `left`.
 */
function takeMatches<M>(from: readonly M[], left: Set<M>, found: Map<M, M>, isSame: (a: M, b: M) => boolean): void {
  for (const member of from) {
    if (found.has(member)) continue;
    for (const candidate of left) {
      if (!isSame(member, candidate)) continue;
      found.set(member, candidate);
      left.delete(candidate);
      break;
    }
  }
}

/** Returns the pending mark. A member is pending only if no version has published it. */
export function pendingIn({ base, ours, theirs }: MergeVersions<Pending>): Pending {
  const known = [base, ours, theirs].filter((version) => version !== undefined);
  return known.every(({ pending }) => pending) ? { pending: true } : {};
}

/** Returns whether two members share a current or former name. */
export function shareAnyName(a: Pick<LockedMember, "name" | "was">, b: Pick<LockedMember, "name" | "was">): boolean {
  const names = [a.name, ...a.was];
  return [b.name, ...b.was].some((name) => names.includes(name));
}
