/** Members that move in Cap'n Proto: how types are described, which member is reported, and where comparing ends. */
import { describe, expect, test } from "vitest";
import { rootStruct, structChanges } from "../../../compiler/evolve/capnp-changes.js";
import { findBreaks } from "../../../compiler/evolve/index.js";
import { breaksOf, type SchemaTexts, stateOf, statesOf } from "./states.js";

const emit = ["ts", "capnp"] as const;

/** Lists the changes of the interface `Tree`, each as `place (member): was -> is`. */
function changes(older: SchemaTexts, newer: SchemaTexts, name = "Tree"): readonly string[] {
  const states = statesOf(older, newer, { emit });
  const [was, is] = [states.older, states.newer].map(({ capnp }) => rootStruct(capnp ?? [], "schemas/a.ts", name));
  if (was === undefined || is === undefined) throw new Error(`cannot find ${name} in Cap'n Proto`);
  return structChanges(name, { older: was, newer: is }, new Map()).map(
    (change) => `${change.place} (${change.member}): ${change.was} -> ${change.is}`,
  );
}

const tree = (fields: string, more = "") => `export interface Tree {\n  ${fields}\n}\n${more}`;

test.each([
  ["Int32", "Int32"],
  ["Sint32", "Int32"],
  ["Uint32", "UInt32"],
  ["Int64", "Int64"],
  ["number", "Float64"],
  ["Date", "Int64 of milliseconds"],
  ["string", "Text"],
  ["Value", "Text"],
  ["Uint8Array", "Data"],
  ["Uint8ClampedArray", "Data"],
  ["Int8Array", "List(Int8)"],
  ["Int16Array", "List(Int16)"],
  ["Uint16Array", "List(UInt16)"],
  ["Int32Array", "List(Int32)"],
  ["Uint32Array", "List(UInt32)"],
  ["BigInt64Array", "List(Int64)"],
  ["BigUint64Array", "List(UInt64)"],
  ["Float32Array", "List(Float32)"],
  ["Float64Array", "List(Float64)"],
  ['"x" | "y"', "enum"],
  ["Uint64", "UInt64"],
  ["Float32", "Float32"],
  ["Int32[][]", "List(List(Int32))"],
  ["Set<string>", "List(Text)"],
  ["Map<string, Int32>", "List(struct)"],
  ["{ a: Int32 }", "struct"],
  ["[Int32, string]", "struct"],
  ['{ kind: "a" } | { kind: "b" }', "struct of a union"],
  ["Oneof<{ a: Int32 }>", "struct of a union"],
  ["(Int32 | null)[]", "List(struct of null or a value)"],
  ["Int32 | null", "union of absent and Int32"],
])("the type %s is described as %s", (type, text) => {
  expect(changes(tree(`is: ${type};`), tree("is: boolean;"))).toEqual([`Tree.is (is): ${text} -> Bool`]);
});

test.each([
  ["is?: Int32;", "union of absent and Int32"],
  ["is: Int32 | null;", "union of absent and Int32"],
  ["is?: Int32 | null;", "union of absent, null and Int32"],
])("a field that may be absent is described as a union: %s", (field, text) => {
  expect(changes(tree("is: Int32;"), tree(field))).toEqual([`Tree.is (is): Int32 -> ${text}`]);
});

describe("structChanges", () => {
  test("reports only the first member that has changed", () => {
    expect(changes(tree("a: Int32;\n  b: Int32;\n  c: Int32;"), tree("a: Int32;\n  b: string;\n  c: string;"))).toEqual(
      ["Tree.b (b): Int32 -> Text"],
    );
  });

  test("ignores members that were removed or added", () => {
    expect(changes(tree("a?: Int32;\n  b?: Int32;"), tree("b?: Int32;\n  c?: string;"))).toEqual([]);
    expect(changes(tree("b?: Int32;"), tree("c?: string;"))).toEqual([]);
    expect(changes(tree("a: string;\n  b: 'x' | 'y';\n  c: Int32;"), tree("c: Int32;"))).toEqual([]);
  });

  test("reports a member of a nested message with its path and the member of the exported type", () => {
    const inner = (type: string) =>
      tree(
        `a: { b: { c: ${type} } };\n  list: { d: ${type} }[][];\n  maybe: ({ e: ${type} } | null)[];\n  map: Map<string, { f: ${type} }>;`,
      );
    expect(changes(inner("Int32"), inner("string"))).toEqual([
      "Tree.a.b.c (a): Int32 -> Text",
      "Tree.list.d (list): Int32 -> Text",
      "Tree.maybe.value.e (maybe): Int32 -> Text",
      "Tree.map.value.f (map): Int32 -> Text",
    ]);
  });

  test("reports a pair of messages once, at its first use", () => {
    const both = (type: string) =>
      tree("a?: Leaf;\n  b?: Leaf;\n  next?: Tree;", `export interface Leaf {\n  c: ${type};\n  tree?: Tree;\n}\n`);
    expect(changes(both("Int32"), both("string"))).toEqual(["Tree.a.c (a): Int32 -> Text"]);
    expect(changes(both("Int32"), both("Int32"))).toEqual([]);
  });

  test("reports nothing for unchanged members", () => {
    const fields = "a: 'x' | 'y';\n  b: string[];\n  c: { d: Date };\n  e: ({ f: 'x' }[] | null)[];";
    expect(changes(tree(fields), tree(`${fields}\n  more?: string;`))).toEqual([]);
  });

  test("reports each of two pairs of messages", () => {
    const leaves = "interface One { c: Int32 }\ninterface Two { c: string }\ninterface Three { c: boolean }\n";
    const before = tree("a: One;\n  b: One;", leaves);
    expect(changes(before, tree("a: Two;\n  b: Three;", leaves))).toEqual([
      "Tree.a.c (a): Int32 -> Text",
      "Tree.b.c (b): Int32 -> Bool",
    ]);
  });
});

