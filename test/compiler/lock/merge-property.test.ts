/** Checks with random edits of two branches that the merged lock keeps the guarantees of both locks. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  assignIds,
  type Lock,
  type LockBlock,
  type LockEntry,
  mergeLocks,
  mergeLockTexts,
  parseLock,
  printLock,
} from "../../../compiler/lock/index.js";
import type { Tags, Type } from "../../../compiler/model/index.js";
import { cases } from "../../profile.js";
import { actor, at, declare, endpoint, field, int32, message, param, schema, string } from "./schema.js";

type Declared = Readonly<Record<string, Readonly<Record<string, Member>>>>;

interface Member {
  readonly type: "string" | "int32";
  readonly was?: string;
}

/** The change that one commit makes to a declaration. */
type Edit =
  | { readonly kind: "add"; readonly of: string; readonly name: string }
  | { readonly kind: "remove"; readonly of: string; readonly name: string }
  | { readonly kind: "retype"; readonly of: string; readonly name: string }
  | { readonly kind: "rename"; readonly of: string; readonly name: string; readonly to: string }
  | { readonly kind: "drop"; readonly of: string }
  | { readonly kind: "declare"; readonly of: string };

const declarations = ["Entry", "Order", "Store", "Kind"];
const names = ["a", "b", "c", "d", "e"];
const of = fc.constantFrom(...declarations);
const name = fc.constantFrom(...names);
const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("add" as const), of, name }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove" as const), of, name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("retype" as const), of, name }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("rename" as const), of, name, to: name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("drop" as const), of }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("declare" as const), of }) },
);
const branch = fc.array(edit, { maxLength: 8 });

function apply(declared: Declared, edit: Edit): Declared {
  if (edit.kind === "drop") return Object.fromEntries(Object.entries(declared).filter(([key]) => key !== edit.of));
  const members = declared[edit.of];
  if (edit.kind === "declare") return { ...declared, [edit.of]: members ?? { a: { type: "string" } } };
  if (members === undefined) return declared;
  const here = members[edit.name];
  const { [edit.name]: _, ...others } = members;
  switch (edit.kind) {
    case "add":
      return { ...declared, [edit.of]: { ...members, [edit.name]: here ?? { type: "string" } } };
    case "remove":
      return { ...declared, [edit.of]: others };
    case "retype":
      if (here === undefined) return declared;
      return {
        ...declared,
        [edit.of]: { ...members, [edit.name]: { type: here.type === "int32" ? "string" : "int32" } },
      };
    case "rename":
      if (here === undefined || edit.to in members) return declared;
      return { ...declared, [edit.of]: { ...others, [edit.to]: { ...here, was: edit.name } } };
  }
}

function schemaOf(declared: Declared) {
  const members = (of: string) => Object.entries(declared[of] ?? {});
  const typeOf = ({ type }: Member): Type => (type === "string" ? string : int32);
  const tagsOf = ({ was }: Member): Tags => (was === undefined ? {} : { was });
  const fields = (of: string) => members(of).map(([name, it]) => field(name, typeOf(it), tagsOf(it)));
  const types = [
    ...(declared["Entry"] ? [message("Entry", ...fields("Entry"))] : []),
    ...(declared["Order"] ? [message("Order", ...fields("Order"))] : []),
    ...(declared["Kind"]
      ? [
          declare("Kind", {
            kind: "enum",
            origin: "literals",
            values: members("Kind").map(([name]) => ({ name, id: 0, value: name, doc: "", at })),
          }),
        ]
      : []),
  ];
  const endpoints = members("Store").map(([name, it]) => {
    return endpoint(
      name,
      it.type === "string" ? [param("key")] : [param("key"), param(`${name}2`, int32)],
      int32,
      tagsOf(it),
    );
  });
  return schema(types, declared["Store"] ? [actor("Store", [], ...endpoints)] : []);
}

/** The lock after each commit is written and read, as between two runs of the compiler. */
function grow(from: Declared, lock: Lock | undefined, edits: readonly Edit[]): readonly [Declared, Lock] {
  let declared = from;
  let grown = assigned(declared, lock);
  for (const edit of edits) {
    declared = apply(declared, edit);
    grown = assigned(declared, grown);
  }
  return [declared, grown];
}

function assigned(declared: Declared, lock: Lock | undefined): Lock {
  const { problems, lines } = parsed(printLock(assignIds(schemaOf(declared), lock).lock));
  expect(problems).toEqual([]);
  return lines;
}

function parsed(text: string) {
  const { lock, problems } = parseLock("viceroy.lock", text);
  return { lines: lock, problems };
}

