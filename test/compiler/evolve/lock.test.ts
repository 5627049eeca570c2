/** `compile --check` applies the wire rules to the sources and the lock beside them. */
import { expect, test } from "vitest";
import { compile } from "../../../compiler/cli/commands/compile.js";
import { Project } from "../../../compiler/cli/project.js";
import { addFiles, folderWith, TestIo } from "../folder.js";

const head = 'import type { Actor, Int32, Int64, Oneof, Port, Stream, Uint32 } from "viceroy/schema";\n\n';

/** The breaks that `--check` finds, as `place code text`, and its exit code. */
async function check(before: string, after: string, settings = "") {
  const folder = folderWith({
    "package.json": '{ "name": "example" }\n',
    "viceroy.config.ts": `export default { schemas: "schemas/**/*.ts"${settings} };\n`,
    "schemas/a.ts": head + before,
  });
  const run = async (isCheck: boolean) => {
    const io = new TestIo();
    const code = await compile(new Project(folder), { check: isCheck, json: true, draft: false }, io);
    return { code, found: io.lines.map((line) => JSON.parse(line) as Readonly<Record<string, string>>) };
  };
  expect((await run(false)).code).toBe(0);
  addFiles(folder, { "schemas/a.ts": head + after });
  const { code, found } = await run(true);
  const breaks = found.filter((one) => one["class"] !== undefined);
  return [...breaks.map((one) => `${one["file"]}:${one["line"]} ${one["code"]} ${one["text"]}`), `exit code ${code}`];
}

test("the check reports a field whose type has changed", async () => {
  expect(
    await check("export interface Tree {\n  age: Int32;\n}\n", "export interface Tree {\n  age: Int64;\n}\n"),
  ).toEqual([
    "schemas/a.ts:4 VC5001 Tree.age: its type was int32 and is int64: numbers that need more than 32 bits are cut",
    "exit code 1",
  ]);
});

test("the check reports a compatible change only as drift", async () => {
  expect(
    await check(
      "export interface Tree {\n  age: Int32;\n}\n",
      "export interface Tree {\n  age?: Int32;\n  name: string;\n}\n",
    ),
  ).toEqual(["exit code 1"]);
});

test("the check reports changes in inline shapes at every position", async () => {
  const types = (kind: string) => `export interface Tree {
  list: { value: ${kind} }[][];
  map: Map<string, { value: ${kind} }>;
  record: Record<string, { value: ${kind} } | null>;
  tuple: [number, { value: ${kind} }?, ...{ value: ${kind} }[]];
  choice: { kind: "a"; value: ${kind} } | { kind: "b" };
  one: Oneof<{ a: { value: ${kind} }; b: string }>;
}\n`;
  const found = await check(types("Int32"), types("Uint32"));
  expect(found.map((line) => line.replace(/: .*/, ""))).toEqual([
    "schemas/a.ts:4 VC5001 Tree.list[][].value",
    "schemas/a.ts:5 VC5001 Tree.map{}.value",
    "schemas/a.ts:6 VC5001 Tree.record{}.value",
    "schemas/a.ts:7 VC5001 Tree.tuple[1].value",
    "schemas/a.ts:7 VC5001 Tree.tuple[...].value",
    "schemas/a.ts:8 VC5001 Tree.choice|a.value",
    "schemas/a.ts:9 VC5001 Tree.one.a.value",
    "exit code 1",
  ]);
});

test("the check compares collections, sets, enums, unions and typed arrays that became another type", async () => {
  const before = `export interface Tree {
  a: Map<string, [number, string?][]>;
  b: Set<Int32> | null;
  c: "x" | "y";
  d?: { kind: "a" } | { kind: "b"; more: string };
  e: Float64Array;
}\n`;
  const after = `export interface Tree {
  a: Map<string, [number, string?]>;
  b: Int32[] | null;
  c: string;
  d?: string;
  e: Float32Array;
}\n`;
  expect(await check(before, after)).toEqual([
    "schemas/a.ts:4 VC5002 Tree.a{}[0]: it was repeated message example.v1.TreeAValueItem and is double: all values of the list but one are lost",
    "schemas/a.ts:4 VC5008 Tree.a{}: readers of the older schema drop item2, which is new",
    "schemas/a.ts:5 VC5011 Tree.b: it was a set and is a list: one side drops what the other may send twice",
    "schemas/a.ts:6 VC5001 Tree.c: its type was enum example.v1.TreeC and is string: neither side finds the other's value, which has another wire type",
    "schemas/a.ts:7 VC5001 Tree.d: its type was message example.v1.TreeD and is string: what is no such message, or no UTF-8, is refused",
    "schemas/a.ts:8 VC5001 Tree.e: its type was double and is float: neither side finds the other's value, which has another wire type",
    "exit code 1",
  ]);
});

