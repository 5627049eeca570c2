import { expect, test } from "vitest";
import { changesSince, parseLock } from "../../../compiler/lock/index.js";
import { lockHeader, lockHeaderFormat2 } from "../../../compiler/lock/print.js";
import { merge, text } from "./merged.js";

const base = text("message Entry in schemas/a next=3", "  1 key string", "  2 ttl int32");
const head = (next: number) => `message Entry in schemas/a next=${next}`;

test("a merge keeps the additions of both sides, and moves the id of theirs where both gave the same id", () => {
  const ours = text(head(4), "  1 key string", "  2 ttl int32", "  3 size int32");
  const theirs = text(head(5), "  1 key string", "  2 ttl int32", "  3 owner string", "  4 note string");
  const { lines, moved } = merge(base, ours, theirs);
  expect(lines).toEqual([
    head(6),
    "  1 key string",
    "  2 ttl int32",
    "  3 size int32",
    "  4 note string",
    "  5 owner string",
  ]);
  expect(moved).toEqual([{ member: "Entry.owner", side: "theirs", from: 3, to: 5, isActor: false }]);
});

test("a published member keeps its id, whichever side it is on", () => {
  const ours = text(head(4), "  1 key string", "  2 ttl int32", "  3 size int32");
  const theirs = text(head(4), "  1 key string", "  2 ttl int32", "  3 owner string");
  const expected = [head(5), "  1 key string", "  2 ttl int32", "  3 owner string", "  4 size int32"];
  expect(merge(base, ours, theirs, theirs)).toMatchObject({
    lines: expected,
    moved: [{ member: "Entry.size", side: "ours", from: 3, to: 4 }],
  });
  expect(merge(base, theirs, ours, theirs)).toMatchObject({ lines: expected, moved: [{ side: "theirs" }] });
});

test("a member that both sides have added is one member, even when its ids differ", () => {
  const ours = text(head(5), "  1 key string", "  2 ttl int32", "  3 size int32", "  4 owner string");
  const theirs = text(head(4), "  1 key string", "  2 ttl int32", "  3 owner string");
  const { lines, moved } = merge(base, ours, theirs);
  expect(lines).toEqual([head(5), "  1 key string", "  2 ttl int32", "  3 size int32", "  4 owner string"]);
  expect(moved).toEqual([{ member: "Entry.owner", side: "theirs", from: 3, to: 4, isActor: false }]);
  expect(merge(base, theirs, theirs)).toMatchObject({ text: theirs, moved: [], conflicts: [] });
});

test("a removal on one side is a removal after the merge, and a tombstone that a side lacks comes back", () => {
  const removed = text(head(3), "  1 key string", "  2 -ttl int32");
  expect(merge(base, removed, base).text).toBe(removed);
  expect(merge(base, base, removed).text).toBe(removed);
  const forgotten = text(head(3), "  1 key string");
  expect(merge(removed, forgotten, removed).text).toBe(removed);
  expect(merge(removed, forgotten, forgotten).text).toBe(removed);
  expect(merge(removed, text(), text()).lines).toEqual([`-${head(3)}`, "  1 -key string", "  2 -ttl int32"]);
});

test("a tombstone on one side and a member of the same name on the other are separate entries", () => {
  const ours = text(head(4), "  1 key string", "  2 ttl int32", "  3 -note string");
  const theirs = text(head(4), "  1 key string", "  2 ttl int32", "  3 note string");
  expect(merge(base, ours, theirs).lines).toEqual([
    head(5),
    "  1 key string",
    "  2 ttl int32",
    "  3 -note string",
    "  4 note string",
  ]);
});

test("a rename on one side merges with a change of type on the other", () => {
  const renamed = text(head(3), "  1 key string", "  2 expiry int32 was=ttl");
  const widened = text(head(3), "  1 key string", "  2 ttl int64?");
  const expected = text(head(3), "  1 key string", "  2 expiry int64? was=ttl");
  expect(merge(base, renamed, widened).text).toBe(expected);
  expect(merge(base, widened, renamed).text).toBe(expected);
  const further = text(head(3), "  1 key string", "  2 deadline int32 was=ttl,expiry");
  expect(merge(base, renamed, further).text).toBe(further);
  expect(merge(base, further, renamed).text).toBe(further);
});

