/** Checks the texts behind fingerprints. The runtime and files on disk rely on these texts, so none ever changes. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import {
  type ActorDeclaration,
  type Endpoint,
  fingerprint,
  indexSchema,
  type Parameter,
  type Shape,
  type Type,
} from "../../../compiler/model/index.js";
import { array, declare, int32, message, module, parameter, ref, schema, string } from "../emit/build.js";

const at = { file: "schemas/a.ts", line: 1, column: 1 };
const hash = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 16);
const [i32, str] = [hash("int32"), hash("string")];
const T = parameter("T");

function endpoint(name: string, id: number, params: readonly Type[], more: Partial<Endpoint> = {}): Endpoint {
  const options = { concurrent: false, idempotent: false, respond: false };
  return { name, id, doc: "", params: params.map(param), stream: false, options, tags: {}, at, ...more };
}

function param(type: Type, i: number): Parameter {
  return { name: `p${i}`, id: i + 1, type, optional: false, at };
}

function actor(name: string, args: readonly Parameter[], ...endpoints: readonly Endpoint[]): ActorDeclaration {
  return { key: `schemas/a.ts#${name}`, name, id: 1, doc: "", extends: [], args, endpoints, at };
}

type Declarations = Parameters<typeof module>[0];

function fingerprintsOf(types: Declarations, actors: readonly ActorDeclaration[] = []) {
  return fingerprint(indexSchema(schema(module(types, actors))));
}

/** A fingerprint as 16 hexadecimal digits, the form in which texts contain it. */
const digits = (value: bigint) => value.toString(16).padStart(16, "0");

const inline = (shape: Shape): Type => ({ kind: "inline", shape });
const values = (...list: readonly (string | number)[]): Shape => ({
  kind: "enum",
  origin: "literals",
  values: list.map((value, i) => ({ name: String(value), value, id: i + 1, doc: "", at })),
});
const oneof = (shape: Shape): Shape => ({ kind: "oneof", cases: shape.kind === "message" ? shape.fields : [] });
const union = (discriminant: string, variants: Readonly<Record<string, Type>>): Shape => ({
  kind: "union",
  discriminant,
  variants: Object.entries(variants).map(([tag, type], i) => ({ tag, id: i + 1, type, at })),
});
const mesh = (...dimensions: readonly string[]): Type => ({
  ...{ kind: "mesh", actor: "schemas/a.ts#Store" },
  ...(dimensions.length > 0 && { dimensions }),
});
const tuple = (elements: readonly Type[], rest?: Type): Type => ({
  kind: "tuple",
  elements: elements.map((type, i) => ({ type, optional: i === 1 })),
  readonly: false,
  ...(rest !== undefined && { rest }),
});

test.each<readonly [text: string, type: Type]>([
  ["int8array", { kind: "typedArray", element: "int8" }],
  [`array(${i32})`, array(int32)],
  [`set(${str})`, { kind: "set", element: string, readonly: false }],
  [`port(${str})`, { kind: "port", element: string }],
  ["tuple()", tuple([])],
  [`tuple(${i32},${str}?)`, tuple([int32, string])],
  [`tuple(${i32},...${str})`, tuple([int32], string)],
  [`map(${str},${i32})`, { kind: "map", key: string, value: int32, readonly: false }],
  [`record(${i32})`, { kind: "record", value: int32 }],
  [`nullable(${hash(`array(${i32})`)})`, { kind: "nullable", inner: array(int32) }],
  [`message {a:${i32},b?:${str}}`, inline(message({ a: int32, "b?": string }))],
  [`message {a \\"b\\":${i32}}`, inline(message({ 'a "b"': int32 }))],
  [`oneof {a:${i32},b:${str}}`, inline(oneof(message({ a: int32, b: string })))],
  ['enum {"a","b",7}', inline(values("a", "b", 7))],
  [`union (kind){"open":${i32},"a b":${str}}`, inline(union("kind", { open: int32, "a b": string }))],
  [`alias (${i32})`, inline({ kind: "alias", type: int32 })],
  ["mesh(Store,*)", mesh()],
  ["mesh(Store,x,y)", mesh("x", "y")],
  ["google.protobuf.Struct", { kind: "wellKnown", name: "Struct" }],
  ["rdmaBuffer", { kind: "rdmaBuffer" }],
  ["tensor", { kind: "tensor" }],
  ["objectRef", { kind: "objectRef", element: int32 }],
])("the fingerprint of a type is the hash of its text: %s", (text, type) => {
  const { type: of } = fingerprintsOf([], [actor("Store", [])]);
  expect(digits(of(type))).toBe(hash(text));
  // The second call finds the fingerprint already computed.
  expect(digits(of(type))).toBe(hash(text));
});

