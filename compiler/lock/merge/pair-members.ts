/**
 * Which members of two branches, and of the version that both come from, are the same one. An id alone does not tell: both
 * branches may have given it. A name alone does not either: members are renamed.
 */

import type { LockedMember } from "../assign-members.js";
import type { Pending } from "../lock.js";

/** One member, as far as each version knows it. */
export type MergeVersions<M> = Readonly<Record<MergeSide | "base", M | undefined>>;

export type MergeSide = "ours" | "theirs";

/**
 * Those of the base first, in its order, then those of ours, then those of theirs alone.
 * @param idIsIdentity where renames leave no trace: parameters, and values of enums, whose numbers are their ids
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

/** What continues which member of the base, and what is new. */
function pairWithBase<M extends LockedMember>(
  base: readonly M[],
  side: readonly M[],
  idIsIdentity: boolean,
): readonly [ReadonlyMap<M, M>, readonly M[]] {
  const found = new Map<M, M>();
  const left = new Set(side);
  takeMatches(base, left, found, (a, b) => a.id === b.id && shareAnyName(a, b));
  // Its id has been moved by another merge.
  takeMatches(base, left, found, (a, b) => a.name === b.name && a.retired === b.retired);
  if (idIsIdentity) takeMatches(base, left, found, (a, b) => a.id === b.id);
  return [found, [...left]];
}

/** Gives each of `from` that has none yet the first of `left` that is the same, and takes it away there. */
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

/** A member is pending only if no version has published it. */
export function pendingIn({ base, ours, theirs }: MergeVersions<Pending>): Pending {
  const known = [base, ours, theirs].filter((version) => version !== undefined);
  return known.every(({ pending }) => pending) ? { pending: true } : {};
}

/** They share a name, now or once. */
export function shareAnyName(a: Pick<LockedMember, "name" | "was">, b: Pick<LockedMember, "name" | "was">): boolean {
  const names = [a.name, ...a.was];
  return [b.name, ...b.was].some((name) => names.includes(name));
}
