/** Checks which members and declarations of two branches a merge identifies, and which ids it gives them. */
import { expect, test } from "vitest";
import { drawActorId } from "../../../compiler/lock/actor-id.js";
import { mergeLocks, mergeLockTexts, parseLock } from "../../../compiler/lock/index.js";
import { merge, text } from "./merged.js";

const head = (next: number, module = "a") => `message Entry in schemas/${module} next=${next}`;
const entry = (next: number, ...members: readonly string[]) =>
  text(head(next), ...members.map((member) => `  ${member}`));
const membersOf = (lines: readonly string[]) => lines.slice(1).map((line) => line.trim());
const base = entry(3, "1 key string", "2 ttl int32");

test("a moved member gets no id below the highest `next` of the base and both sides", () => {
  const far = base.replace("next=3", "next=9");
  const ours = entry(4, "1 key string", "2 ttl int32", "3 size int32");
  const theirs = entry(4, "1 key string", "2 ttl int32", "3 owner string");
  for (const [before, our, their] of [
    [far, ours, theirs],
    [base, ours.replace("next=4", "next=9"), theirs],
    [base, ours, theirs.replace("next=4", "next=9")],
  ] as const) {
    expect(merge(before, our, their).lines).toEqual([
      head(10),
      "  1 key string",
      "  2 ttl int32",
      "  3 size int32",
      "  9 owner string",
    ]);
  }
});

test("an id that a merge moves skips the range that protobuf reserves", () => {
  const ours = entry(19_000, "1 key string", "2 ttl int32", "3 size int32");
  const theirs = entry(4, "1 key string", "2 ttl int32", "3 owner string");
  expect(merge(base, ours, theirs)).toMatchObject({
    lines: [head(20_001), "  1 key string", "  2 ttl int32", "  3 size int32", "  20000 owner string"],
    moved: [{ member: "Entry.owner", from: 3, to: 20_000 }],
  });
});

test("a merge that needs an id above the maximum fails, keeps both locks and reports the reason", () => {
  const ours = entry(536_870_912, "1 key string", "2 ttl int32", "536870911 size int32");
  const theirs = entry(536_870_912, "1 key string", "2 ttl int32", "536870911 owner string");
  const merged = merge(base, ours, theirs);
  expect(merged.conflicts).toEqual([
    "the merged lock has an error on line 6: cannot read the lock: id 536870912 is larger than 536870911",
  ]);
  expect(merged.moved).toEqual([]);
  expect(merged.text).toBe(`<<<<<<< ours\n${ours}=======\n${theirs}>>>>>>> theirs\n`);
});

test("a member that both sides have added gets its published id, even where the id of ours is free", () => {
  const ours = entry(5, "1 key string", "2 ttl int32", "4 owner string");
  const theirs = entry(4, "1 key string", "2 ttl int32", "3 owner string");
  expect(merge(base, ours, theirs, theirs)).toMatchObject({
    lines: [head(5), "  1 key string", "  2 ttl int32", "  3 owner string"],
    moved: [{ member: "Entry.owner", side: "ours", from: 4, to: 3 }],
  });
});

test("a published tombstone keeps its id, and a member of the same name gets a new id", () => {
  const ours = entry(4, "1 key string", "2 ttl int32", "3 note string");
  const theirs = entry(4, "1 key string", "2 ttl int32", "3 -note string");
  const { lines, moved } = merge(base, ours, theirs, theirs);
  expect(membersOf(lines)).toEqual(["1 key string", "2 ttl int32", "3 -note string", "4 note string"]);
  expect(moved).toEqual([{ member: "Entry.note", side: "ours", from: 3, to: 4, isActor: false }]);
});

test("a member that is removed in the published lock keeps its id, and a new member gets another id", () => {
  const ours = entry(4, "1 key string", "2 ttl int32", "3 size int32");
  const theirs = entry(4, "1 key string", "2 ttl int32", "3 note string");
  const published = entry(4, "1 key string", "2 ttl int32", "3 -note string");
  expect(membersOf(merge(base, ours, theirs, published).lines)).toEqual([
    "1 key string",
    "2 ttl int32",
    "3 note string",
    "4 size int32",
  ]);
});

test("an equal id does not make two members of a message with different names the same member", () => {
  const before = entry(4, "1 key string", "2 ttl int32", "3 owner string");
  const ours = entry(4, "1 key string", "2 ttl int32", "3 size string");
  const { lines, moved } = merge(before, ours, before);
  expect(membersOf(lines)).toEqual(["1 key string", "2 ttl int32", "3 size string", "4 owner string"]);
  expect(moved).toEqual([{ member: "Entry.owner", side: "theirs", from: 3, to: 4, isActor: false }]);
});

test("a value of a numeric enum keeps its identity under another name, because its number is its id", () => {
  const kind = (...values: readonly string[]) => text("enum Kind in schemas/a next=4", ...values);
  const before = kind("  1 a", "  2 b", "  3 c");
  const renamed = kind("  0 zero", "  1 a", "  2 x", "  3 c");
  expect(merge(before, renamed, before)).toMatchObject({ text: renamed, moved: [], conflicts: [] });
  expect(merge(before, before, renamed)).toMatchObject({ text: renamed, moved: [], conflicts: [] });
});

