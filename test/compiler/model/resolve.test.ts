/** Generic declarations: which instantiations a module needs, and what they look like. */
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

test("parameters are replaced at any depth, unbound ones stay", () => {
  const type = { kind: "map", key: string, value: array(T), readonly: false } as const;
  expect(substitute(type, new Map([["T", int32]]))).toEqual({ ...type, value: array(int32) });
  expect(substitute(type, new Map([["U", int32]]))).toEqual(type);
});

test("a module needs the instantiations that it reaches, each once, through others too", () => {
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

test("a generic declaration alone needs none", () => {
  const page = declare("Page", message({ items: array(T), first: ref("Box", T) }), ["T"]);
  const box = declare("Box", message({ value: T }), ["T"]);
  expect(instantiations(page, box)).toEqual({ found: [], endless: [] });
});

test("a recursive generic is one instantiation; one that grows is found endless", () => {
  const list = declare("List", message({ head: T, "tail?": ref("List", T) }), ["T"]);
  const nest = declare("Nest", message({ "inner?": ref("Nest", array(T)) }), ["T"]);
  const use = declare("Use", message({ list: ref("List", int32), nest: ref("Nest", int32) }));
  const { found, endless } = instantiations(list, nest, use);
  expect(found.map(({ name }) => name)).toEqual(["List"]);
  expect(endless).toEqual(["schemas/a.ts#Nest"]);
});

test("the text of a shape is JSON without positions and comments, which names of Cap'n Proto are made of", () => {
  const leftOut = (name: string, value: unknown) => (name === "at" || name === "doc" ? undefined : value);
  fc.assert(
    fc.property(arbitrarySchema, ({ modules }) => {
      for (const { shape } of modules.flatMap(({ types }) => types)) {
        expect(textOf(shape)).toBe(JSON.stringify(shape, leftOut));
      }
    }),
  );
});
