/** Checks which instantiations of generic declarations a module needs, and which shapes they have. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { indexSchema, instantiationsOf, substitute } from "../../../compiler/model/index.js";
import { textOf } from "../../../compiler/model/resolve.js";
import { arbitrarySchema } from "../emit/arbitrary-schema.js";
import { array, declare, int32, message, module, parameter, ref, schema, string } from "../emit/build.js";

const T = parameter("T");

function instantiations(...types: Parameters<typeof module>[0]) {
  const only = module(types);
  const { found, endless } = instantiationsOf(only, indexSchema(schema(only)));
  return { found: found.map(({ target, args, shape }) => ({ name: target.name, args, shape })), endless };
}

test("substitute replaces type parameters at any depth and keeps unbound parameters", () => {
  const type = { kind: "map", key: string, value: array(T), readonly: false } as const;
  expect(substitute(type, new Map([["T", int32]]))).toEqual({ ...type, value: array(int32) });
  expect(substitute(type, new Map([["U", int32]]))).toEqual(type);
});

test("instantiationsOf lists each instantiation once, also one that is reached through another one", () => {
  const page = declare("Page", message({ items: array(ref("Edge", T)) }), ["T"]);
  const edge = declare("Edge", message({ node: T }), ["T"]);
  const use = declare("Use", message({ a: ref("Page", int32), b: ref("Page", int32), c: ref("Edge", string) }));
  expect(instantiations(page, edge, use)).toEqual({
    found: [
      { name: "Page", args: [int32], shape: message({ items: array(ref("Edge", int32)) }) },
      { name: "Edge", args: [int32], shape: message({ node: int32 }) },
      { name: "Edge", args: [string], shape: message({ node: string }) },
    ],
    endless: [],
  });
});

test("a module that declares generic types without using them needs no instantiation", () => {
  const page = declare("Page", message({ items: array(T), first: ref("Box", T) }), ["T"]);
  const box = declare("Box", message({ value: T }), ["T"]);
  expect(instantiations(page, box)).toEqual({ found: [], endless: [] });
});

test("a recursive generic type is one instantiation, and one whose argument grows is reported as endless", () => {
  const list = declare("List", message({ head: T, "tail?": ref("List", T) }), ["T"]);
  const nest = declare("Nest", message({ "inner?": ref("Nest", array(T)) }), ["T"]);
  const use = declare("Use", message({ list: ref("List", int32), nest: ref("Nest", int32) }));
  const { found, endless } = instantiations(list, nest, use);
  expect(found.map(({ name }) => name)).toEqual(["List"]);
  expect(endless).toEqual(["schemas/a.ts#Nest"]);
});

test("the text of a shape, from which names of Cap'n Proto derive, is JSON without positions and comments", () => {
  const leftOut = (name: string, value: unknown) => (name === "at" || name === "doc" ? undefined : value);
  fc.assert(
    fc.property(arbitrarySchema, ({ modules }) => {
      for (const { shape } of modules.flatMap(({ types }) => types)) {
        expect(textOf(shape)).toBe(JSON.stringify(shape, leftOut));
      }
    }),
  );
});
