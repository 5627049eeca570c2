/** Checks the functions that look up declarations in a schema and that take types apart. */
import { describe, expect, test } from "vitest";
import { components } from "../../../compiler/model/connected-components.js";
import { peel, shapeOf } from "../../../compiler/model/core-type.js";
import { flattenedCases } from "../../../compiler/model/flattened-oneof.js";
import { indexSchema, type Shape, substitute, type Type } from "../../../compiler/model/index.js";
import {
  instantiate,
  instantiationsOf,
  partsOf,
  targetsOf,
  textOf,
  typeKey,
  typesOf,
} from "../../../compiler/model/resolve.js";
import { sameData, sameItems } from "../../../compiler/model/same-data.js";
import { array, declare, int32, message, module, parameter, ref, schema, string } from "../emit/build.js";

const at = { file: "schemas/a.ts", line: 1, column: 1 };
const T = parameter("T");
const inline = (shape: Shape): Type => ({ kind: "inline", shape });
const nullable = (inner: Type): Type => ({ kind: "nullable", inner });
const enumeration: Shape = { kind: "enum", origin: "literals", values: [] };
const oneof = (type: Type): Shape => ({
  kind: "oneof",
  cases: (message({ a: type }) as Extract<Shape, { kind: "message" }>).fields,
});
const union = (type: Type): Shape => ({
  kind: "union",
  discriminant: "kind",
  variants: [{ tag: "a", id: 1, type, at }],
});
const tuple = (first: Type, rest?: Type): Type => ({
  kind: "tuple",
  elements: [{ type: first, optional: false }],
  readonly: false,
  ...(rest !== undefined && { rest }),
});

/** A constructor for each kind of type that contains another type. */
const made: Readonly<Record<string, (part: Type) => Type>> = {
  array,
  set: (element) => ({ kind: "set", element, readonly: false }),
  port: (element) => ({ kind: "port", element }),
  tuple: (part) => tuple(part),
  "tuple with a rest": (part) => tuple(string, part),
  "key of a map": (key) => ({ kind: "map", key, value: string, readonly: false }),
  "value of a map": (value) => ({ kind: "map", key: string, value, readonly: false }),
  record: (value) => ({ kind: "record", value }),
  nullable,
  "type argument": (part) => ref("Box", part),
  "message in place": (part) => inline(message({ a: part })),
  "oneof in place": (part) => inline(oneof(part)),
  "union in place": (part) => inline(union(part)),
  "alias in place": (part) => inline({ kind: "alias", type: part }),
};

describe.each(Object.entries(made))("a type that contains another type (%s)", (_, make) => {
  test("substitute replaces a type parameter in the contained type", () => {
    expect(substitute(make(T), new Map([["T", int32]]))).toEqual(make(int32));
    expect(substitute(make(T), new Map())).toEqual(make(T));
  });

  test("partsOf returns the contained type", () => {
    expect(partsOf(make(int32))).toContainEqual(int32);
  });

  test("targetsOf finds the declaration to which the contained type refers", () => {
    expect(targetsOf(message({ a: make(ref("Leaf")) }))).toContain("schemas/a.ts#Leaf");
  });
});

test("partsOf is empty for types that contain no other type, and substitute leaves them unchanged", () => {
  for (const type of [int32, inline(enumeration), { kind: "tensor" }, ref("Leaf")] as const) {
    expect(partsOf(type)).toEqual([]);
    expect(substitute(type, new Map([["T", int32]]))).toEqual(type);
  }
  expect(partsOf(tuple(int32))).toEqual([int32]);
});

test("targetsOf lists each declaration once, and a generic declaration before its arguments", () => {
  const shape = message({ a: ref("Box", ref("Leaf")), b: array(ref("Leaf")), c: int32 });
  expect(targetsOf(shape)).toEqual(["schemas/a.ts#Box", "schemas/a.ts#Leaf"]);
  expect(targetsOf(enumeration)).toEqual([]);
});

const options = { concurrent: false, idempotent: false, respond: false };
const param = (type: Type) => ({ name: "p", id: 1, type, optional: false, at });
const store = {
  ...{ key: "schemas/a.ts#Store", name: "Store", id: 1, doc: "", extends: [], args: [param(ref("Box", int32))], at },
  endpoints: [
    {
      name: "get",
      id: 1,
      doc: "",
      params: [param(ref("Box", string))],
      result: ref("Box", array(int32)),
      stream: false,
      options,
      tags: {},
      at,
    },
    { name: "put", id: 2, doc: "", params: [], stream: false, options, tags: {}, at },
  ],
};
const box = declare("Box", message({ value: T }), ["T"]);