test.each<readonly [text: string, shape: Shape]>([
  [`message D{a:${i32}}`, message({ a: int32 })],
  [`oneof D{a:${i32},b:${str}}`, oneof(message({ a: int32, b: string }))],
  ['enum D{"a",7}', values("a", 7)],
  [`union D(kind){"open":${i32}}`, union("kind", { open: int32 })],
  ["int32", { kind: "alias", type: int32 }],
])("the fingerprint of a declaration is the hash of its text: %s", (text, shape) => {
  expect(digits(fingerprintsOf([declare("D", shape)]).declaration("schemas/a.ts#D"))).toBe(hash(text));
});

test("the text of a generic declaration numbers its parameters, and an instantiation hashes its fingerprint", () => {
  const pair = declare("Pair", message({ left: T, right: array(parameter("U")) }), ["T", "U"]);
  const { declaration, type } = fingerprintsOf([pair]);
  const generic = hash("message Pair{left:\u00020,right:array(\u00021)}");
  expect(digits(declaration("schemas/a.ts#Pair"))).toBe(generic);
  expect(digits(type(ref("Pair", int32, string)))).toBe(hash(`apply(${generic},${i32},${str})`));
});

test("a generic alias has its own text, and its instantiation has the fingerprint of the aliased type", () => {
  const list = declare("List", array(T), ["T"]);
  const { declaration, type } = fingerprintsOf([list]);
  expect(digits(declaration("schemas/a.ts#List"))).toBe(hash("alias List(array(\u00020))"));
  expect(digits(type(ref("List", string)))).toBe(hash(`array(${str})`));
});

test("declarations that refer to each other are hashed as one text, and each appends its number in name order", () => {
  const a = declare("A", message({ "b?": ref("B"), x: int32 }));
  const b = declare("B", message({ "as?": array(ref("A")), "list?": ref("L", ref("A")) }));
  const l = declare("L", message({ item: T }), ["T"]);
  const { declaration, circular, transparent } = fingerprintsOf([b, a, l]);
  const list = hash("message L{item:\u00020}");
  const circle = hash(`message A{b?:\u00011,x:${i32}}\nmessage B{as?:array(\u00010),list?:apply(${list},\u00010)}`);
  expect(digits(declaration("schemas/a.ts#A"))).toBe(hash(`${circle}#0`));
  expect(digits(declaration("schemas/a.ts#B"))).toBe(hash(`${circle}#1`));
  expect(["A", "B", "L"].map((name) => circular(`schemas/a.ts#${name}`))).toEqual([true, true, false]);
  expect(["A", "B", "L"].map((name) => transparent(`schemas/a.ts#${name}`))).toEqual([false, false, false]);
});

