/** Checks the texts of types in the lock. Published locks contain these texts, so none ever changes. */
import { expect, test } from "vitest";
import { moduleName } from "../../../compiler/lock/index.js";
import { typeText } from "../../../compiler/lock/type-text.js";
import type { Type } from "../../../compiler/model/index.js";
import { int32, string } from "./schema.js";

const ref = (name: string, ...args: readonly Type[]): Type => ({ kind: "ref", target: `schemas/a.ts#${name}`, args });
const tuple = (rest?: Type): Type => ({
  kind: "tuple",
  elements: [
    { type: int32, optional: false },
    { type: string, optional: true },
  ],
  readonly: false,
  ...(rest !== undefined && { rest }),
});

test.each<readonly [text: string, type: Type]>([
  ["int32", int32],
  ["int8array", { kind: "typedArray", element: "int8" }],
  ["string[]", { kind: "array", element: string, readonly: true }],
  ["[int32, string?]", tuple()],
  ["[int32, string?, ...Tree[]]", tuple(ref("Tree"))],
  ["map<string, int32>", { kind: "map", key: string, value: int32, readonly: false }],
  ["set<string>", { kind: "set", element: string, readonly: false }],
  ["record<int32>", { kind: "record", value: int32 }],
  ["nullable<int32>", { kind: "nullable", inner: int32 }],
  ["Tree", ref("Tree")],
  ["Pair<int32, T>", ref("Pair", int32, { kind: "parameter", name: "T" })],
  ["message", { kind: "inline", shape: { kind: "message", fields: [] } }],
  ["oneof", { kind: "inline", shape: { kind: "oneof", cases: [] } }],
  ["string", { kind: "inline", shape: { kind: "alias", type: string } }],
  ["port<string>", { kind: "port", element: string }],
  ["mesh<Store>", { kind: "mesh", actor: "schemas/a.ts#Store" }],
  ['mesh<Store, "x", "a b">', { kind: "mesh", actor: "schemas/a.ts#Store", dimensions: ["x", "a b"] }],
  ["rdmabuffer", { kind: "rdmaBuffer" }],
  ["tensor", { kind: "tensor" }],
  ["objectref<string>", { kind: "objectRef", element: string }],
  ["fieldmask", { kind: "wellKnown", name: "FieldMask" }],
  ["unsupported", { kind: "unsupported", reason: "", typeText: "", fixHint: "" }],
])("typeText returns %s", (text, type) => {
  expect(typeText(type)).toBe(text);
});

test.each([
  ["schemas/counter.ts", "schemas/counter"],
  ["schemas/counter.d.ts", "schemas/counter"],
  ["schemas/counter.mts", "schemas/counter"],
  ["schemas/counter.d.cts", "schemas/counter"],
  ["schemas/counter.tsx", "schemas/counter"],
  ["schemas.ts/counter.ts", "schemas.ts/counter"],
])("moduleName turns the path %s into %s", (path, name) => {
  expect(moduleName(path)).toBe(name);
});