test.each([
  {
    what: "two renames",
    ours: "  2 expiry int32 was=ttl",
    theirs: "  2 lifetime int32 was=ttl",
    why: "renamed to expiry on our side and to lifetime on theirs",
  },
  {
    what: "two changes of type",
    ours: "  2 ttl int64",
    theirs: "  2 ttl double",
    why: "changed to int64 on our side and to double on theirs",
  },
  {
    what: "a removal and a change of type",
    ours: "  2 -ttl int32",
    theirs: "  2 ttl int64",
    why: "removed on our side and changed to int64 on theirs",
  },
  {
    what: "a rename with a change of type, and a removal",
    ours: "  2 expiry int64 was=ttl",
    theirs: "  2 -ttl int32",
    why: "removed on theirs and renamed to expiry and changed to int64 on our side",
  },
])("$what of one member are a conflict with both lines marked, and other edits are merged", ({ ours, theirs, why }) => {
  const name = /\d (-?\w+)/.exec(ours)?.[1]?.replace("-", "");
  const merged = merge(
    base,
    text(head(3), "  1 key string", ours),
    text(head(4), "  1 key string", theirs, "  3 note string"),
  );
  expect(merged.conflicts).toEqual([`Entry.${name}: ${why}`]);
  const marked = ["<<<<<<< ours", ours, "=======", theirs, ">>>>>>> theirs"];
  expect(merged.lines).toEqual([head(4), "  1 key string", ...marked, "  3 note string"]);
  expect(parseLock("viceroy.lock", merged.text).problems).toEqual([
    { kind: "lockConflict", at: { file: "viceroy.lock", line: 4, column: 1 } },
  ]);
});

test("a member that both sides have added with different types is a conflict", () => {
  const added = (type: string) => text(head(4), "  1 key string", "  2 ttl int32", `  3 note ${type}`);
  expect(merge(base, added("string"), added("bytes")).conflicts).toEqual([
    "Entry.note: added as string on our side and as bytes on theirs",
  ]);
});

const store = (next: number, ...endpoints: readonly string[]) =>
  text(`actor Store in schemas/a 0x00000001 next=${next}`, "  0 new next=1 () -> void", ...endpoints);

test("parameters are merged like members", () => {
  const before = store(2, "  1 get next=2 (1 key: string) -> void");
  const ours = store(2, "  1 get next=3 (1 key: string, 2 limit: int32?) -> void");
  const theirs = store(2, "  1 get next=4 (1 id: string, 2 offset: int32?, 3 -page: int32) -> Entry");
  expect(merge(before, ours, theirs)).toMatchObject({
    text: store(2, "  1 get next=5 (1 id: string, 2 limit: int32?, 4 offset: int32?, 3 -page: int32) -> Entry"),
    moved: [{ member: "Store.get(offset)", side: "theirs", from: 2, to: 4 }],
  });
  const torn = store(2, "  1 get next=2 (1 name: string) -> void");
  expect(merge(before, torn, theirs).conflicts).toEqual([
    "Store.get: parameter key renamed to name on our side and to id on theirs",
  ]);
  expect(merge(before, store(2, "  1 -get next=2 (1 key: string) -> void"), ours).conflicts).toEqual([
    "Store.get: removed on our side and given different parameters on theirs",
  ]);
});

test("of two actors with the same id the one of theirs draws a new id, unless it is published", () => {
  const ours = text("actor Ours in schemas/a 0x00000007 next=1", "  0 new next=1 () -> void");
  const theirs = text("actor Theirs in schemas/b 0x00000007 next=1", "  0 new next=1 () -> void");
  const { lines, moved } = merge("", ours, theirs);
  expect(lines[0]).toBe("actor Ours in schemas/a 0x00000007 next=1");
  expect(lines[2]).toMatch(/^actor Theirs in schemas\/b 0x(?!00000007)[0-9a-f]{8} next=1$/);
  expect(moved).toMatchObject([{ member: "Theirs", side: "theirs", from: 7, isActor: true }]);
  expect(merge("", ours, theirs, theirs).moved).toMatchObject([{ member: "Ours", side: "ours", from: 7 }]);
});