test("a schema index finds types, actors and their files by key, and names an unknown key in its error", () => {
  const [first, second] = [module([box], [store]), module([declare("Leaf", message({}))], [], "schemas/b.ts")];
  const index = indexSchema(schema(first, second));
  expect(index.type("schemas/a.ts#Box")).toBe(box);
  expect(index.actor("schemas/a.ts#Store")).toBe(store);
  expect(index.moduleOf("schemas/a.ts#Store")).toBe(first);
  expect(index.moduleOf("schemas/a.ts#Leaf")).toBe(second);
  expect(["Box", "Store", "None"].map((name) => index.has(`schemas/a.ts#${name}`))).toEqual([true, true, false]);
  const why = "cannot resolve schemas/a.ts#None: the schema does not declare it";
  for (const find of [index.type, index.actor, index.moduleOf]) expect(() => find("schemas/a.ts#None")).toThrow(why);
  expect(() => index.type("schemas/a.ts#Store")).toThrow("cannot resolve schemas/a.ts#Store");
  expect(indexSchema(index.schema)).toBe(index);
});

test("typesOf lists the types of declarations and of the arguments, parameters and results of actors", () => {
  expect(typesOf(module([declare("Leaf", message({ a: int32 }))], [store]))).toEqual([
    int32,
    ref("Box", int32),
    ref("Box", string),
    ref("Box", array(int32)),
  ]);
});

test("instantiationsOf finds instantiations in actors and in the arguments of other instantiations", () => {
  const only = module([box, declare("Use", message({ a: ref("Box", ref("Box", int32)) }))], [store]);
  const { found } = instantiationsOf(only, indexSchema(schema(only)));
  expect(found.map(({ args }) => args)).toEqual([[int32], [ref("Box", int32)], [string], [array(int32)]]);
});

test("a generic type may be nested in itself twelve times, and deeper nesting is reported as endless", () => {
  const nested = (depth: number): Type => (depth === 0 ? int32 : ref("Box", nested(depth - 1)));
  const endlessAt = (depth: number) => {
    const only = module([box, declare("Use", message({ a: nested(depth) }))]);
    return instantiationsOf(only, indexSchema(schema(only))).endless;
  };
  expect(endlessAt(12)).toEqual([]);
  expect(endlessAt(13)).toEqual(["schemas/a.ts#Box"]);
});

test("instantiate keeps a type parameter whose argument is missing", () => {
  const pair = declare("Pair", message({ left: T, right: parameter("U") }), ["T", "U"]);
  expect(instantiate(pair, [int32])).toEqual(message({ left: int32, right: parameter("U") }));
  const leaf = declare("Leaf", message({}));
  expect(instantiate(leaf, [])).toBe(leaf.shape);
});

test("texts and keys of types do not depend on their positions and documentation", () => {
  const documented = declare("A", message({ a: int32 }), [], "Says something.");
  const moved = { ...declare("A", message({ a: int32 })), at: { ...at, line: 7 } };
  expect(textOf(documented)).toBe(textOf(moved));
  expect(textOf(documented)).not.toBe(textOf(declare("A", message({ b: int32 }))));
  expect(typeKey(ref("Leaf"))).toBe("schemas/a.ts#Leaf");
  const type = array(ref("Leaf"));
  const key = '{"kind":"array","element":{"kind":"ref","target":"schemas/a.ts#Leaf","args":[]},"readonly":false}';
  expect([typeKey(type), typeKey(type)]).toEqual([key, key]);
  expect(typeKey(ref("Box", int32))).toBe(
    '{"kind":"ref","target":"schemas/a.ts#Box","args":[{"kind":"scalar","scalar":"int32"}]}',
  );
});

const graph = (edges: Readonly<Record<string, readonly string[]>>) =>
  components(Object.keys(edges), (node) => edges[node] ?? []);

test("components lists a cycle after the nodes that it refers to, and keeps the node order within a cycle", () => {
  expect(graph({ a: ["b"], b: ["c"], c: [] })).toEqual([["c"], ["b"], ["a"]]);
  expect(graph({ a: ["b", "d"], b: ["c"], c: ["a"], d: [] })).toEqual([["d"], ["a", "b", "c"]]);
  expect(graph({ c: ["a"], a: ["b"], b: ["c"] })).toEqual([["c", "a", "b"]]);
  expect(graph({ a: ["b"], b: ["a"], c: ["a", "d"], d: ["c", "b"] })).toEqual([
    ["a", "b"],
    ["c", "d"],
  ]);
  // A finished node belongs to no later group, even if a later node refers to it.
  expect(graph({ a: ["b"], b: [], c: ["b", "a", "c"] })).toEqual([["b"], ["a"], ["c"]]);
  expect(graph({ a: ["b"], b: ["c", "d"], c: ["b"], d: ["a"] })).toEqual([["a", "b", "c", "d"]]);
});

