/** Checks results of lowering that are not printed: demanded fields, origins, constructors and clashes of names. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Schema } from "../../../compiler/model/index.js";
import { nameEnums } from "../../../compiler/protobuf/lower/lower.js";
import { arbitrarySchema } from "../emit/arbitrary-schema.js";
import { nestedSchema } from "../emit/nested-schema.js";
import { goldenCases, goldenInput, inputOf, inputOfSchema } from "../emit/proto/lowered.js";

const lowered = (text: string, more: Readonly<Record<string, string>> = {}) =>
  inputOf(Object.entries({ "schemas/a.ts": text, ...more }).map(([path, text]) => ({ path, text }))).lowered;

test("required fields whose type has no default value are demanded", () => {
  const { schema } = lowered(`import type { Oneof, Port } from "viceroy/schema";
export type Food = "grass" | "meat";
export type Key = Oneof<{ id: string }>;
export interface All {
  food: Food;
  maybeFood?: Food;
  key: Key;
  nullKey: Key | null;
  inner: { a: number };
  port: Port<string>;
  part: Oneof<{ /** @id 20 */ x: number }>;
  maybePart?: Oneof<{ /** @id 21 */ y: number }>;
}`);
  const all = schema.messages.get("golden.v1.All");
  expect(all?.fields.filter(({ demanded }) => demanded).map(({ name }) => name)).toEqual(["food", "key", "port"]);
  expect(all?.demandedOneofs).toEqual(["part"]);
  expect(schema.messages.get("golden.v1.Key")?.demandedOneofs).toEqual(["value"]);
});

test("every lowered name has the place, position and documentation of its source", () => {
  const { origins } = lowered(`import type { Actor } from "viceroy/schema";
/** A tree. */
export interface Tree {
  /** Many. */
  leafCount: number;
  inner: { deep: string };
}
export enum Kind {
  /** Green. */
  Leaf = 1,
}
/** Stands. */
export interface Forest extends Actor {
  /** Makes one more. */
  plantTree(what: Tree): void;
}`);
  const of = (name: string) => {
    const { place, doc, at } = origins.get(`golden.v1.${name}`)!;
    return `${place} ${at.line}:${at.column} ${doc}`.trim();
  };
  expect(of("Tree")).toBe("Tree 3:18 A tree.");
  expect(of("Tree.leaf_count")).toBe("Tree.leafCount 5:3 Many.");
  expect(of("Tree.inner")).toBe("Tree.inner 6:3");
  expect(of("TreeInner")).toBe("Tree.inner 6:3");
  expect(of("TreeInner.deep")).toBe("Tree.inner.deep 6:12");
  expect(of("Kind.KIND_LEAF")).toBe("Kind.Leaf 10:3 Green.");
  expect(of("ForestService")).toBe("Forest 13:18 Stands.");
  expect(of("ForestService.PlantTree")).toBe("Forest.plantTree 15:3 Makes one more.");
  expect(of("ForestServicePlantTreeRequest.what")).toBe("Forest.plantTree.what 15:13");
});

test("arguments of constructors are lowered to messages that no file contains", () => {
  const { constructors, files } = lowered(`import type { Actor, Int32 } from "viceroy/schema";
export interface Counter extends Actor<[initial: Int32, name?: string]> {}`);
  const found = constructors.get("golden.v1.CounterService");
  expect(found?.fields.map(({ name, number, cardinality }) => [name, number, cardinality])).toEqual([
    ["initial", 1, "implicit"],
    ["name", 2, "explicit"],
  ]);
  expect(files.flatMap(({ messages }) => messages)).toEqual([]);
});

test("the second of two declarations with the same name gets another name, and the clash is reported", () => {
  const { clashes, schema } = lowered("export interface Same { a: string }", {
    "schemas/b.ts": "export interface Same { b: string }",
  });
  expect(clashes).toEqual([
    {
      kind: "type",
      name: "golden.v1.Same",
      first: "Same of schemas/a.ts",
      second: "Same of schemas/b.ts",
      at: { file: "schemas/b.ts", line: 1, column: 18 },
    },
  ]);
  expect([...schema.messages.keys()]).toEqual(["golden.v1.Same", "golden.v1.Same2"]);
});

test("an inline message gets another name when a declaration in any file has its name", () => {
  const { clashes, schema } = lowered("export interface Entry { meta: { a: string } }", {
    "schemas/b.ts": "export interface EntryMeta { b: string }",
  });
  expect(clashes).toEqual([]);
  expect([...schema.messages.keys()].sort()).toEqual([
    "golden.v1.Entry",
    "golden.v1.EntryMeta",
    "golden.v1.EntryMeta2",
  ]);
});

test("enumNames finds enums by their shapes, and an enum in a generic type is one for all instances", () => {
  const { schema, lowered } = inputOf([
    {
      path: "schemas/a.ts",
      text: `export interface Page<T> { items: T[]; order: "up" | "down" }
export interface Uses { numbers: Page<number>; texts: Page<string>; side: "left" | "right" }`,
    },
  ]);
  const [page, uses] = schema.modules[0]!.types.map(({ shape }) => (shape.kind === "message" ? shape.fields : []));
  const nameOf = (fields: typeof page, name: string) => {
    const type = fields?.find((field) => field.name === name)?.type;
    return type?.kind === "inline" ? lowered.enumNames.get(type.shape) : undefined;
  };
  expect(nameOf(page, "order")).toBe("golden.v1.PageOrder");
  expect(nameOf(uses, "side")).toBe("golden.v1.UsesSide");
  expect([...lowered.schema.enums.keys()].sort()).toEqual(["golden.v1.PageOrder", "golden.v1.UsesSide"]);
});

test("clashing names of enum values get their numbers as a suffix, also when they clash without the prefix", () => {
  const { schema } = lowered(`export type B = "b" | "";
export type C = "3" | "+" | "-";
export interface M { b?: B; c?: C }`);
  const names = (of: string) => schema.enums.get(of)?.values.map(({ name }) => name);
  expect(names("golden.v1.B")).toEqual(["B_UNSPECIFIED", "B_B", "B__2"]);
  // protobuf compares names without the prefix and underscores, so C___3 would clash with C_3.
  expect(names("golden.v1.C")).toEqual(["C_UNSPECIFIED", "C_3", "C__", "C___3_3"]);
});

test("nameEnums gives enums the same names as the lowering of the whole schema", () => {
  let named = 0;
  const check = (schema: Schema) => {
    const { enumNames } = inputOfSchema(schema).lowered;
    const alone = nameEnums(schema, { package: "golden.v1", schemaRoot: "schemas" });
    for (const [shape, name] of enumNames) expect(alone.get(shape), name).toBe(name);
    expect(alone.size).toBe(enumNames.size);
    named += alone.size;
  };
  for (const name of goldenCases) check(goldenInput(name).schema);
  fc.assert(fc.property(fc.oneof(arbitrarySchema, nestedSchema), check));
  expect(named).toBeGreaterThan(10);
});