test("a merge keeps blocks that only one side has, and follows a declaration that moves to another file", () => {
  const ours = text("message Entry in schemas/b next=3", "  1 key string", "  2 ttl int32");
  const theirs = text(
    head(4),
    "  1 key string",
    "  2 ttl int32",
    "  3 note string",
    "union Event in schemas/c next=2",
    "  1 a A",
  );
  expect(merge(base, ours, theirs).lines).toEqual([
    "message Entry in schemas/b next=4",
    "  1 key string",
    "  2 ttl int32",
    "  3 note string",
    "union Event in schemas/c next=2",
    "  1 a A",
  ]);
  const elsewhere = text("message Entry in schemas/d next=3", "  1 key string", "  2 ttl int32");
  const torn = merge(base, ours, elsewhere);
  expect(torn.conflicts).toEqual(["Entry: moved to schemas/b on our side and to schemas/d on theirs"]);
  expect(torn.lines.slice(0, 5)).toEqual([
    "<<<<<<< ours",
    "message Entry in schemas/b next=3",
    "=======",
    "message Entry in schemas/d next=3",
    ">>>>>>> theirs",
  ]);
});

test("a removed declaration to which the other side has added stays removed, with all its ids", () => {
  const removed = text(`-${head(3)}`, "  1 key string", "  2 ttl int32");
  const added = text(head(4), "  1 key string", "  2 ttl int32", "  3 note string");
  expect(merge(base, removed, added).lines).toEqual([
    `-${head(4)}`,
    "  1 key string",
    "  2 ttl int32",
    "  3 note string",
  ]);
});

test("ids that earlier merges have moved stay consistent: as in ours, or as they are published", () => {
  // One earlier merge has moved the id of `owner`, the other the id of `size`.
  const one = text(head(5), "  1 key string", "  2 ttl int32", "  3 size int32", "  4 owner string");
  const other = text(head(5), "  1 key string", "  2 ttl int32", "  3 owner string", "  4 size int32");
  expect(merge(one, one, other)).toMatchObject({ text: one, conflicts: [] });
  expect(merge(other, one, other)).toMatchObject({ text: one, conflicts: [] });
  expect(merge(one, one, other, other)).toMatchObject({ text: other, conflicts: [] });
});

test("a rebase keeps an id that moved in an earlier step, although the base still has the old id", () => {
  const first = text(head(4), "  1 key string", "  2 ttl int32", "  3 owner string");
  const carried = text(head(5), "  1 key string", "  2 ttl int32", "  3 size int32", "  4 owner string");
  const second = text(head(5), "  1 key string", "  2 ttl int32", "  3 owner string", "  4 note string");
  const expected = [
    head(6),
    "  1 key string",
    "  2 ttl int32",
    "  3 size int32",
    "  4 owner string",
    "  5 note string",
  ];
  expect(merge(first, carried, second).lines).toEqual(expected);
  const main = text(head(4), "  1 key string", "  2 ttl int32", "  3 size int32");
  expect(merge(first, carried, second, main).lines).toEqual(expected);
});

test("a base with conflict marks, as git makes of several bases, is read as its first side", () => {
  const marked = base.replace(
    "  2 ttl int32",
    "<<<<<<<<< ours\n  2 ttl int32\n=========\n  2 -ttl int32\n>>>>>>>>> theirs",
  );
  const ours = text(head(4), "  1 key string", "  2 ttl int32", "  3 size int32");
  expect(merge(marked, ours, base).text).toBe(ours);
});

test("a lock that cannot be read is not merged: both texts are kept with marks, and the reason is reported", () => {
  const broken = base.replace("  2 ttl", "  two ttl");
  const merged = merge(base, broken, base);
  expect(merged.conflicts).toEqual([
    'the lock of ours has an error on line 4: cannot read the lock: expected an id, got "two ttl int32"',
  ]);
  expect(merged.text).toBe(`<<<<<<< ours\n${broken}=======\n${base}>>>>>>> theirs\n`);
  expect(merge(base, base, merged.text).conflicts).toEqual([
    "the lock of theirs has an error on line 1: two branches have changed the lock, and git could not merge it",
  ]);
});