test("the check compares declarations that changed their kind or were removed", async () => {
  const before =
    'export type Size = "s" | "l";\nexport interface Leaf { color: string }\nexport interface Tree {\n  size: Size[];\n  leaf: Leaf;\n}\n';
  const after =
    "export interface Size { value: number }\nexport interface Tree {\n  size: Size[];\n  leaf: Twig;\n}\nexport interface Twig { color: Int32 }\n";
  expect(await check(before, after)).toEqual([
    "schemas/a.ts:3 VC5001 Tree.size: its type was enum example.v1.Size and is message example.v1.Size: neither side finds the other's value, which has another wire type",
    "schemas/a.ts:6 VC5001 Tree.leaf: its type was message example.v1.Leaf and is message example.v1.Twig: example.v1.Twig.color: its type was string and is int32: neither side finds the other's value, which has another wire type",
    "exit code 1",
  ]);
});

test("the check reports changes of endpoints, arguments, streams and ports", async () => {
  const before = `export interface Clock extends Actor<[zone: string]> {
  time(format?: string): Date;
  ticks(every: Int32): Stream<Date>;
  subscribe(to: Port<Int32>): void;
  halt(): void;
}\n`;
  const after = `export interface Clock extends Actor<[zone: Int32]> {
  time(format?: Int32): string;
  ticks(every: Int32): Date;
  subscribe(to: Port<string>): void;
}\n`;
  expect(await check(before, after)).toEqual([
    "schemas/a.ts:3 VC5001 Clock().zone: its type was string and is int32: neither side finds the other's value, which has another wire type",
    "schemas/a.ts:4 VC5001 the result of Clock.time: its type was message google.protobuf.Timestamp and is string: what is no such message, or no UTF-8, is refused",
    "schemas/a.ts:4 VC5001 Clock.time.format: its type was string and is int32: neither side finds the other's value, which has another wire type",
    "schemas/a.ts:5 VC5017 Clock.ticks: it gave a stream and gives one answer: callers wait for the other",
    "schemas/a.ts:6 VC5012 Clock.subscribe.to: what its port takes: its type was int32 and is string: neither side finds the other's value, which has another wire type",
    "viceroy.lock:7 VC5015 Clock.halt: the endpoint has gone: calls of the older schema are refused",
    "exit code 1",
  ]);
});

test("the check reports breaks of the Cap'n Proto layout only if Cap'n Proto is emitted", async () => {
  const before = `export interface Tree {
  age?: Int32;
  gone: Int64;
  leaf: Leaf;
  name: string;
}
export interface Leaf {
  sizes: { value: Int32 }[];
}\n`;
  const after = `export interface Tree {
  age: Int32;
  leaf: Leaf;
  name: string;
  added?: string;
}
export interface Leaf {
  sizes: { value?: Int32 }[];
}\n`;
  const settings = ', emit: ["ts", "capnp"]';
  expect(await check(before, after, settings)).toEqual([
    "schemas/a.ts:4 VC5020 Tree.age: in Cap'n Proto it was union of absent and Int32 and is Int32: readers take the one for the other, and what stands behind it has moved",
    "schemas/a.ts:10 VC5020 Leaf.sizes.value: in Cap'n Proto it was Int32 and is union of absent and Int32: readers take the one for the other, and what stands behind it has moved",
    "exit code 1",
  ]);
  expect(
    await check(before, before.replace("age?", "age?: Int32;\n  more?").replace("  gone: Int64;\n", ""), settings),
  ).toEqual(["exit code 1"]);
  expect(await check(before, after)).toEqual(["exit code 1"]);
});

test("the check does not report a break that the config ignores", async () => {
  const settings = ', break: { ignore: [{ code: "VC5001", place: "Tree.age", reason: "It was never sent." }] }';
  expect(
    await check("export interface Tree {\n  age: Int32;\n}\n", "export interface Tree {\n  age: Int64;\n}\n", settings),
  ).toEqual(["exit code 1"]);
});
