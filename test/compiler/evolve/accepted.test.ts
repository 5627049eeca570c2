/** Breaking changes of the wire stop `compile --check` until somebody accepts them in the lock. */
import { expect, test } from "vitest";
import { breakCommand } from "../../../compiler/cli/commands/break.js";
import { type CompileOptions, compile } from "../../../compiler/cli/commands/compile.js";
import { rename } from "../../../compiler/cli/commands/rename.js";
import { Project } from "../../../compiler/cli/project.js";
import { ConfigError } from "../../../compiler/config/index.js";
import { lockHeader, lockHeaderFormat2 } from "../../../compiler/lock/print.js";
import { addFiles, folderWith, read, TestIo } from "../folder.js";
import { TestRepository } from "../git/repository.js";

const files = {
  "package.json": '{ "name": "example", "type": "module" }\n',
  "viceroy.config.ts": 'export default { schemas: "schemas/**/*.ts" };\n',
  ".gitignore": "generated/\n.viceroy/\n",
};

const head = 'import type { Actor, Int32, Int64, Uint32 } from "viceroy/schema";\n\n';
const tree = (members: string) => ({ "schemas/a.ts": `${head}export interface Tree {\n  ${members}\n}\n` });

const message =
  "Tree.age: its type was double and is string: neither side finds the other's value, which has another wire type";
const change = `VC5001 ${message}`;

/** Runs `viceroy compile`. Findings are `severity code text`. */
async function run(folder: string, options: Partial<CompileOptions> = {}) {
  const io = new TestIo();
  const code = await compile(new Project(folder), { check: false, json: true, draft: false, ...options }, io);
  const found = io.lines.map((line) => JSON.parse(line) as Readonly<Record<string, string>>);
  return { code, found: found.map(({ severity, code: rule, text }) => `${severity} ${rule} ${text}`), json: found };
}

const check = (folder: string, options: Partial<CompileOptions> = {}) => run(folder, { check: true, ...options });

async function compiled(members: string): Promise<string> {
  const folder = folderWith({ ...files, ...tree(members) });
  expect(await run(folder)).toMatchObject({ code: 0, found: [] });
  return folder;
}

test("compile warns of a breaking change with rule and place, and the check fails before and after compile", async () => {
  const folder = await compiled("age: number;");
  const lock = read(folder, "viceroy.lock");
  addFiles(folder, tree("age: string;"));
  const before = await check(folder);
  expect(before.code).toBe(1);
  expect(before.found).toContain(`error ${change}`);
  const warned = await run(folder);
  expect(warned).toMatchObject({ code: 0, found: [`warning ${change}`] });
  expect(warned.json[0]).toMatchObject({
    file: "schemas/a.ts",
    line: 4,
    place: "Tree.age",
    class: "WIRE",
    fix: "Add a member with the new type, under another name, and keep this one until nobody sends it. If it is intended, run `npx viceroy compile --accept Tree.age`, which adds it to the lock.",
  });
  expect(read(folder, "viceroy.lock")).toBe(lock);
  expect(read(folder, "generated/a.ts")).toContain("age: string");
  expect(await run(folder)).toMatchObject({ code: 0, found: [`warning ${change}`] });
  expect(await check(folder)).toMatchObject({ code: 1, found: [`error ${change}`] });
});

test("an accepted change is recorded as a line of the lock and passes the check", async () => {
  const folder = await compiled("age: number;");
  addFiles(folder, tree("age: string;"));
  expect(await run(folder, { accept: ["Tree.age"] })).toMatchObject({ code: 0, found: [] });
  expect(read(folder, "viceroy.lock").split("\n").slice(0, 4)).toEqual([
    lockHeaderFormat2,
    `accepted ${change}`,
    "message Tree in schemas/a next=2",
    "  1 age string",
  ]);
  expect(await check(folder)).toMatchObject({ code: 0, found: [] });
  expect(await run(folder)).toMatchObject({ code: 0, found: [] });
});

