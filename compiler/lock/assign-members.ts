/**
 * Assigns ids to the members of one declaration. Known members keep their ids, new members get the next id, and missing
 * members become tombstones. `@id`, `@was` and `@retired` override these rules. The same function handles fields,
 * cases, variants, values, endpoints and parameters.
 */
import type { Position, Tags } from "../model/index.js";
import { maxId, type Pending } from "./lock.js";
import type { LockProblem } from "./lock-problem.js";

/** A member in the schema. */
export interface DeclaredMember {
  readonly name: string;
  readonly type: string;
  readonly tags: Tags;
  readonly at: Position;
}

/** A member in the lock. */
export interface LockedMember extends Pending {
  readonly id: number;
  readonly name: string;
  readonly retired: boolean;
  readonly type: string;
  readonly was: readonly string[];
}

export interface AssignedMembers<E extends LockedMember> {
  /** The ids of the members, in the order of the members. */
  readonly ids: readonly number[];
  readonly next: number;
  /**
   * Known members in the order of the lock, followed by new members. `from` is the locked entry that a member
   * continues.
   */
  readonly entries: readonly (LockedMember & { readonly from?: E; readonly member?: number })[];
}

/**
 * @param of the declaration, for error texts
 * @param next the next free id, above all ids of `locked`
 * @param options.others ids that are in use elsewhere; a new member gets such an id only if `@id` requests it
 * @param options.isInPlace whether the members belong to an inline shape
 */
export function assignMembers<E extends LockedMember>(
  of: string,
  members: readonly DeclaredMember[],
  locked: readonly E[],
  next: number,
  problems: LockProblem[],
  {
    others = new Set(),
    isInPlace = false,
  }: { readonly others?: ReadonlySet<number>; readonly isInPlace?: boolean } = {},
): AssignedMembers<E> {
  const matched = matchMembers(of, members, locked, problems);
  const asked = requestedIds(of, members, matched, locked, problems);
  const taken = new Set([...asked.values(), ...others]);
  let free = next;
  const ids = members.map((_, i) => {
    const known = matched[i]?.id ?? asked.get(i);
    if (known !== undefined) return known;
    while (taken.has(free) || isReserved(free)) free++;
    return free++;
  });
  const kept = locked.map((entry) => continueEntry(entry, members, matched));
  const added = members.flatMap((member, i) =>
    matched[i] === undefined ? [entryOf(member, ids[i] as number, i)] : [],
  );
  reportRenames({ declaration: of, isInPlace }, kept, added, members, problems);
  return { ids, next: Math.max(free, ...ids.map((id) => id + 1), next), entries: [...kept, ...added] };
}

/** Returns whether protobuf reserves the id. */
export function isReserved(id: number): boolean {
  return id >= 19_000 && id <= 19_999;
}

/**
 * Returns the locked entry that each member continues. No two members continue the same entry. Renamed members choose
 * first, so that another member can take the former name of a renamed member.
 */
function matchMembers<E extends LockedMember>(
  of: string,
  members: readonly DeclaredMember[],
  locked: readonly E[],
  problems: LockProblem[],
): readonly (E | undefined)[] {
  const matched: (E | undefined)[] = members.map(() => undefined);
  const holders = new Map<E, string>();
  const take = (i: number, { name }: DeclaredMember, entry: E | undefined) => {
    matched[i] = entry;
    if (entry !== undefined) holders.set(entry, name);
  };
  let tagged = [...members.entries()].filter(([, { tags }]) => tags.was !== undefined);
  for (;;) {
    // If the lock knows a member by its current name, its `@was` has been applied, unless another member continues that
    // entry.
    const renamed = tagged.filter(([, member]) => {
      const own = liveEntry(member.name, locked);
      return own === undefined || holders.has(own);
    });
    if (renamed.length === 0) break;
    for (const [i, member] of renamed) take(i, member, formerEntry(of, member, locked, holders, problems));
    tagged = tagged.filter((entry) => !renamed.includes(entry));
  }
  for (const [i, member] of members.entries()) {
    if (matched[i] !== undefined) continue;
    const { name, tags } = member;
    const own = liveEntry(name, locked) ?? (tags.retired ? locked.find((entry) => entry.name === name) : undefined);
    if (own !== undefined && !holders.has(own)) take(i, member, own);
  }
  return matched;
}

