/** Checks that fingerprints are equal exactly when the layouts of messages are equal. */
import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fingerprint, indexSchema, type Schema, type Type } from "../../../compiler/model/index.js";
import { arbitrarySchema } from "../emit/arbitrary-schema.js";
import { array, declare, int32, message, module, parameter, ref, schema, string } from "../emit/build.js";

const T = parameter("T");

function of(type: Type, ...types: Parameters<typeof module>[0]): bigint {
  return fingerprint(indexSchema(schema(module(types)))).type(type);
}

function sha64(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

test("the fingerprint of a type is a hash that contains the fingerprints of its parts", () => {
  const element = sha64("int32");
  expect(of(int32)).toBe(BigInt(`0x${element}`));
  expect(of(array(int32))).toBe(BigInt(`0x${sha64(`array(${element})`)}`));
  const tree = sha64(`message Leaf{value:${element},name?:${sha64("string")}}`);
  expect(of(ref("Leaf"), declare("Leaf", message({ value: int32, "name?": string })))).toBe(BigInt(`0x${tree}`));
});

test("a fingerprint depends on the names, order, types and optionality of fields", () => {
  const variants = [
    message({ a: int32, b: string }),
    message({ b: string, a: int32 }),
    message({ a: int32, c: string }),
    message({ a: int32, b: int32 }),
    message({ a: int32, "b?": string }),
    message({ a: int32 }),
  ];
  expect(new Set(variants.map((shape) => of(ref("A"), declare("A", shape)))).size).toBe(variants.length);
  expect(of(ref("A"), declare("A", message({})))).not.toBe(of(ref("B"), declare("B", message({}))));
});

test("a fingerprint does not depend on documentation or on the order of declarations", () => {
  const a = declare("A", message({ b: ref("B") }));
  const b = declare("B", message({ x: int32 }));
  const documented = declare("A", message({ b: ref("B") }), [], "Says something.");
  expect(of(ref("A"), b, documented)).toBe(of(ref("A"), a, b));
});

test("an alias and a generic alias have the fingerprint of the type that they stand for", () => {
  const rows = declare("Rows", array(int32));
  const list = declare("List", array(T), ["T"]);
  expect(of(ref("Rows"), rows)).toBe(of(array(int32)));
  expect(of(ref("List", int32), list)).toBe(of(array(int32)));
});

test("the fingerprint of an instantiation is a hash of its generic declaration and its arguments", () => {
  const page = declare("Page", message({ items: array(T) }), ["T"]);
  const generic = fingerprint(indexSchema(schema(module([page])))).declaration("schemas/a.ts#Page");
  const applied = sha64(`apply(${generic.toString(16).padStart(16, "0")},${sha64("int32")})`);
  expect(of(ref("Page", int32), page)).toBe(BigInt(`0x${applied}`));
  expect(of(ref("Page", string), page)).not.toBe(of(ref("Page", int32), page));
});

test("recursive declarations have fingerprints, and declarations in one cycle have different ones", () => {
  const a = declare("A", message({ "b?": ref("B"), x: int32 }));
  const b = declare("B", message({ "a?": ref("A"), x: int32 }));
  const changed = declare("B", message({ "a?": ref("A"), x: string }));
  expect(of(ref("A"), a, b)).not.toBe(of(ref("B"), a, b));
  expect(of(ref("A"), b, a)).toBe(of(ref("A"), a, b));
  expect(of(ref("A"), a, changed)).not.toBe(of(ref("A"), a, b));
  const list = declare("List", message({ head: T, "tail?": ref("List", T) }), ["T"]);
  expect(of(ref("List", int32), list)).not.toBe(of(ref("List", string), list));
});

test("an alias that contains itself has a fingerprint of its own, unlike other aliases", () => {
  const nest = declare("Nest", array(ref("Nest")));
  const generic = declare("Deep", array(ref("Deep", T)), ["T"]);
  expect(of(ref("Nest"), nest)).not.toBe(of(array(ref("Nest")), nest));
  expect(of(ref("Deep", int32), generic)).not.toBe(of(ref("Deep", string), generic));
});

test("fingerprints of a random schema do not depend on the order of its files", () => {
  const all = (schema: Schema) => {
    const { declaration, actor, module } = fingerprint(indexSchema(schema));
    return schema.modules
      .flatMap((file) => [
        `${file.path} ${module(file)}`,
        ...file.types.map(({ key }) => `${key} ${declaration(key)}`),
        ...file.actors.map(({ key }) => `${key} ${actor(key)}`),
      ])
      .sort();
  };
  fc.assert(
    fc.property(arbitrarySchema, (schema) => {
      expect(all({ ...schema, modules: [...schema.modules].reverse() })).toEqual(all(schema));
    }),
    { numRuns: 50, seed: 3, endOnFailure: true },
  );
});
