/**
 * Compares a lock with an earlier, published version: ids that have vanished or belong to another member, and removed
 * members beside added members of the same type. The comparison covers edits by hand and bad merges. Pure functions.
 */
import type { BlockKind, Lock, LockBlock, LockEntry } from "./lock.js";
import { pairBlocks } from "./merge/pair-blocks.js";
import { shareAnyName } from "./merge/pair-members.js";
import { printActorId, printBlockHead, printEntry, printName } from "./print.js";

export type LockChange =
  /** An id of the earlier lock that the later lock lacks. */
  | {
      readonly kind: "lost";
      /** The name of the lost id: `id 3 of Entry.ttl`. */
      readonly what: string;
      /** The lines of the earlier lock. */
      readonly lines: readonly string[];
      /** A description of the place to which the lines belong. */
      readonly where: string;
      /** The line number in the later lock. */
      readonly line: number;
    }
  /** An id that belongs to another member in the later lock. */
  | {
      readonly kind: "reused";
      readonly id: number;
      readonly before: string;
      readonly now: string;
      readonly text: string;
      readonly line: number;
    }
  /** A removed and an added member of the same type that no tag relates. */
  | {
      readonly kind: "replaced";
      readonly of: string;
      readonly removed: string;
      readonly added: string;
      readonly line: number;
    };

export function changesSince(before: Lock, now: Lock): readonly LockChange[] {
  return pairBlocks(before.blocks, now.blocks, []).flatMap(({ base, ours }) => {
    if (base === undefined) return [];
    if (ours !== undefined) return blockChanges(base, ours);
    const what = `${base.kind} ${base.name} in ${base.module}, with all its ids,`;
    const lines = [printBlockHead(base), ...base.entries.map(printEntry)];
    return [{ kind: "lost", what, lines, where: "anywhere between other blocks", line: 1 }];
  });
}

function blockChanges(before: LockBlock, now: LockBlock): readonly LockChange[] {
  const changes: LockChange[] = [];
  const { name: of, line } = now;
  if (before.id !== now.id) {
    const what = `id ${printActorId(before.id)} of actor ${of}`;
    changes.push({
      kind: "lost",
      what,
      lines: [printBlockHead(before)],
      where: `in place of \`${printBlockHead(now)}\``,
      line,
    });
  }
  const byId = new Map(now.entries.map((entry) => [entry.id, entry]));
  for (const entry of before.entries) {
    const { id } = entry;
    const found = byId.get(id);
    const name = `${of}.${printName(entry.name)}`;
    if (found === undefined) {
      const where = `below \`${printBlockHead(now)}\``;
      changes.push({ kind: "lost", what: `id ${id} of ${name}`, lines: [printEntry(entry)], where, line });
    } else if (isOtherMember(now.kind, entry, found)) {
      const other = `${of}.${printName(found.name)}`;
      changes.push({ kind: "reused", id, before: name, now: other, text: printEntry(entry), line: found.line });
    } else changes.push(...parameterChanges(name, entry, found));
  }
  return [...changes, ...replacements(before, now)];
}

/** Values of enumerations have their numbers as ids, so a rename leaves no trace in the lock. */
function isOtherMember(kind: BlockKind, before: LockEntry, now: LockEntry): boolean {
  return kind !== "enum" && !shareAnyName(before, now);
}

function parameterChanges(of: string, before: LockEntry, now: LockEntry): readonly LockChange[] {
  const ids = new Set(now.params?.entries.map(({ id }) => id));
  const lost = (before.params?.entries ?? []).filter(({ id }) => !ids.has(id));
  return lost.map(({ id, name, type }) => {
    const lines = [`${id} -${printName(name)}: ${type}`];
    const where = `between the parentheses of \`${printEntry(now).trim()}\``;
    return { kind: "lost", what: `id ${id} of ${of}(${name})`, lines, where, line: now.line };
  });
}

function replacements(before: LockBlock, now: LockBlock): readonly LockChange[] {
  const wasLive = new Set(before.entries.filter(({ retired }) => !retired).map(({ id }) => id));
  const known = new Set(before.entries.map(({ id }) => id));
  const gone = now.entries.filter(({ id, retired }) => retired && wasLive.has(id));
  const come = now.entries.filter(({ id, retired }) => !retired && !known.has(id));
  return come.flatMap((entry): readonly LockChange[] => {
    const i = gone.findIndex(({ type }) => type === entry.type);
    return gone.splice(i, i < 0 ? 0 : 1).map(({ name: removed }) => {
      return { kind: "replaced", of: now.name, removed, added: entry.name, line: entry.line };
    });
  });
}
