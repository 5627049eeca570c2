/** Checks the lock while a breaking change waits to be accepted: published lines stay, and new ids are taken. */
import { expect, test } from "vitest";
import {
  assignIds,
  hasPending,
  holdBack,
  type Lock,
  parseLock,
  printLock,
  publishedLock,
} from "../../../compiler/lock/index.js";
import { lockHeaderFormat2 } from "../../../compiler/lock/print.js";
import { schema } from "./schema.js";

function lockOf(...lines: readonly string[]): Lock {
  const { lock, problems } = parseLock("viceroy.lock", [lockHeaderFormat2, ...lines, ""].join("\n"));
  expect(problems).toEqual([]);
  return lock;
}

const lines = (lock: Lock) => printLock(lock).trimEnd().split("\n").slice(1);
const store = "actor Store in schemas/a 0x00000001";
const create = "  0 new next=1 () -> void";
const accepted = "accepted VC5001 Entry.key: its type was string and is int32: neither side finds the other's value";

test("holdBack keeps published members unchanged and adds new members as pending with their ids", () => {
  const lock = lockOf(
    ...[`${store} next=3`, create, "  1 get next=2 (1 key: string) -> void", "  2 put next=9 (1 key: string) -> void"],
    ...["message Entry in schemas/a next=3", "  1 key string", "  2 ttl int32"],
    ...["message Gone in schemas/a next=2", "  1 key string"],
    ...["message Wide in schemas/a next=9", "  1 key string"],
  );
  const next = lockOf(
    accepted,
    ...[`${store} next=4`, create],
    ...["  1 get next=3 (1 key: int32, 2 limit: int32) -> Entry", "  2 -put next=3 (1 key: string) -> void"],
    "  3 list next=1 () -> void",
    ...["message Entry in schemas/a next=4", "  1 key int32", "  2 -ttl int32", "  3 size int32"],
    ...["message New in schemas/b next=2", "  1 key string"],
    ...["message Wide in schemas/a next=3", "  2 more string"],
  );
  expect(lines(holdBack(lock, next))).toEqual([
    accepted,
    ...["message Entry in schemas/a next=4", "  1 key string", "  2 ttl int32", "  3 +size int32"],
    ...["message Gone in schemas/a next=2", "  1 key string"],
    ...[`${store} next=4`, create],
    ...["  1 get next=3 (1 key: string, 2 +limit: int32) -> void", "  2 put next=9 (1 key: string) -> void"],
    "  3 +list next=1 () -> void",
    ...["message Wide in schemas/a next=9", "  1 key string", "  2 +more string"],
    ...["+message New in schemas/b next=2", "  1 key string"],
  ]);
});

test("holdBack updates members that are already pending to the current schema", () => {
  const lock = lockOf(
    ...["+message Draft in schemas/a next=2", "  1 note string"],
    ...["message Entry in schemas/a next=4", "  1 key string", "  2 +size int32", "  3 +left int32"],
  );
  const next = lockOf(
    ...["message Draft in schemas/a next=3", "  1 note int32", "  2 more string"],
    ...["message Entry in schemas/a next=5", "  1 key string", "  2 bytes int64", "  4 owner string"],
  );
  expect(lines(holdBack(lock, next))).toEqual([
    ...["+message Draft in schemas/a next=3", "  1 note int32", "  2 more string"],
    ...["message Entry in schemas/a next=5", "  1 key string", "  2 +bytes int64", "  4 +owner string"],
  ]);
});

const pending = [
  ...["+message Draft in schemas/a next=2", "  1 note string"],
  ...["message Entry in schemas/a next=3", "  1 key string", "  2 +size int32"],
  ...[
    `${store} next=3`,
    create,
    "  1 get next=3 (1 key: string, 2 +limit: int32) -> void",
    "  2 +put next=1 () -> void",
  ],
];

test("publishedLock returns the lock without its pending members", () => {
  const lock = lockOf(accepted, ...pending);
  expect(lines(publishedLock(lock))).toEqual([
    accepted,
    ...["message Entry in schemas/a next=3", "  1 key string"],
    ...[`${store} next=3`, create, "  1 get next=3 (1 key: string) -> void"],
  ]);
  const published = publishedLock(lock);
  expect(publishedLock(published)).toBe(published);
});

test.each([
  { what: "a declaration", only: pending.slice(0, 2) },
  { what: "a member", only: pending.slice(2, 5) },
  { what: "a parameter", only: [...pending.slice(5, 8)] },
])("hasPending is true for $what that is pending, and false when none is", ({ only }) => {
  const other = ["message Other in schemas/c next=2", "  1 key string"];
  expect(hasPending(lockOf(...only, ...other))).toBe(true);
  expect(hasPending(lockOf(...only.map((line) => line.replaceAll("+", "")), ...other))).toBe(false);
  // The id of a tombstone is taken for ever, so a tombstone is not pending.
  expect(hasPending(lockOf(...only.map((line) => line.replaceAll("+", "-")), ...other))).toBe(false);
});

test("pending members become ordinary tombstones when their declaration is removed", () => {
  const { lock } = assignIds(schema([]), lockOf(accepted, ...pending));
  expect(lines(lock)).toEqual([
    accepted,
    ...["-message Draft in schemas/a next=2", "  1 note string"],
    ...["-message Entry in schemas/a next=3", "  1 key string", "  2 size int32"],
    ...[
      `-${store} next=3`,
      create,
      "  1 get next=3 (1 key: string, 2 limit: int32) -> void",
      "  2 put next=1 () -> void",
    ],
  ]);
  expect(JSON.stringify(lock)).not.toContain("pending");
});