function liveEntry<E extends LockedMember>(name: string, locked: readonly E[]): E | undefined {
  return locked.find((entry) => entry.name === name && !entry.retired);
}

/** Returns the entry with the former name of the member, unless another member continues the entry. */
function formerEntry<E extends LockedMember>(
  of: string,
  { name, tags, at }: DeclaredMember,
  locked: readonly E[],
  holders: ReadonlyMap<E, string>,
  problems: LockProblem[],
): E | undefined {
  const was = tags.was as string;
  const old = locked.findLast((entry) => entry.name === was);
  const holder = old && holders.get(old);
  const member = `${of}.${name}`;
  if (old === undefined) problems.push({ kind: "wasUnknown", at, member, was });
  else if (holder !== undefined) problems.push({ kind: "wasTaken", at, member, was, holder: `${of}.${holder}` });
  return holder === undefined ? old : undefined;
}

function requestedIds<E extends LockedMember>(
  of: string,
  members: readonly DeclaredMember[],
  matched: readonly (E | undefined)[],
  locked: readonly E[],
  problems: LockProblem[],
): ReadonlyMap<number, number> {
  const asked = new Map<number, number>();
  const holders = new Map<number, { readonly name: string; readonly retired: boolean }>();
  for (const entry of locked) holders.set(entry.id, entry);
  for (const [i, { name, tags, at }] of members.entries()) {
    const { id } = tags;
    if (id === undefined) continue;
    const member = `${of}.${name}`;
    const known = matched[i];
    const holder = holders.get(id);
    if (known !== undefined) {
      if (known.id !== id) problems.push({ kind: "idChanged", at, member, locked: known.id, asked: id });
    } else if (!Number.isInteger(id) || id < 1 || id > maxId || isReserved(id)) {
      problems.push({ kind: "idRange", at, member, id });
    } else if (holder !== undefined) {
      problems.push({ kind: "idTaken", at, member, id, holder: `${of}.${holder.name}`, retired: holder.retired });
    } else {
      asked.set(i, id);
      holders.set(id, { name, retired: false });
    }
  }
  return asked;
}

function continueEntry<E extends LockedMember>(
  entry: E,
  members: readonly DeclaredMember[],
  matched: readonly (E | undefined)[],
): LockedMember & { readonly from: E; readonly member?: number } {
  const i = matched.indexOf(entry);
  const member = members[i];
  if (member === undefined) return { ...withoutState(entry), retired: true, from: entry };
  const was = member.name === entry.name ? entry.was : [...entry.was, entry.name];
  return {
    id: entry.id,
    name: member.name,
    retired: member.tags.retired ?? false,
    type: member.type,
    was,
    from: entry,
    member: i,
  };
}

function withoutState({ id, name, type, was }: LockedMember): Omit<LockedMember, "retired"> {
  return { id, name, type, was };
}

function entryOf(
  { name, type, tags }: DeclaredMember,
  id: number,
  member: number,
): LockedMember & { readonly member: number } {
  return { id, name, type, retired: tags.retired ?? false, was: [], member };
}

/** Reports a removed and an added member of the same type that no tag relates. */
function reportRenames(
  of: { readonly declaration: string; readonly isInPlace: boolean },
  kept: readonly (LockedMember & { readonly from: LockedMember })[],
  added: readonly (LockedMember & { readonly member: number })[],
  members: readonly DeclaredMember[],
  problems: LockProblem[],
): void {
  const removed = kept.filter(({ retired, from, member }: LockedMember & { from: LockedMember; member?: number }) => {
    return retired && !from.retired && member === undefined;
  });
  for (const { name, type, member } of added) {
    const candidate = removed.findIndex((gone) => gone.type === type);
    const source = members[member] as DeclaredMember;
    if (candidate < 0 || source.tags.id !== undefined) continue;
    for (const gone of removed.splice(candidate, 1)) {
      problems.push({ kind: "ambiguousRename", at: source.at, ...of, removed: gone.name, added: name });
    }
  }
}