test("a new member that both sides have added and one side has renamed is one member if the ids are equal", () => {
  const added = entry(4, "1 key string", "2 ttl int32", "3 size int32");
  const renamed = entry(4, "1 key string", "2 ttl int32", "3 bytes int32 was=size");
  expect(merge(base, added, renamed)).toMatchObject({ text: renamed, moved: [], conflicts: [] });
  expect(merge(base, renamed, added)).toMatchObject({ text: renamed, moved: [], conflicts: [] });
  const elsewhere = entry(5, "1 key string", "2 ttl int32", "4 bytes int32 was=size");
  expect(membersOf(merge(base, added, elsewhere).lines)).toEqual([
    "1 key string",
    "2 ttl int32",
    "3 size int32",
    "4 bytes int32 was=size",
  ]);
});

test("a new member that takes the former name of a renamed member is a separate member", () => {
  const ours = entry(4, "1 key string", "2 expiry int32 was=ttl", "3 ttl int32");
  expect(merge(base, ours, base)).toMatchObject({ text: ours, moved: [], conflicts: [] });
  expect(merge(base, base, ours)).toMatchObject({ text: ours, moved: [], conflicts: [] });
});

test("a tombstone and a member of the same name are separate, in whichever order a lock lists them", () => {
  const before = entry(3, "1 -ttl int32", "2 ttl int32");
  const turned = entry(3, "2 ttl int32", "1 -ttl int32");
  expect(merge(before, turned, before)).toMatchObject({ text: before, moved: [], conflicts: [] });
});

test("a merge keeps all former names of a member", () => {
  const ours = entry(3, "1 key string", "2 expiry int32 was=ttl");
  const theirs = entry(3, "1 key string", "2 expiry int32 was=ttl,lifetime");
  expect(merge(base, ours, theirs).text).toBe(theirs);
  expect(merge(base, theirs, ours).text).toBe(theirs);
});

test("a tombstone that one side has made a member again is a member after the merge", () => {
  const removed = entry(3, "1 key string", "2 -ttl int32");
  expect(merge(removed, base, removed).text).toBe(base);
  expect(merge(removed, removed, base).text).toBe(base);
});

test("a member that both sides have renamed and retyped has one conflict that names both changes", () => {
  const ours = entry(3, "1 key string", "2 expiry int64 was=ttl");
  const theirs = entry(3, "1 key string", "2 lifetime double was=ttl");
  expect(merge(base, ours, theirs).conflicts).toEqual([
    "Entry.expiry: renamed to expiry on our side and to lifetime on theirs; " +
      "changed to int64 on our side and to double on theirs",
  ]);
});

test("a conflict is marked in the declaration that has it", () => {
  const item = ["message Item in schemas/a next=3", "  1 id string"];
  const lock = (type: string) => text(head(3), "  1 key string", "  2 ttl int32", ...item, `  2 size ${type}`);
  expect(merge(lock("int32"), lock("int64"), lock("double")).lines).toEqual([
    head(3),
    "  1 key string",
    "  2 ttl int32",
    ...item,
    "<<<<<<< ours",
    "  2 size int64",
    "=======",
    "  2 size double",
    ">>>>>>> theirs",
  ]);
});

const store = (...endpoints: readonly string[]) =>
  text(`actor Store in schemas/a 0x00000001 next=3`, "  0 new next=1 () -> void", ...endpoints);

test("a parameter that one side renames has its new name after the merge", () => {
  const before = store("  1 get next=3 (1 key: string, 2 limit: int32) -> void");
  const renamed = store("  1 get next=3 (1 id: string, 2 limit: int32) -> void");
  expect(merge(before, renamed, before)).toMatchObject({ text: renamed, conflicts: [] });
  expect(merge(before, before, renamed)).toMatchObject({ text: renamed, conflicts: [] });
});

test("a parameter that one side removes is removed, unless the other side has changed it", () => {
  const before = store("  1 get next=3 (1 key: string, 2 limit: int32) -> void");
  const removed = store("  1 get next=3 (1 key: string, 2 -limit: int32) -> void");
  expect(merge(before, removed, before)).toMatchObject({ text: removed, conflicts: [] });
  expect(merge(before, before, removed)).toMatchObject({ text: removed, conflicts: [] });
  const changed = store("  1 get next=3 (1 key: string, 2 limit: int64) -> void");
  expect(merge(before, removed, changed).conflicts).toEqual([
    "Store.get: parameter limit removed on our side and changed to int64 on theirs",
  ]);
});

test("a removal of an endpoint on one side and a changed parameter type on the other are a conflict", () => {
  const before = store("  1 get next=2 (1 key: string) -> void");
  const removed = store("  1 -get next=2 (1 key: string) -> void");
  const retyped = store("  1 get next=2 (1 key: int32) -> void");
  expect(merge(before, removed, retyped).conflicts).toEqual([
    "Store.get: removed on our side and given different parameters on theirs",
  ]);
  expect(merge(before, removed, before)).toMatchObject({ text: removed, conflicts: [] });
});