test("rootStruct finds only exported structs, by file and name", () => {
  const { newer } = statesOf(
    "",
    `interface Leaf {\n  b: Int32;\n}\n${tree("a: Int32;\n  leaf: Leaf;", 'export type Kind = "x" | "y";\nexport type Rows = Int32[];\n')}`,
    { emit },
  );
  const files = newer.capnp ?? [];
  expect(rootStruct(files, "schemas/a.ts", "Tree")).toMatchObject({ kind: "struct", name: "Tree" });
  expect(rootStruct(files, "schemas/b.ts", "Tree")).toBeUndefined();
  expect(rootStruct(files, "schemas/a.ts", "Leaf")).toBeUndefined();
  expect(rootStruct(files, "schemas/a.ts", "Kind")).toBeUndefined();
});

describe("viceroy break", () => {
  const found = (older: SchemaTexts, newer: SchemaTexts, emitted: typeof emit | readonly ["ts"] = emit) =>
    breaksOf(older, newer, { emit: emitted }).map(({ code, class: of, place, at, side, text, fix }) =>
      [code, of, place, `${side} ${at.line}:${at.column}`, text, fix].join(" | "),
    );

  test("reports a moved member with its line if both sides emit Cap'n Proto", () => {
    const moved = (place: string) =>
      `in Cap'n Proto it was Int32 and is union of absent and Int32: readers take the one for the other, and what stands behind it has moved | ${place}`;
    const fix = "Leave it as it was, and add a new member.";
    const [before, after] = [tree("z: string;\n  in: { a: Int32 };"), tree("z: string;\n  in: { a?: Int32 };")];
    expect(found(before, after)).toEqual([
      `VC5020 | WIRE | Tree.in.a | newer 4:3 | Tree.in.a: ${moved(fix)}`,
      "VC5038 | SOURCE | Tree.in.a | newer 4:9 | Tree.in.a may be absent now: code that reads it may not compile | ",
    ]);
    expect(found(before, after, ["ts"])).toEqual([
      "VC5038 | SOURCE | Tree.in.a | newer 4:9 | Tree.in.a may be absent now: code that reads it may not compile | ",
    ]);
  });

  test("reports no moved member if only one side emits Cap'n Proto or has a struct", () => {
    const [before, after] = [stateOf(tree("a: Int32;"), emit), stateOf(tree("a?: Int32;"), ["ts"])];
    for (const [older, newer] of [
      [before, after],
      [after, before],
    ] as const)
      expect(findBreaks(older, newer).filter(({ code }) => code === "VC5020")).toEqual([]);
    const kinds = ["export interface Kind {\n  a?: Int32;\n}\n", 'export type Kind = "x" | "y";\n'] as const;
    expect(found(...kinds).join("\n")).not.toContain("VC5020");
    expect(found(kinds[1], kinds[0]).join("\n")).not.toContain("VC5020");
  });

  test("reports no moved member if its protobuf type has changed too", () => {
    expect(found(tree("a: Int32;"), tree("a: string;")).map((line) => line.slice(0, 6))).toEqual(["VC5001"]);
  });

  test("reports a moved member of a namespace at its line, and of an array alias at the alias", () => {
    const order = (field: string) => `export namespace Order {\n  export interface Line {\n    ${field}\n  }\n}\n`;
    expect(found(order("a: Int32;"), order("a?: Int32;"))[0]).toMatch(/^VC5020 \| WIRE \| Order.Line.a \| newer 4:5/);
    const rows = (field: string) => `export type Rows = { ${field} }[];\n`;
    expect(found(rows("a: Int32"), rows("a?: Int32"))[0]).toMatch(/^VC5020 \| WIRE \| Rows.value.a \| newer 2:13 /);
  });
});
