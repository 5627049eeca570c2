import fc from "fast-check";
import { expect, test } from "vitest";
import { takeFirstSides } from "../../../compiler/lock/conflict-markers.js";
import { assignIds, lockHeader, lockHeaderFormat2, parseLock, printLock } from "../../../compiler/lock/index.js";
import { cases } from "../../profile.js";
import { field, int32, message, schema } from "./schema.js";

const parse = (...lines: readonly string[]) => parseLock("viceroy.lock", [lockHeader, ...lines, ""].join("\n"));
const at = (line: number, column: number) => ({ file: "viceroy.lock", line, column });

test("members with any names are the same after printing and parsing a lock", () => {
  const names = fc.uniqueArray(fc.string({ unit: "binary", minLength: 1 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(names, (list) => {
      const { lock } = assignIds(schema([message("Entry", ...list.map((name) => field(name, int32)))]));
      const parsed = parseLock("viceroy.lock", printLock(lock));
      expect(parsed.problems).toEqual([]);
      expect(parsed.lock.blocks[0]!.entries.map(({ name }) => name)).toEqual(list);
      expect(printLock(parsed.lock)).toBe(printLock(lock));
    }),
    { numRuns: cases(100) },
  );
});

test("the parser does not throw for any text", () => {
  fc.assert(
    fc.property(fc.string(), (text) => void parse(text, `message ${text} in a next=1`, `  1 ${text}`)),
    { numRuns: cases(100) },
  );
});

test("a lock of an unknown format is reported with the expected format", () => {
  expect(parseLock("viceroy.lock", "# viceroy lock 9\n").problems).toEqual([
    { kind: "lockVersion", at: at(1, 1), found: "# viceroy lock 9", expected: lockHeaderFormat2 },
  ]);
});

test("invalid lines are reported with their positions", () => {
  const { problems } = parse(
    "  1 a string",
    "massage Entry in a next=1",
    "message Entry in a next=2",
    "  x a string",
    "  1 a",
    "  1 b [int32",
  );
  expect(problems).toEqual([
    { kind: "lockSyntax", at: at(2, 1), why: "expected a declaration before the member" },
    {
      kind: "lockSyntax",
      at: at(3, 1),
      why: 'expected actor, task, message, oneof, union, enum or alias, got "massage"',
    },
    { kind: "lockSyntax", at: at(5, 3), why: 'expected an id, got "x a string"' },
    { kind: "lockSyntax", at: at(6, 6), why: "expected a type, got the end of the line" },
    { kind: "lockSyntax", at: at(7, 7), why: 'expected "]", got "[int32"' },
  ]);
});

test("a duplicate id, a `next` that is too low and a duplicate block are reported", () => {
  const { problems } = parse(
    "message E in a next=2",
    "  1 a string",
    "  1 b string",
    "  3 c string",
    "message E in a next=1",
  );
  expect(problems).toEqual([
    { kind: "lockIdTwice", at: at(4, 3), id: 1, first: "a", second: "b" },
    { kind: "lockNext", at: at(2, 1), of: "E", next: 2, highest: 3 },
    { kind: "lockDuplicate", at: at(6, 1), what: "message E in a", other: 2 },
  ]);
});

test("duplicate ids of actors and of parameters are reported", () => {
  const { problems } = parse(
    "actor A in a 0x00000001 next=2",
    "  0 new next=1 () -> void",
    "  1 f next=2 (1 x: int32, 1 y: map<string, [int32, string?]>) -> stream<Tree>",
    "actor B in a 0x00000001 next=1",
  );
  expect(problems).toEqual([
    { kind: "lockIdTwice", at: at(4, 3), id: 1, first: "x", second: "y" },
    { kind: "lockIdTwice", at: at(5, 1), id: 1, first: "A", second: "B" },
  ]);
});

test("accepted changes and pending members are kept in format 2, and a lock without them has format 1", () => {
  const lines = [
    "accepted VC5001 Entry.key: its type was string and is int32: neither side finds the other's value",
    "+message Draft in a next=2",
    "  1 note string",
    "message Entry in a next=3",
    "  1 key int32",
    "  2 +size int32",
    "actor Store in a 0x00000007 next=3",
    "  0 new next=1 () -> void",
    "  1 get next=3 (1 key: string, 2 +limit: int32) -> void",
    "  2 +put next=1 () -> void",
  ];
  const text = [lockHeaderFormat2, ...lines.slice(0, 6), ""].join("\n");
  const { lock, problems } = parseLock("viceroy.lock", text);
  expect(problems).toEqual([]);
  expect(printLock(lock)).toBe(text);
  expect(printLock(parseLock("viceroy.lock", [lockHeaderFormat2, ...lines.slice(6), ""].join("\n")).lock)).toBe(
    [lockHeaderFormat2, ...lines.slice(6), ""].join("\n"),
  );
  const plain = [lockHeader, "message Entry in a next=2", "  1 key int32", ""].join("\n");
  expect(printLock(parseLock("viceroy.lock", plain.replace(lockHeader, lockHeaderFormat2)).lock)).toBe(plain);
});

test("an accepted change without a code is reported with its position", () => {
  expect(parse("accepted Entry.key").problems).toMatchObject([
    { kind: "lockSyntax", at: at(2, 10), why: "expected the code of a breaking change and its text" },
  ]);
});

test.each<readonly [line: string, column: number, why: string]>([
  [
    "Message Entry in a next=1",
    1,
    'expected actor, task, message, oneof, union, enum or alias, got "Message Entry in a n"',
  ],
  ["message Entry at a next=1", 15, 'expected "in", got "at a next=1"'],
  ["message Entry in a nest=1", 20, 'expected "next=", got "nest=1"'],
  ["message Entry in a next=x", 25, 'expected an id, got "x"'],
  ["message Entry in a next=1 more", 27, 'expected the end of the line, got "more"'],
  ['message Entry in "a next=1', 18, `expected a name in quotes, got ""a next=1"`],
  ['message Entry in "\\q" next=1', 23, 'expected a name in quotes, got "next=1"'],
  ["actor Store in a 0x1 next=1", 18, 'expected an id of eight hexadecimal digits, got "0x1 next=1"'],
  ["accepted VC5001", 10, "expected the code of a breaking change and its text"],
  ["accepted VC5001 ", 10, "expected the code of a breaking change and its text"],
  ["accepted 5001 Entry.key: its type", 10, "expected the code of a breaking change and its text"],
])("an unreadable line is reported with its position and the expected syntax: %s", (line, column, why) => {
  expect(parse(line).problems).toEqual([{ kind: "lockSyntax", at: at(2, column), why }]);
});

test.each<readonly [line: string, column: number, why: string]>([
  ["  1 f next=1 ) -> void", 14, 'expected "(", got ") -> void"'],
  ["  1 f next=2 (1 a string) -> void", 19, 'expected ":", got "string) -> void"'],
  ["  1 f next=2 (1 a: string -> void", 34, 'expected ")", got the end of the line'],
  ["  1 f next=1 () => void", 17, 'expected "->", got "=> void"'],
])(
  "an unreadable line of an endpoint is reported with its position and with the expected syntax: %s",
  (line, column, why) => {
    const { problems } = parse("actor Store in a 0x00000001 next=9", line);
    expect(problems).toContainEqual({ kind: "lockSyntax", at: at(3, column), why });
  },
);

test.each([
  'map<"a > b", string>',
  'mesh<Store, "x, (y)", "\\"">',
  "[int32, map<string, (int32)>?, ...string[]]",
  "record<nullable<Tree[]>>[]",
])("the text of a type ends at the first delimiter outside brackets and quotes: %s", (type) => {
  const { lock, problems } = parse(
    "actor Store in a 0x00000001 next=2",
    `  1 f next=3 (1 a: ${type} , 2 b: ${type}) -> ${type} was=g,"h, i"`,
  );
  expect(problems).toEqual([]);
  const [entry] = lock.blocks[0]!.entries;
  expect(entry?.params?.entries.map((param) => param.type)).toEqual([type, type]);
  expect([entry?.type, entry?.was]).toEqual([type, ["g", "h, i"]]);
});

test("a `next` of parameters that is too low is reported with the endpoint", () => {
  expect(parse("actor A in a 0x00000001 next=2", "  1 f next=2 (1 x: int32, 5 y: int32) -> void").problems).toEqual([
    { kind: "lockNext", at: at(3, 1), of: "A.f", next: 2, highest: 5 },
  ]);
});

test("only conflict markers as git writes them, at the beginning of a line, count as markers", () => {
  expect(parse("<<<<<<<").problems).toEqual([{ kind: "lockConflict", at: at(2, 1) }]);
  expect(parse("<<<<<<<\r", "<<<<<<<<< HEAD").problems).toEqual(
    [2, 3].map((line) => ({ kind: "lockConflict", at: at(line, 1) })),
  );
  expect(parse("<<<<<<<x", "<<<<<< HEAD", " <<<<<<< HEAD").problems.map(({ kind }) => kind)).not.toContain(
    "lockConflict",
  );
});

test("takeFirstSides keeps the first side of each conflict and drops the base and the other side", () => {
  const lines = [
    "a",
    "<<<<<<< ours",
    "b",
    "||||||| base",
    "c",
    "=======",
    "d",
    ">>>>>>> theirs",
    "e",
    "<<<<<<<",
    "f",
    "=======\r",
    "g",
    ">>>>>>>",
    "h",
  ];
  expect(takeFirstSides(lines.join("\n"))).toBe("a\nb\ne\nf\nh");
  const none = ["a ======= b", "<<<<<< c", "|| d", "> e", "=======f"];
  expect(takeFirstSides(none.join("\n"))).toBe(none.join("\n"));
});