test("a merge keeps published ids of parameters, and gives no id of a parameter twice", () => {
  const lock = (put: string) => store("  1 get next=2 (1 key: string) -> void", `  2 put next=${put} -> void`);
  const before = lock("2 (1 key: string)");
  const ours = lock("3 (1 key: string, 2 limit: int32)");
  const theirs = lock("3 (1 key: string, 2 offset: int32)");
  expect(merge(before, ours, theirs, theirs)).toMatchObject({
    text: lock("4 (1 key: string, 3 limit: int32, 2 offset: int32)"),
    moved: [{ member: "Store.put(limit)", side: "ours", from: 2, to: 3 }],
  });
  for (const far of [
    [before.replace("put next=2", "put next=9"), ours, theirs],
    [before, ours.replace("put next=3", "put next=9"), theirs],
    [before, ours, theirs.replace("put next=3", "put next=9")],
  ] as const) {
    expect(merge(...far).text).toBe(lock("10 (1 key: string, 2 limit: int32, 9 offset: int32)"));
  }
});

test("a declaration that one side lacks stays, and so does one with the same name in another file", () => {
  expect(merge(base, base, text()).text).toBe(base);
  expect(merge(base, text(), base).text).toBe(base);
  const two = text(head(3), "  1 key string", "  2 ttl int32", head(2, "c"), "  1 other string");
  expect(merge(base, two, base).text).toBe(two);
  expect(merge(base, base, two).text).toBe(two);
});

test.each(["message Other in schemas/b next=2", "union Entry in schemas/b next=2"])(
  "a declaration is not taken as moved when the new one differs in its kind or name: %s",
  (other) => {
    const ours = text(other, "  1 a A");
    const { lines } = merge(base, ours, base);
    expect(lines).toEqual([head(3), "  1 key string", "  2 ttl int32", other, "  1 a A"]);
  },
);

test("a declaration that one side has moved to another file is in that file after the merge", () => {
  const moved = text(head(3, "b"), "  1 key string", "  2 ttl int32");
  expect(merge(base, base, moved).text).toBe(moved);
  expect(merge(base, moved, base).text).toBe(moved);
});

test("a declaration that both sides have added and one side has removed again stays", () => {
  const removed = base.replace("message", "-message");
  expect(merge("", removed, base).text).toBe(base);
  expect(merge("", base, removed).text).toBe(base);
});

const actor = (name: string, module: string, id: number) => [
  `actor ${name} in schemas/${module} 0x${id.toString(16).padStart(8, "0")} next=1`,
  "  0 new next=1 () -> void",
];

test("an actor has the id of the base, else its published id, else the id of ours or of the only side", () => {
  const one = text(...actor("Store", "a", 1));
  const two = text(...actor("Store", "a", 2));
  expect(merge(one, two, one)).toMatchObject({ text: one, moved: [{ member: "Store", side: "ours", from: 2, to: 1 }] });
  const published = text(...actor("Other", "c", 9), ...actor("Store", "a", 2));
  expect(merge("", one, two, published)).toMatchObject({ text: two, moved: [{ side: "ours", from: 1, to: 2 }] });
  expect(merge("", one, two)).toMatchObject({ text: one, moved: [{ side: "theirs", from: 2, to: 1 }] });
  expect(merge("", text(), two)).toMatchObject({ text: two, moved: [] });
  expect(merge("", two, text())).toMatchObject({ text: two, moved: [] });
});

test("an actor whose id is taken draws a new id that no other actor has", () => {
  const drawn = drawActorId("actor Theirs in schemas/b", () => false);
  const ours = text(...actor("First", "a", drawn), ...actor("Ours", "a", 7));
  const { lock } = mergeLocks({
    base: parseLock("", text()).lock,
    ours: parseLock("", ours).lock,
    theirs: parseLock("", text(...actor("Theirs", "b", 7))).lock,
  });
  expect(new Set(lock.blocks.map(({ id }) => id)).size).toBe(3);
});

test("a declaration that is not an actor has the id 0, and a merge moves no such id", () => {
  const { lock: ours } = parseLock("", text(head(2), "  1 key string", "message Item in schemas/a next=1"));
  const { lock, moved } = mergeLocks({ base: { blocks: [], accepted: [] }, ours, theirs: ours });
  expect(lock.blocks.map(({ id }) => id)).toEqual([0, 0]);
  expect(moved).toEqual([]);
});

test("an empty text is a lock without declarations, and a conflict names a base that cannot be read", () => {
  expect(merge(" \n", base, base).text).toBe(base);
  expect(merge("", "\n", base).text).toBe(base);
  const broken = mergeLockTexts(
    { base: base.replace("2 ttl", "two ttl"), ours: base, theirs: base, published: undefined },
    ({ kind }) => kind,
  );
  expect(broken).toEqual({
    text: `<<<<<<< ours\n${base}=======\n${base}>>>>>>> theirs\n`,
    moved: [],
    conflicts: ["the common base has an error on line 4: lockSyntax"],
  });
});
