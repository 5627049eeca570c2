/** Checks that inline shapes, which a path identifies, keep their identity when a member on the path is renamed. */
import { expect, test } from "vitest";
import { mergeLocks, parseLock, printLock } from "../../../compiler/lock/index.js";
import { merge, text } from "./merged.js";

const a = "in schemas/a next=2";
const shape = (path: string, field = "  1 x string") => [`message ${path} ${a}`, field];
const lockOf = (source: string) => parseLock("", source).lock;

/** A rename on one side and an addition to the shape on the other give one shape with the new path and the addition. */
test.each([
  {
    what: "the element of an array",
    before: [`message Entry ${a}`, "  1 meta message[]", ...shape("Entry.meta[]")],
    renamed: [`message Entry ${a}`, "  1 info message[] was=meta", ...shape("Entry.info[]")],
    path: "Entry.info[]",
  },
  {
    what: "a parameter",
    before: [
      "actor Store in schemas/a 0x00000001 next=2",
      "  0 new next=1 () -> void",
      "  1 put next=3 (1 key: string, 2 at: message) -> void",
      ...shape("Store.put.at"),
    ],
    renamed: [
      "actor Store in schemas/a 0x00000001 next=2",
      "  0 new next=1 () -> void",
      "  1 put next=3 (1 key: string, 2 place: message) -> void",
      ...shape("Store.put.place"),
    ],
    path: "Store.put.place",
  },
  {
    what: "a parameter of a constructor",
    before: [
      "actor Store in schemas/a 0x00000001 next=1",
      "  0 new next=2 (1 at: message) -> void",
      ...shape("Store().at"),
    ],
    renamed: [
      "actor Store in schemas/a 0x00000001 next=1",
      "  0 new next=2 (1 place: message) -> void",
      ...shape("Store().place"),
    ],
    path: "Store().place",
  },
  {
    what: "a parameter of an endpoint that is called new",
    before: [
      "actor Store in schemas/a 0x00000001 next=2",
      "  0 new next=1 () -> void",
      "  1 new next=2 (1 at: message) -> void",
      ...shape("Store.new.at"),
    ],
    renamed: [
      "actor Store in schemas/a 0x00000001 next=2",
      "  0 new next=1 () -> void",
      "  1 new next=2 (1 place: message) -> void",
      ...shape("Store.new.place"),
    ],
    path: "Store.new.place",
  },
])("an inline shape keeps its identity when $what is renamed", ({ before, renamed, path }) => {
  const added = text(
    ...before.slice(0, -2),
    (before.at(-2) as string).replace("next=2", "next=3"),
    "  1 x string",
    "  2 y string",
  );
  const expected = text(...renamed.slice(0, -2), `message ${path} in schemas/a next=3`, "  1 x string", "  2 y string");
  expect(merge(text(...before), text(...renamed), added)).toMatchObject({ text: expected, moved: [], conflicts: [] });
  expect(merge(text(...before), added, text(...renamed))).toMatchObject({ text: expected, moved: [], conflicts: [] });
});

test("the merged lock does not depend on the order of blocks in its inputs", () => {
  const before = lockOf(
    text(
      `message Entry ${a}`,
      "  1 meta message",
      ...shape("Entry.meta", "  1 deep message"),
      ...shape("Entry.meta.deep"),
    ),
  );
  const renamed = text(
    `message Entry ${a}`,
    "  1 info message was=meta",
    ...shape("Entry.info", "  1 deep message"),
    ...shape("Entry.info.deep"),
  );
  const reversed = { ...lockOf(renamed), blocks: [...lockOf(renamed).blocks].reverse() };
  const backwards = { ...before, blocks: [...before.blocks].reverse() };
  for (const base of [before, backwards]) {
    expect(printLock(mergeLocks({ base, ours: reversed, theirs: base }).lock)).toBe(renamed);
    expect(printLock(mergeLocks({ base, ours: base, theirs: reversed }).lock)).toBe(renamed);
  }
});

test("a new member that takes the former name of a renamed member has its own inline shape", () => {
  const before = text(`message Entry ${a}`, "  1 meta message", ...shape("Entry.meta"));
  const after = text(
    "message Entry in schemas/a next=3",
    "  1 info message was=meta",
    "  2 meta message",
    ...shape("Entry.info"),
    ...shape("Entry.meta"),
  );
  expect(merge(before, after, before)).toMatchObject({ text: after, moved: [], conflicts: [] });
  expect(merge(before, before, after)).toMatchObject({ text: after, moved: [], conflicts: [] });
});