describe("core types", () => {
  const types = [
    declare("Leaf", message({ a: int32 })),
    declare("Age", int32),
    declare("Ages", array(int32)),
    declare("MaybeAge", nullable(int32)),
    declare("MaybeAges", nullable(inline({ kind: "alias", type: nullable(array(int32)) }))),
    declare("Kind", inline(enumeration)),
    declare("Place", inline(message({}))),
    declare("Again", ref("MaybeAge")),
    declare("Maybe", nullable(T), ["T"]),
    box,
  ];
  const index = indexSchema(schema(module(types)));

  test.each<readonly [what: string, type: Type, core: Type, isNullable: boolean]>([
    ["a scalar", int32, int32, false],
    ["null twice", nullable(nullable(int32)), int32, true],
    ["a message", ref("Leaf"), ref("Leaf"), false],
    ["an alias of a scalar", ref("Age"), int32, false],
    ["an alias of a collection", ref("Ages"), ref("Ages"), false],
    ["an alias of a scalar or null", ref("MaybeAge"), int32, true],
    ["an alias of an alias", ref("Again"), int32, true],
    ["an alias of a collection or null", ref("MaybeAges"), ref("MaybeAges"), true],
    ["an alias of an enum in place", ref("Kind"), inline(enumeration), false],
    ["an alias of a message in place", ref("Place"), ref("Place"), false],
    ["a generic alias", ref("Maybe", string), string, true],
    ["an alias in place", inline({ kind: "alias", type: nullable(int32) }), int32, true],
    ["a message in place", inline(message({})), inline(message({})), false],
  ])("peel returns the core type and the nullability of %s", (_, type, core, isNullable) => {
    expect(peel(type, index)).toEqual({ core, nullable: isNullable });
  });

  test.each(["tuple", "map", "set", "record"])("peel keeps the name of an alias of a %s", (kind) => {
    const type = Object.entries(made).find(([name]) => name.endsWith(kind))?.[1](int32) as Type;
    const only = indexSchema(schema(module([declare("Alias", type)])));
    expect(peel(ref("Alias"), only)).toEqual({ core: ref("Alias"), nullable: false });
  });

  test("peel refuses a type that cannot be laid out, and names its kind", () => {
    expect(() => peel(T, index)).toThrow("cannot lay out a type of kind parameter");
    const unsupported: Type = { kind: "unsupported", reason: "", typeText: "", fixHint: "" };
    expect(() => peel(unsupported, index)).toThrow("cannot lay out a type of kind unsupported");
  });

  test("shapeOf returns the shape of a declaration, and the type of an alias without null", () => {
    const shape = (type: Type) => shapeOf(type as Extract<Type, { kind: "ref" | "inline" }>, index);
    expect(shape(ref("Leaf"))).toEqual(message({ a: int32 }));
    expect(shape(ref("Box", string))).toEqual(message({ value: string }));
    expect(shape(inline(enumeration))).toEqual(enumeration);
    expect(shape(ref("MaybeAges"))).toEqual({ kind: "alias", type: array(int32) });
  });
});

test("flattenedCases returns the cases of an inline oneof whose cases all have ids", () => {
  const cases = (...ids: readonly (number | undefined)[]) =>
    ids.map((id, i) => ({
      name: `c${i}`,
      id: 0,
      type: int32,
      optional: false,
      readonly: false,
      doc: "",
      tags: id === undefined ? {} : { id },
      at,
    }));
  const of = (list: ReturnType<typeof cases>) => inline({ kind: "oneof", cases: list });
  const numbered = cases(2, 3);
  expect(flattenedCases(of(numbered), false)).toBe(numbered);
  expect(flattenedCases(of(numbered), true)).toBe(numbered);
  expect(flattenedCases(nullable(of(numbered)), false)).toBe(numbered);
  expect(flattenedCases(nullable(of(numbered)), true)).toBeUndefined();
  expect(flattenedCases(of(cases(2, undefined)), false)).toBeUndefined();
  expect(flattenedCases(inline(message({})), false)).toBeUndefined();
  expect(flattenedCases(int32, false)).toBeUndefined();
});

test("sameData is true for parts of the model that differ only in their positions", () => {
  const one = { name: "a", at, list: [1, { x: null }] };
  expect(sameData(one, { ...one, at: { ...at, line: 9 } })).toBe(true);
  expect(sameData(one, { list: [1, { x: null }], at, name: "a" })).toBe(true);
  const others: readonly unknown[] = [
    { ...one, name: "b" },
    { ...one, list: [1] },
    { ...one, list: [1, { x: 2 }] },
    { ...one, list: [1, { x: null }, 2] },
    { ...one, more: undefined },
    { name: "a", at, other: [1, { x: null }] },
    { name: "a", list: [1, { x: null }], place: at },
    null,
    undefined,
    "a",
  ];
  expect(others.map((other) => sameData(one, other))).toEqual(others.map(() => false));
  expect(others.map((other) => sameData(other, one))).toEqual(others.map(() => false));
  expect(sameData([1], { 0: 1, length: 1 })).toBe(false);
  expect(sameData(undefined, undefined)).toBe(true);
});

test("sameItems is true for lists that hold the identical objects in the same order", () => {
  const [a, b] = [{}, {}];
  expect(sameItems([a, b], [a, b])).toBe(true);
  expect([[a], [a, b, a], [b, a], [a, {}]].map((other) => sameItems([a, b], other))).toEqual([
    false,
    false,
    false,
    false,
  ]);
  expect(sameItems([], [a])).toBe(false);
});