test("accepting one change accepts neither another member nor a later change of the same member", async () => {
  const folder = await compiled("age: number; size: number;");
  addFiles(folder, tree("age: string; size: string;"));
  const other = change.replace("age", "size");
  expect(await run(folder, { accept: ["Tree.age"] })).toMatchObject({ code: 0, found: [`warning ${other}`] });
  expect(await check(folder)).toMatchObject({ code: 1, found: [`error ${other}`] });
  expect(await run(folder, { accept: ["Tree.size"] })).toMatchObject({ code: 0, found: [] });
  expect(await check(folder)).toMatchObject({ code: 0, found: [] });
  addFiles(folder, tree("age: boolean; size: string;"));
  const { code, found } = await run(folder);
  expect(code).toBe(0);
  expect(found).toHaveLength(1);
  expect(found[0]).toContain("VC5001 Tree.age: its type was string and is bool");
  expect((await check(folder)).code).toBe(1);
});

test("a reverted breaking change leaves neither a finding nor a line in the lock", async () => {
  const folder = await compiled("age: number;");
  const lock = read(folder, "viceroy.lock");
  addFiles(folder, tree("age: string; more: string;"));
  await run(folder);
  addFiles(folder, tree("age: number;"));
  expect(await run(folder)).toMatchObject({ code: 0, found: [] });
  expect(await check(folder)).toMatchObject({ code: 0, found: [] });
  expect(read(folder, "viceroy.lock")).toBe(
    lock.replace("next=2", "next=3").replace("double\n", "double\n  2 -more string\n"),
  );
});

test("new members beside a breaking change get ids at once and become final when it is accepted", async () => {
  const folder = folderWith(files);
  const schema = (members: string, state: string) =>
    `${head}export interface Tree {\n  ${members}\n}\nexport interface State extends Actor {\n  ${state}\n}\n`;
  const before = schema("age: number;", "get(key: string): number;");
  addFiles(folder, { "schemas/a.ts": before });
  await run(folder);
  const broken = schema(
    'age: string; urgency: "low" | "high"; note: { text: string };',
    "get(key: string, limit?: number): number; put(key: string): void;",
  );
  addFiles(folder, { "schemas/a.ts": broken });
  const { found } = await run(folder);
  expect(found.map((line) => line.replace(/: .*/, ""))).toEqual([
    "warning VC5001 Tree.age",
    "warning VC5004 Tree.urgency",
  ]);
  const pending = read(folder, "viceroy.lock");
  const id = /0x[0-9a-f]{8}/.exec(pending)?.[0];
  expect(pending.split("\n")).toEqual([
    lockHeaderFormat2,
    `actor State in schemas/a ${id} next=3`,
    "  0 new next=1 () -> void",
    "  1 get next=3 (1 key: string, 2 +limit: double?) -> double",
    "  2 +put next=2 (1 key: string) -> void",
    "message Tree in schemas/a next=4",
    "  1 age double",
    "  2 +urgency enum",
    "  3 +note message",
    "+message Tree.note in schemas/a next=2",
    "  1 text string",
    "+enum Tree.urgency in schemas/a next=3",
    "  1 low",
    "  2 high",
    "",
  ]);
  // The result depends neither on the number of runs nor on the order of the members.
  addFiles(folder, { "schemas/a.ts": broken.replace("put(key", "drop(key: string): void; put(key") });
  expect((await run(folder)).found).toEqual(found);
  expect(read(folder, "viceroy.lock")).toContain("  2 +put next=2 (1 key: string) -> void\n  3 +drop next=2");
  expect((await check(folder)).found).toEqual(found.map((line) => line.replace("warning", "error")));
  expect(await run(folder, { accept: ["Tree.age", "Tree.urgency"] })).toMatchObject({ code: 0, found: [] });
  expect(read(folder, "viceroy.lock")).not.toMatch(/^ *\d* ?\+/m);
  expect(read(folder, "viceroy.lock")).toContain("  1 age string\n  2 urgency enum\n  3 note message\n");
  expect(await check(folder)).toMatchObject({ code: 0, found: [] });
});