test("a member that has taken the id of another member has its own inline shape", () => {
  const before = text(`message Entry ${a}`, "  1 owner message", ...shape("Entry.owner"));
  const after = text(
    "message Entry in schemas/a next=3",
    "  1 size message",
    "  2 owner string",
    ...shape("Entry.size", "  1 y int32"),
  );
  const { lines, conflicts } = merge(before, after, before);
  expect(conflicts).toEqual([]);
  expect(lines).toEqual([
    "message Entry in schemas/a next=3",
    "  1 size message",
    "  2 owner string",
    ...shape("Entry.owner"),
    ...shape("Entry.size", "  1 y int32"),
  ]);
});

test("a rename applies only to the declaration of its own file when two files declare the same name", () => {
  const inFile = (file: string, field: string, path: string, fields: readonly string[] = ["  1 x string"]) => [
    `message Entry in schemas/${file} next=2`,
    `  1 ${field}`,
    `message ${path} in schemas/${file} next=${fields.length + 1}`,
    ...fields,
  ];
  const two = ["  1 x string", "  2 y string"];
  const before = text(...inFile("a", "meta message", "Entry.meta"), ...inFile("b", "data message", "Entry.data"));
  const added = text(
    ...inFile("a", "meta message", "Entry.meta", two),
    ...inFile("b", "data message", "Entry.data", two),
  );
  const first = text(
    ...inFile("a", "info message was=meta", "Entry.info"),
    ...inFile("b", "data message", "Entry.data"),
  );
  expect(merge(before, first, added).lines).toEqual([
    ...inFile("a", "info message was=meta", "Entry.info", two),
    ...inFile("b", "data message", "Entry.data", two),
  ]);
  const second = text(
    ...inFile("a", "meta message", "Entry.meta"),
    ...inFile("b", "info message was=data", "Entry.info"),
  );
  expect(merge(before, second, added).lines).toEqual([
    ...inFile("a", "meta message", "Entry.meta", two),
    ...inFile("b", "info message was=data", "Entry.info", two),
  ]);
});

test("an inline shape keeps its identity when its declaration moves and a member on the path is renamed", () => {
  const before = text(`message Entry ${a}`, "  1 meta message", ...shape("Entry.meta"));
  const after = text(
    "message Entry in schemas/b next=2",
    "  1 info message was=meta",
    "message Entry.info in schemas/b next=2",
    "  1 x string",
  );
  expect(merge(before, after, before)).toMatchObject({ text: after, moved: [], conflicts: [] });
});

test("inline shapes of members that have swapped their names stay with their members", () => {
  const before = text(
    "message Entry in schemas/a next=3",
    "  1 left message",
    "  2 right message",
    ...shape("Entry.left", "  1 x string"),
    ...shape("Entry.right", "  1 y int32"),
  );
  const swapped = text(
    "message Entry in schemas/a next=3",
    "  1 right message was=left",
    "  2 left message was=right",
    ...shape("Entry.left", "  1 y int32"),
    ...shape("Entry.right", "  1 x string"),
  );
  expect(merge(before, swapped, before)).toMatchObject({ text: swapped, moved: [], conflicts: [] });
  expect(merge(before, before, swapped)).toMatchObject({ text: swapped, moved: [], conflicts: [] });
});

test("an inline shape keeps its identity when two members on its path are renamed", () => {
  const before = text(
    ...[`message Entry ${a}`, "  1 meta message"],
    ...shape("Entry.meta", "  1 deep message[]"),
    ...shape("Entry.meta.deep[]"),
  );
  const renamed = text(
    ...[`message Entry ${a}`, "  1 info message was=meta"],
    ...shape("Entry.info", "  1 inner message[] was=deep"),
    ...shape("Entry.info.inner[]"),
  );
  expect(merge(before, renamed, before)).toMatchObject({ text: renamed, moved: [], conflicts: [] });
  expect(merge(before, before, renamed)).toMatchObject({ text: renamed, moved: [], conflicts: [] });
});
