/** Clashes between names that the generated code promises to users. */
import { expect, test } from "vitest";
import { commonRoot, findClashes } from "../../../compiler/emit/index.js";
import type { ActorDeclaration } from "../../../compiler/model/index.js";
import { declare, int32, message, module, schema } from "./build.js";

const at = { file: "schemas/a.ts", line: 1, column: 1 };

function actor(name: string): ActorDeclaration {
  return { key: `schemas/a.ts#${name}`, name, id: 1, doc: "", extends: [], args: [], endpoints: [], at };
}

test("a type with the name of a generated type of an actor is a clash", () => {
  const types = [declare("CounterMesh", message({ a: int32 })), declare("Tree", message({ a: int32 }))];
  expect(findClashes(schema(module(types, [actor("Counter")])), "schemas")).toEqual([
    { name: "CounterMesh", first: "type CounterMesh", second: "the mesh type of actor Counter", at },
  ]);
});

test("a type and a generated value may share a name, but an enum clashes because it is both", () => {
  const tree = declare("Tree", message({ a: int32 }));
  expect(findClashes(schema(module([tree, declare("TreeCodec", message({ a: int32 }))])), "schemas")).toEqual([]);
  const enumeration = declare("TreeCodec", { kind: "enum", origin: "enum", values: [] });
  expect(findClashes(schema(module([tree, enumeration])), "schemas")).toEqual([
    { name: "TreeCodec", first: "type TreeCodec", second: "the codec of Tree", at },
  ]);
});

test("actors whose names differ only in the case of the first letter clash in their descriptor", () => {
  expect(findClashes(schema(module([], [actor("Counter"), actor("counter")])), "schemas")).toEqual([
    {
      name: "counterDescriptor",
      first: "the descriptor of actor Counter",
      second: "the descriptor of actor counter",
      at,
    },
  ]);
});

test("a schema file whose output would be registry.ts clashes with the registry", () => {
  const registry = module([declare("A", int32)], [], "schemas/registry.ts");
  expect(findClashes(schema(registry), "schemas")).toEqual([
    {
      name: "registry.ts",
      first: "the registry of actors",
      second: "schemas/registry.ts",
      at: { file: "schemas/registry.ts", line: 1, column: 1 },
    },
  ]);
});

test("the root of schemas is the folder that all patterns share before their first wildcard", () => {
  expect(commonRoot(["schemas/**/*.ts"])).toBe("schemas");
  expect(commonRoot(["./schemas/a/*.ts", "schemas/b.ts"])).toBe("schemas");
  expect(commonRoot(["a/schemas/*.ts", "b/schemas/*.ts"])).toBe("");
  expect(commonRoot(["a/{b,c}/*.ts", "a/d/**"])).toBe("a");
  expect(commonRoot(["**/*.schema.ts"])).toBe("");
  expect(commonRoot(["schemas/**/*.ts", "!schemas/old/*.ts"])).toBe("schemas");
});

test("the codec of a type in a namespace clashes with the codec of a type with the joined name", () => {
  const types = [declare("Order.Line", message({ a: int32 })), declare("OrderLine", message({ a: int32 }))];
  expect(findClashes(schema(module(types)), "schemas")).toEqual([
    { name: "OrderLineCodec", first: "the codec of Order.Line", second: "the codec of OrderLine", at },
  ]);
});

test("a namespace may have the name of a schema type, but not of a generated mesh type or codec", () => {
  const order = declare("Order", message({ a: int32 }));
  const line = declare("Order.Line", message({ a: int32 }));
  const other = declare("Other.Line", message({ a: int32 }));
  expect(findClashes(schema(module([order, line, other, declare("Line", int32)])), "schemas")).toEqual([]);
  const mode = declare("TreeCodec.Mode", { kind: "enum", origin: "enum", values: [] });
  expect(findClashes(schema(module([declare("Tree", int32), mode])), "schemas")).toEqual([
    { name: "TreeCodec", first: "namespace TreeCodec", second: "the codec of Tree", at },
  ]);
  const types = declare("CounterMesh.Line", message({ a: int32 }));
  expect(findClashes(schema(module([types], [actor("Counter")])), "schemas")).toEqual([
    { name: "CounterMesh", first: "namespace CounterMesh", second: "the mesh type of actor Counter", at },
  ]);
});