test("a member that is not published yet may change freely", async () => {
  const made = new TestRepository({ ...files, ...tree("age: number;") });
  await run(made.folder);
  made.commit("published");
  made.git("checkout", "--quiet", "-b", "work");
  addFiles(made.folder, tree("age: number; size: number;"));
  await run(made.folder);
  addFiles(made.folder, tree("age: number; size: string;"));
  expect(await run(made.folder)).toMatchObject({ code: 0, found: [] });
  expect(await check(made.folder)).toMatchObject({ code: 0, found: [] });
  expect(read(made.folder, "viceroy.lock").startsWith(lockHeader)).toBe(true);
  // Without the history the check compares with the lock beside the schemas.
  addFiles(made.folder, tree("age: number; size: number;"));
  expect((await check(made.folder, { base: false })).code).toBe(1);
});

test("an edit of the lock by hand hides no change because the published lock is compared", async () => {
  const made = new TestRepository({ ...files, ...tree("age: number;") });
  await run(made.folder);
  made.commit("published");
  made.git("checkout", "--quiet", "-b", "work");
  addFiles(made.folder, tree("age: string;"));
  addFiles(made.folder, { "viceroy.lock": read(made.folder, "viceroy.lock").replace("double", "string") });
  expect(await run(made.folder)).toMatchObject({ code: 0, found: [`warning ${change}`] });
  expect(await check(made.folder)).toMatchObject({ code: 1, found: [`error ${change}`] });
  await run(made.folder, { accept: ["Tree.age"] });
  expect(await check(made.folder)).toMatchObject({ code: 0, found: [] });
  made.commit("accepted");
  expect(await check(made.folder)).toMatchObject({ code: 0, found: [] });
});

test("`viceroy break` ignores changes that the lock records as accepted", async () => {
  const made = new TestRepository({ ...files, ...tree("age: number; size: number;") });
  await run(made.folder);
  made.commit("published");
  addFiles(made.folder, tree("age: string; size: string;"));
  await run(made.folder, { accept: ["Tree.age"] });
  const io = new TestIo();
  expect(await breakCommand(new Project(made.folder), { against: "main", json: true, classes: "WIRE" }, io)).toBe(1);
  expect(io.lines.map((line) => JSON.parse(line).place)).toEqual(["Tree.size"]);
});

test.each([
  [
    "another use of a generic type",
    "export interface Page<T> { items: T[] }\nexport interface Tree { p: Page<Int32>; q: Page<string> }",
    "export interface Page<T> { items: T[] }\nexport interface Tree { p: Page<Int32>; q: Page<string>; r?: Page<boolean> }",
  ],
  [
    "a declaration with another name",
    "export interface Tree { leaf: Leaf }\nexport interface Leaf { x: Int32 }",
    "export interface Tree { leaf: Needle }\nexport interface Needle { x: Int32 }",
  ],
  [
    "a shape that gets a name",
    'export interface Tree { leaf: { kind: "a" | "b" } }',
    'export interface Tree { leaf: Leaf }\nexport interface Leaf { kind: "a" | "b" }',
  ],
  [
    "additions to every kind of declaration",
    "export interface Tree extends Base { x: Int32 }\nexport interface Base { y: Int32 }\nexport enum E { A }\nexport interface S extends Actor { get(e: E): Tree }",
    "export interface Tree extends Base { x?: Int32; z?: E[] }\nexport interface Base { y: Int32; w: string }\nexport enum E { A, B }\nexport interface S extends Actor<[x?: Int32]> { get(e: E, f?: E): Tree; put(): void }",
  ],
])("compile and the check report nothing for a compatible change: %s", async (_, before, after) => {
  const folder = folderWith({ ...files, "schemas/a.ts": `${head}${before}\n` });
  await run(folder);
  addFiles(folder, { "schemas/a.ts": `${head}${after}\n` });
  expect(await run(folder)).toMatchObject({ code: 0, found: [] });
  expect(await check(folder)).toMatchObject({ code: 0, found: [] });
  expect(read(folder, "viceroy.lock").startsWith(lockHeader)).toBe(true);
});