test("an inline shape keeps its identity when one side renames the member that contains it", () => {
  const entry = (name: string, was = "") => [`message Entry in schemas/a next=2`, `  1 ${name} message${was}`];
  const shape = (name: string, next: number, ...fields: readonly string[]) => [
    `message Entry.${name} in schemas/a next=${next}`,
    "  1 x string",
    "  2 deep message",
    ...fields,
    `message Entry.${name}.deep in schemas/a next=2`,
    "  1 y string",
  ];
  const before = text(...entry("meta"), ...shape("meta", 3));
  const renamed = text(...entry("info", " was=meta"), ...shape("info", 3));
  const added = text(...entry("meta"), ...shape("meta", 4, "  3 z string"));
  const expected = text(...entry("info", " was=meta"), ...shape("info", 4, "  3 z string"));
  expect(merge(before, renamed, added)).toMatchObject({ text: expected, moved: [], conflicts: [] });
  expect(merge(before, added, renamed)).toMatchObject({ text: expected, moved: [], conflicts: [] });
  const torn = merge(before, renamed, text(...entry("data", " was=meta"), ...shape("data", 4, "  3 z string")));
  expect(torn.conflicts).toEqual(["Entry.info: renamed to info on our side and to data on theirs"]);
  expect(torn.lines).toEqual([
    "message Entry in schemas/a next=2",
    "<<<<<<< ours",
    "  1 info message was=meta",
    "=======",
    "  1 data message was=meta",
    ">>>>>>> theirs",
    ...shape("info", 4, "  3 z string"),
  ]);
  expect(changesSince(parseLock("", before).lock, parseLock("", renamed).lock)).toEqual([]);
  expect(changesSince(parseLock("", added).lock, parseLock("", renamed).lock)).toMatchObject([
    { kind: "lost", what: "id 3 of Entry.info.z", lines: ["  3 z string"] },
  ]);
});

const ageAccepted = "accepted VC5001 Entry.ttl: its type was int32 and is string: neither side finds the other's value";
const nameAccepted = "accepted VC5001 Entry.key: its type was string and is bool: neither side finds the other's value";

test("changes that either side has accepted stay accepted, and the merged lock has format 2", () => {
  const ours = text(ageAccepted, head(3), "  1 key string", "  2 ttl string").replace(lockHeader, lockHeaderFormat2);
  const theirs = text(nameAccepted, head(3), "  1 key boolean", "  2 ttl int32").replace(lockHeader, lockHeaderFormat2);
  const merged = merge(base, ours, theirs);
  expect(merged.conflicts).toEqual([]);
  expect(merged.text.split("\n")).toEqual([
    lockHeaderFormat2,
    nameAccepted,
    ageAccepted,
    head(3),
    "  1 key boolean",
    "  2 ttl string",
    "",
  ]);
  expect(merge(base, ours, base).text).toBe(ours);
  expect(merge(base, base, ours).text).toBe(ours);
  expect(merge(ours, base, ours).lines[0]).toBe(ageAccepted);
});

test("two sides that have accepted different changes of one member have a conflict", () => {
  const ours = text(ageAccepted, head(3), "  1 key string", "  2 ttl string");
  const theirs = text(ageAccepted.replace("is string", "is bool"), head(3), "  1 key string", "  2 ttl boolean");
  expect(merge(base, ours, theirs).conflicts).toEqual([
    "Entry.ttl: changed to string on our side and to boolean on theirs",
  ]);
});

test("a member that is pending on one side and published on the other is published after the merge", () => {
  const pending = text(head(4), "  1 key string", "  2 ttl int32", "  3 +size int32");
  const published = text(head(4), "  1 key string", "  2 ttl int32", "  3 size int32");
  const lines = published.trimEnd().split("\n").slice(1);
  expect(merge(base, pending, published).lines).toEqual(lines);
  expect(merge(base, published, pending).lines).toEqual(lines);
  expect(merge(pending, published, pending).lines).toEqual(lines);
  expect(merge(base, pending, base).lines).toEqual(pending.trimEnd().split("\n").slice(1));
  expect(merge(base, pending, pending).lines).toContain("  3 +size int32");
});
