/** Merges the members of one block, and the parameters of one endpoint. */

import type { LockedMember } from "../assign-members.js";
import type { LockBlock, LockEntry, LockParam, LockParams } from "../lock.js";
import { printEntry, printName } from "../print.js";
import { mergeMember } from "./merge-member.js";
import type { LockConflict, MovedId } from "./merge-result.js";
import { numberMembers } from "./number-members.js";
import { type MergeSide, type MergeVersions, pairMembers, pendingIn } from "./pair-members.js";

export interface MergedEntries {
  readonly entries: readonly LockEntry[];
  readonly next: number;
  readonly moved: readonly MovedId[];
  readonly conflicts: readonly Omit<LockConflict, "block">[];
}

/** @param published the members of the same block in the published lock, if it is known */
export function mergeEntries(
  { base, ours, theirs }: MergeVersions<LockBlock>,
  published: LockBlock | undefined,
): MergedEntries {
  const { kind, name } = (base ?? ours ?? theirs) as LockBlock;
  const lists = { base: base?.entries ?? [], ours: ours?.entries ?? [], theirs: theirs?.entries ?? [] };
  const members = pairMembers(lists, kind === "enum");
  const next = Math.max(...[base, ours, theirs].map((block) => block?.next ?? 1));
  const numbered = numberMembers(members, next, published?.entries ?? []);
  const moved: MovedId[] = [];
  const conflicts: Omit<LockConflict, "block">[] = [];
  const entries = members.map((versions, i) => {
    const id = numbered.ids[i] as number;
    const known = published?.entries.find((entry) => entry.id === id)?.params;
    const our = mergeEntry(versions, id, known, "ours");
    const member = `${name}.${printName(our.entry.name)}`;
    moved.push(
      ...movesOf(versions, member, id),
      ...our.moved.map((move) => ({ ...move, member: `${member}(${move.member})` })),
    );
    if (our.conflicts.length > 0) {
      const their = mergeEntry(versions, id, known, "theirs");
      const why = our.conflicts.join("; ");
      conflicts.push({ member, why, id, ours: printEntry(our.entry), theirs: printEntry(their.entry) });
    }
    return our.entry;
  });
  return { entries, next: numbered.next, moved, conflicts };
}

interface MergedEntry {
  readonly entry: LockEntry;
  readonly moved: readonly MovedId[];
  readonly conflicts: readonly string[];
}

function mergeEntry(
  versions: MergeVersions<LockEntry>,
  id: number,
  published: LockParams | undefined,
  choice: MergeSide,
): MergedEntry {
  const { state: facts, conflicts } = mergeMember(versions, choice, (a, b) => textOf(a.params) !== textOf(b.params));
  const { name, retired, type, was } = facts;
  const entry = { id, name, retired, ...pendingIn(versions), type, was, line: 0 };
  const { base, ours, theirs } = versions;
  if ((ours ?? theirs ?? base)?.params === undefined) return { entry, moved: [], conflicts };
  const params = mergeParams({ base: base?.params, ours: ours?.params, theirs: theirs?.params }, published, choice);
  return {
    entry: { ...entry, params: params.params },
    moved: params.moved,
    conflicts: [...conflicts, ...params.conflicts],
  };
}

function mergeParams(
  { base, ours, theirs }: MergeVersions<LockParams>,
  published: LockParams | undefined,
  choice: MergeSide,
) {
  const lists = { base: membersOf(base), ours: membersOf(ours), theirs: membersOf(theirs) };
  const members = pairMembers(lists, true);
  const next = Math.max(...[base, ours, theirs].map((params) => params?.next ?? 1));
  const numbered = numberMembers(members, next, membersOf(published));
  const moved: MovedId[] = [];
  const conflicts: string[] = [];
  const entries = members.map((versions, i): LockParam => {
    const id = numbered.ids[i] as number;
    const { state: facts, conflicts: found } = mergeMember(versions, choice);
    const { name, retired, type } = facts;
    moved.push(...movesOf(versions, printName(name), id));
    conflicts.push(...found.map((why) => `parameter ${printName((versions.base ?? facts).name)} ${why}`));
    return { id, name, retired, ...pendingIn(versions), type };
  });
  return { params: { next: numbered.next, entries }, moved, conflicts };
}

function membersOf(params: LockParams | undefined): readonly LockedMember[] {
  return (params?.entries ?? []).map((entry) => ({ ...entry, was: [] }));
}

function movesOf({ ours, theirs }: MergeVersions<LockedMember>, member: string, to: number): readonly MovedId[] {
  return Object.entries({ ours, theirs }).flatMap(([side, version]) => {
    if (version === undefined || version.id === to) return [];
    return [{ member, side: side as MergeSide, from: version.id, to, isActor: false }];
  });
}

function textOf(params: LockParams | undefined): string {
  return JSON.stringify(params?.entries.map(({ id, name, retired, type }) => [id, name, retired, type]));
}