test("a declaration that refers to itself is a cycle of one, and a recursive alias is not transparent", () => {
  const types = [
    declare("Nest", array(ref("Nest"))),
    declare("Tree", message({ "left?": ref("Tree") })),
    declare("Rows", array(int32)),
  ];
  const { declaration, circular, transparent, inOrder } = fingerprintsOf(types);
  expect(digits(declaration("schemas/a.ts#Tree"))).toBe(hash(`${hash("message Tree{left?:\u00010}")}#0`));
  expect(digits(declaration("schemas/a.ts#Nest"))).toBe(hash(`${hash("alias Nest(array(\u00010))")}#0`));
  const names = ["Nest", "Tree", "Rows"].map((name) => `schemas/a.ts#${name}`);
  expect(names.map(circular)).toEqual([true, true, false]);
  expect(names.map(transparent)).toEqual([false, false, true]);
  expect([...inOrder()].sort()).toEqual([...names].sort());
});

test("inOrder lists each declaration after the declarations that it refers to", () => {
  const types = [
    declare("A", message({ b: array(ref("B")) })),
    declare("B", message({ c: ref("C") })),
    declare("C", message({})),
  ];
  expect([...fingerprintsOf(types).inOrder()]).toEqual(["C", "B", "A"].map((name) => `schemas/a.ts#${name}`));
});

test("the fingerprint of an actor covers its constructor and its endpoints with their ids, sorted by name", () => {
  const shapes = { module: "schemas/shapes.ts", name: "put" };
  const options = { concurrent: false, idempotent: false, respond: true, propagate: { shapes } };
  const limit = { ...param(int32, 1), optional: true };
  const store = actor(
    "Store",
    [param(string, 0)],
    endpoint("put", 2, [string], { options }),
    endpoint("get", 1, [], { params: [param(string, 0), limit], result: int32, stream: true }),
  );
  const { actor: of, module: ofModule } = fingerprintsOf([], [store]);
  const put = `put#2!^:tuple(${str}):void`;
  const get = `get#1*:tuple(${str},${i32}?):${i32}`;
  const expected = hash(`actor Store(tuple(${str})){${get},${put}}`);
  expect(digits(of("schemas/a.ts#Store"))).toBe(expected);
  // Options that do not change the layout of messages do not change the fingerprint.
  const idle = { concurrent: 4, idempotent: true, respond: true, propagate: {}, timeout: 5 };
  const same = actor(
    "Store",
    store.args,
    endpoint("put", 2, [string], { options: idle, doc: "Says something." }),
    store.endpoints[1]!,
  );
  expect(fingerprintsOf([], [same]).actor("schemas/a.ts#Store")).toBe(of("schemas/a.ts#Store"));
  expect(digits(ofModule(module([], [store])))).toBe(hash(`Store:${of("schemas/a.ts#Store")}`));
});

test("the fingerprint of a schema file covers all its declarations, sorted by name", () => {
  const types = [declare("B", message({ x: int32 })), declare("A", message({ y: string }))];
  const store = actor("Store", []);
  const { module: of, actor: ofActor } = fingerprintsOf(types, [store]);
  const [a, b] = [hash(`message A{y:${str}}`), hash(`message B{x:${i32}}`)];
  expect(digits(of(module(types, [store])))).toBe(hash(`A:${a},B:${b},Store:${ofActor("schemas/a.ts#Store")}`));
});

test("the fingerprint of a declaration or a type changes when a declaration that it refers to changes", () => {
  const holder = declare("Holder", message({ item: ref("Item"), box: ref("Box", ref("Item")) }));
  const box = declare("Box", message({ value: T }), ["T"]);
  const items = array(ref("Item"));
  const listed = inline(message({ items }));
  const of = (item: Shape, storeName = "Store") => {
    const store = { ...actor(storeName, []), key: "schemas/a.ts#Store" };
    const { declaration, type } = fingerprintsOf([holder, box, declare("Item", item)], [store]);
    return [declaration("schemas/a.ts#Holder"), type(items), type(listed), type(mesh())] as const;
  };
  const [before, after] = [of(message({ a: int32 })), of(message({ a: string }), "Shop")];
  expect(before.map((value, i) => value === after[i])).toEqual([false, false, false, false]);
  expect(of(message({ a: int32 }))).toEqual(before);
});