function blockOf(lock: Lock, { kind, name, module }: LockBlock): LockBlock | undefined {
  return lock.blocks.find((it) => it.kind === kind && it.name === name && it.module === module);
}

function isSame(a: Pick<LockEntry, "name" | "was">, b: Pick<LockEntry, "name" | "was">): boolean {
  return [a.name, ...a.was].some((name) => name === b.name || b.was.includes(name));
}

/** The contents of a lock without ids: two merges that may differ only in ids have the same contents. */
function content(lock: Lock): readonly string[] {
  return lock.blocks
    .flatMap(({ name, retired, entries }) => [
      `${name} ${retired}`,
      ...entries.map((entry) => {
        const params = entry.params?.entries.map((it) => `${it.name}:${it.type}:${it.retired}`).sort();
        return `${name}.${entry.name} ${entry.retired} ${entry.type} ${[...entry.was].sort()} ${params}`;
      }),
    ])
    .sort();
}

const start: Declared = {
  Entry: { a: { type: "string" } },
  Store: { b: { type: "string" } },
  Kind: { a: { type: "string" } },
};

test("a merge gives no id twice, keeps ids of the base and tombstones, and does not depend on the sides' order", () => {
  fc.assert(
    fc.property(branch, branch, branch, fc.boolean(), (before, our, their, isPublished) => {
      const [declared, base] = grow(start, undefined, before);
      const [, ours] = grow(declared, base, our);
      const [, theirs] = grow(declared, base, their);
      const published = isPublished ? { published: theirs } : {};
      const merged = mergeLocks({ base, ours, theirs, ...published });
      const { lines, problems } = parsed(printLock(merged.lock));
      // The parser reports duplicate ids, duplicate blocks and a `next` that is too low.
      expect(problems).toEqual([]);
      for (const block of base.blocks) {
        const after = blockOf(lines, block)!;
        expect(after.id).toBe(block.id);
        expect(after.next).toBeGreaterThanOrEqual(block.next);
        for (const entry of block.entries) {
          const kept = after.entries.find(({ id }) => id === entry.id)!;
          expect(isSame(kept, entry)).toBe(true);
        }
      }
      for (const [side, lock] of Object.entries({ ours, theirs })) {
        for (const block of lock.blocks) {
          const after = blockOf(lines, block)!;
          for (const entry of block.entries) {
            const move = merged.moved.find(
              (it) => it.side === side && it.member === `${block.name}.${entry.name}` && it.from === entry.id,
            );
            const kept = after.entries.find(({ id }) => id === (move?.to ?? entry.id));
            const isTorn = merged.conflicts.some((it) => it.block.name === block.name && it.id === kept?.id);
            expect(kept !== undefined && (isTorn || isSame(kept, entry)), `${side} ${block.name}.${entry.name}`).toBe(
              true,
            );
            // A tombstone stays one, unless the other side has brought the member back, or both contradict each other.
            const other = blockOf(lock === ours ? theirs : ours, block)?.entries.find(({ id }) => id === entry.id);
            const wasThere = blockOf(base, block)?.entries.find(({ id }) => id === entry.id);
            const isRevived = other !== undefined && !other.retired && wasThere?.retired === true;
            if (entry.retired && !isTorn && !isRevived) expect(kept?.retired).toBe(true);
          }
          if (isPublished && side === "theirs") {
            expect(merged.moved.filter((it) => it.side === "theirs" && it.member.startsWith(block.name))).toEqual([]);
          }
        }
      }
      const swapped = mergeLocks({ base, ours: theirs, theirs: ours, ...published });
      expect(swapped.conflicts.length).toBe(merged.conflicts.length);
      if (merged.conflicts.length === 0) expect(content(swapped.lock)).toEqual(content(merged.lock));
    }),
    { numRuns: cases(1_000) },
  );
});

test("a merge with an unchanged or identically changed side returns the changed lock", () => {
  fc.assert(
    fc.property(branch, branch, (before, after) => {
      const [declared, base] = grow(start, undefined, before);
      const [, changed] = grow(declared, base, after);
      for (const [ours, theirs] of [
        [changed, base],
        [base, changed],
        [changed, changed],
      ] as const) {
        const texts = { base: printLock(base), ours: printLock(ours), theirs: printLock(theirs), published: undefined };
        const merged = mergeLockTexts(texts, ({ kind }) => kind);
        expect(merged).toEqual({ text: printLock(changed), moved: [], conflicts: [] });
      }
    }),
    { numRuns: cases(300) },
  );
});