test.each([
  [
    "an alias",
    "export type Age = number;\nexport interface Tree { age: Age }",
    "export type Age = string;\nexport interface Tree { age: Age }",
    ["VC5001 Age", "VC5001 Tree.age"],
  ],
  [
    "an alias that has become an interface",
    "export type Age = number;\nexport interface Tree { age: Age }",
    "export interface Age { years: number }\nexport interface Tree { age: Age }",
    ["VC5001 Tree.age"],
  ],
  [
    "an alias that was removed",
    "export type Age = number;\nexport interface Tree { age: Age }",
    "export interface Tree { age: string }",
    ["VC5001 Tree.age"],
  ],
  [
    "a generic alias",
    "export type Pair<T> = [first: T, second: Int32];\nexport interface Tree { pair: Pair<string> }",
    "export type Pair<T> = [first: T, second: Int64];\nexport interface Tree { pair: Pair<string> }",
    ["VC5001 Pair[1]"],
  ],
  [
    "an alias of an inline shape",
    "export type Leaf = { x: Int32 } | null;\nexport interface Tree { leaf: Leaf }",
    "export type Leaf = { x: Int64 } | null;\nexport interface Tree { leaf: Leaf }",
    ["VC5001 Leaf.x"],
  ],
  [
    "the rest element of a tuple",
    "export interface Tree { row: [Int32, ...{ x: Int32 }[]] }",
    "export interface Tree { row: string }",
    ["VC5001 Tree.row"],
  ],
])("the lock remembers %s, so that a break of it is reported", async (_, before, after, expected) => {
  const folder = folderWith({ ...files, "schemas/a.ts": `${head}${before}\n` });
  await run(folder);
  expect(await check(folder)).toMatchObject({ code: 0, found: [] });
  addFiles(folder, { "schemas/a.ts": `${head}${after}\n` });
  const { found } = await run(folder);
  expect(found.map((line) => line.replace(/^warning (.*?): .*/, "$1"))).toEqual(expected);
  expect((await check(folder)).code).toBe(1);
});

test("compile reads a lock of the older format without aliases and completes it", async () => {
  const text = "export type Age = number;\nexport interface Tree { age: Age }\n";
  const folder = folderWith({ ...files, "schemas/a.ts": head + text });
  await run(folder);
  const whole = read(folder, "viceroy.lock");
  const older = whole.replace(lockHeaderFormat2, lockHeader).replace(/^alias .*\n.*\n/m, "");
  expect(older).not.toContain("alias");
  addFiles(folder, { "viceroy.lock": older });
  expect((await check(folder)).found).toEqual([
    "error VC3004 viceroy.lock is not up to date with the schemas: ids or types differ",
  ]);
  expect(await run(folder)).toMatchObject({ code: 0, found: [] });
  expect(read(folder, "viceroy.lock")).toBe(whole);
});

test("only a breaking change can be accepted", async () => {
  const folder = await compiled("age: number;");
  const lock = read(folder, "viceroy.lock");
  const accept = (...places: readonly string[]) => run(folder, { accept: places, json: false });
  await expect(accept("Tree.age")).rejects.toThrow(
    new ConfigError("cannot accept the change of Tree.age: it is not a breaking change; there are no breaking changes"),
  );
  addFiles(folder, tree("age: string;"));
  await expect(accept("Tree.age", "Tree.agee")).rejects.toThrow(
    new ConfigError(
      "cannot accept the change of Tree.agee: it is not a breaking change; breaking changes are at Tree.age",
    ),
  );
  expect(read(folder, "viceroy.lock")).toBe(lock);
});

test("a rename beside a breaking change does not hide the breaking change", async () => {
  const folder = await compiled("age: number; name: string;");
  addFiles(folder, { "schemas/a.ts": `${head}export interface Tree {\n  age: string;\n  name: string;\n}\n` });
  await run(folder);
  const io = new TestIo();
  expect(await rename(new Project(folder), "Tree.name", "title", io)).toBe(0);
  expect(read(folder, "viceroy.lock")).toContain("  1 age double\n  2 title string was=name\n");
  expect(await check(folder)).toMatchObject({ code: 1, found: [`error ${change}`] });
});

test("a draft compile reports no breaking change and leaves the lock unchanged", async () => {
  const folder = await compiled("age: number;");
  const lock = read(folder, "viceroy.lock");
  addFiles(folder, tree("age: string;"));
  expect(await run(folder, { draft: true })).toMatchObject({ code: 0, found: [] });
  expect(read(folder, "viceroy.lock")).toBe(lock);
});
