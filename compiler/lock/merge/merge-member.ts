/**
 * Merges one member that both branches know. A property that one branch has changed takes the changed value. A property
 * that both branches have changed differently is a conflict.
 */

import type { LockedMember } from "../assign-members.js";
import type { LockEntry } from "../lock.js";
import type { MergeSide, MergeVersions } from "./pair-members.js";

/** The properties of a member, which are merged one by one. */
export type MemberState = Omit<LockedMember, "id">;

export interface MergedMember {
  readonly state: MemberState;
  /** The contradictions between the branches, in words that follow the member's name: `renamed to …`. */
  readonly conflicts: readonly string[];
}

/**
 * @param choice the side that wins a conflict
 * @param differ returns whether two versions differ in other properties
 */
export function mergeMember<M extends LockedMember>(
  { base, ours, theirs }: MergeVersions<M>,
  choice: MergeSide,
  differ: (a: M, b: M) => boolean = () => false,
): MergedMember {
  const alone = ours === undefined || theirs === undefined;
  // A branch that lacks a member of the base has lost it. A lost member is not a removal.
  if (alone) return { state: memberState(ours ?? theirs, base), conflicts: [] };
  const conflicts: string[] = [];
  const chosen = choice === "ours" ? ours : theirs;
  const choose = (why: string): M => {
    conflicts.push(why);
    return chosen;
  };
  const change = base && changeBesideRemoval(base, ours, theirs, differ);
  if (change !== undefined) {
    return { state: memberState(chosen), conflicts: [change] };
  }
  const names =
    mergeNames(base, ours, theirs) ?? choose(`renamed to ${ours.name} on our side and to ${theirs.name} on theirs`);
  const { type } = mergeTypes(base, ours, theirs) ?? choose(typeConflict(base, ours, theirs));
  const retired = ours.retired === theirs.retired ? ours.retired : !base?.retired;
  return { state: { name: names.name, was: names.was, type, retired }, conflicts };
}

/** Returns the version whose type is used, or undefined if the branches have changed the type differently. */
function mergeTypes<M extends LockedMember>(base: M | undefined, ours: M, theirs: M): M | undefined {
  if (ours.type === theirs.type || base?.type === theirs.type) return ours;
  return base?.type === ours.type ? theirs : undefined;
}

function typeConflict(base: LockedMember | undefined, ours: LockedMember, theirs: LockedMember): string {
  const [our, their] = base === undefined ? ["added as", "as"] : ["changed to", "to"];
  return `${our} ${ours.type} on our side and ${their} ${theirs.type} on theirs`;
}

/**
 * One branch removes the member and the other changes it. The tombstone cannot be kept silently: a branch that keeps
 * the member would get another id.
 */
function changeBesideRemoval<M extends LockedMember>(
  base: M,
  ours: M,
  theirs: M,
  differ: (a: M, b: M) => boolean,
): string | undefined {
  if (base.retired || ours.retired === theirs.retired) return undefined;
  const [kept, keeper, remover] = ours.retired ? [theirs, "theirs", "our side"] : [ours, "our side", "theirs"];
  const changes = [
    ...(kept.name === base.name ? [] : [`renamed to ${kept.name}`]),
    ...(kept.type === base.type ? [] : [`changed to ${kept.type}`]),
    ...(differ(kept, base) ? ["given different parameters"] : []),
  ];
  return changes.length === 0 ? undefined : `removed on ${remover} and ${changes.join(" and ")} on ${keeper}`;
}

/** Returns the name with its former names if one of the two versions continues the other. */
function mergeNames(
  base: LockedMember | undefined,
  ours: LockedMember,
  theirs: LockedMember,
): Pick<LockEntry, "name" | "was"> | undefined {
  if (ours.name === theirs.name) {
    return { name: ours.name, was: [...ours.was, ...theirs.was.filter((name) => !ours.was.includes(name))] };
  }
  if (base?.name === ours.name) return theirs;
  if (base?.name === theirs.name) return ours;
  if (theirs.was.includes(ours.name)) return theirs;
  return ours.was.includes(theirs.name) ? ours : undefined;
}

function memberState(member: LockedMember | undefined, base?: LockedMember): MemberState {
  if (member === undefined) return { ...(base as LockedMember), retired: true };
  return member;
}
