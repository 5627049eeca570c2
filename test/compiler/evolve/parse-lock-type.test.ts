/** The types that a lock contains are parsed back to the types that were written; any other text is unknown. */
import { describe, expect, test } from "vitest";
import { type LockTypeResolver, parseLockType } from "../../../compiler/evolve/parse-lock-type.js";
import { typeText } from "../../../compiler/lock/type-text.js";
import type { ScalarName, Type, TypedArrayElement } from "../../../compiler/model/index.js";

const counter: Type = { kind: "mesh", actor: "schemas/a.ts#Counter" };

/** Knows the actor `Counter`, `T` as a type parameter, and every other name that begins with a capital. */
const names: LockTypeResolver = {
  named(name, args) {
    if (name === "Counter") return counter;
    if (name === "T") return { kind: "parameter", name };
    return /^\p{Lu}/u.test(name) ? { kind: "ref", target: `schemas/a.ts#${name}`, args } : undefined;
  },
  // The place is kept as the name of a parameter, so that it can be asserted.
  inline: (kind, step) => ({ kind: "parameter", name: `${kind} at "${step}"` }),
};

const read = (text: string) => parseLockType(text, names);

const scalar = (name: ScalarName): Type => ({ kind: "scalar", scalar: name });
const ref = (name: string, ...args: readonly Type[]): Type => ({ kind: "ref", target: `schemas/a.ts#${name}`, args });
const array = (element: Type): Type => ({ kind: "array", element, readonly: false });
const map = (key: Type, value: Type): Type => ({ kind: "map", key, value, readonly: false });
const tuple = (elements: readonly (readonly [Type, "?"?])[], rest?: Type): Type => ({
  kind: "tuple",
  elements: elements.map(([type, mark]) => ({ type, optional: mark === "?" })),
  ...(rest !== undefined && { rest }),
  readonly: false,
});
const [int32, string] = [scalar("int32"), scalar("string")];

const scalars =
  "boolean double float32 int32 uint32 sint32 fixed32 sfixed32 int64 uint64 sint64 fixed64 sfixed64 string bytes date";
const elements = "int8 uint8clamped int16 uint16 int32 uint32 bigint64 biguint64 float32 float64";

const types: readonly (readonly [string, Type])[] = [
  ...scalars.split(" ").map((name) => [name, scalar(name as ScalarName)] as const),
  ...elements.split(" ").map((element): [string, Type] => {
    return [`${element}array`, { kind: "typedArray", element: element as TypedArrayElement }];
  }),
  ["any", { kind: "wellKnown", name: "Any" }],
  ["nullvalue", { kind: "wellKnown", name: "NullValue" }],
  ["rdmabuffer", { kind: "rdmaBuffer" }],
  ["tensor", { kind: "tensor" }],
  ["Tree", ref("Tree")],
  ["Order.Line.Übung$_1", ref("Order.Line.Übung$_1")],
  ["T", { kind: "parameter", name: "T" }],
  ["Counter", counter],
  ["Page<int32>", ref("Page", int32)],
  ["Pair<string, Page<Tree[]>>[]", array(ref("Pair", string, ref("Page", array(ref("Tree")))))],
  ["int32[]", array(int32)],
  ["int32array[][]", array(array({ kind: "typedArray", element: "int32" }))],
  ["map<string, int32[]>", map(string, array(int32))],
  ["map<int32[], map<string, Tree>>[][]", array(array(map(array(int32), map(string, ref("Tree")))))],
  ["set<string[]>", { kind: "set", element: array(string), readonly: false }],
  ["record<set<int32>[]>", { kind: "record", value: array({ kind: "set", element: int32, readonly: false }) }],
  ["nullable<int32[]>[]", array({ kind: "nullable", inner: array(int32) })],
  ["port<nullable<string>>", { kind: "port", element: { kind: "nullable", inner: string } }],
  ["objectref<string[]>", { kind: "objectRef", element: array(string) }],
  ["mesh<Counter>", counter],
  ['mesh<Counter, "gpus", "a \\"b">[]', array({ ...counter, dimensions: ["gpus", 'a "b'] })],
  ["[]", tuple([])],
  ["[][]", array(tuple([]))],
  ["[int32]", tuple([[int32]])],
  ["[int32[], string?]", tuple([[array(int32)], [string, "?"]])],
  [
    "[int32[]?, string[]?][][]",
    array(
      array(
        tuple([
          [array(int32), "?"],
          [array(string), "?"],
        ]),
      ),
    ),
  ],
  ["[...string[]]", tuple([], string)],
  ["[int32, ...string[][]][]", array(tuple([[int32]], array(string)))],
  ["[[int32][], ...[string, int32?][]]", tuple([[array(tuple([[int32]]))]], tuple([[string], [int32, "?"]]))],
  ["map<string, [int32, Page<string>[]][]>", map(string, array(tuple([[int32], [array(ref("Page", string))]])))],
];

test.each(types)("the parser reads %s as the type that was written", (text, type) => {
  expect(read(text)).toEqual(type);
  if (type.kind !== "mesh" || text.startsWith("mesh")) expect(typeText(type)).toBe(text);
});

test.each([
  ["message", 'message at ""'],
  ["oneof", 'oneof at ""'],
  ["union[]", 'union at "[]"[]'],
  ["enum[][]", 'enum at "[][]"[][]'],
  ["nullable<message>", 'nullable<message at "">'],
  ["nullable<message[]>[]", 'nullable<message at "[][]"[]>[]'],
  ["map<enum, message>", 'map<enum at "{key}", message at "{}">'],
  ["map<enum[], message[]>[]", 'map<enum at "[]{key}[]"[], message at "[]{}[]"[]>[]'],
  ["set<message>", 'set<message at "[]">'],
  ["record<record<union>>", 'record<record<union at "{}{}">>'],
  ["port<oneof>", 'port<oneof at "(port)">'],
  ["Page<message, enum[], int32>", 'Page<message at "<0>", enum at "<1>[]"[], int32>'],
  ["[message, enum?, union[]]", '[message at "[0]", enum at "[1]"?, union at "[2][]"[]]'],
  ["[message, ...enum[]]", '[message at "[0]", ...enum at "[...]"[]]'],
  ["[...message[][]][]", '[...message at "[][...][]"[][]][]'],
])("the parser resolves the inline types of %s by their path", (text, places) => {
  const type = read(text);
  expect(type && typeText(type)).toBe(places);
});

describe("the parser of lock types", () => {
  test.each([
    ..."  ,?,<,>,[,],...,[...],int32 , int32,int32?,int32[,int32],int32[][,int32[]],int32>,int32<string>".split(","),
    "",
    "nothing",
    "Nothing..Line",
    "Tree.",
    "uint8array",
    "int8",
    "Xint8array".toLowerCase(),
    "int8arrays",
    "map",
    "unsupported",
    "map<",
    "map<string",
    "map<string>",
    "map<string;int32>",
    "map<string, int32",
    "map<string, nothing>",
    "map<nothing, string>",
    "map<string,  int32>",
    "set<>",
    "set<string, string>",
    "set<string>>",
    "nullable<nothing>",
    "port<nothing>[]",
    "nothing<string>",
    "Page<>",
    "Page<nothing>",
    "Page<string",
    "Page<string,>",
    "[nothing]",
    "[int32",
    "[int32,",
    "[int32,]",
    "[int32 string]",
    "[int32??]",
    "[...string]",
    "[...string[], ...]",
    "[...nothing[]]",
    "mesh<>",
    "mesh<Tree>",
    "mesh<nothing>",
    "mesh<Counter",
    "mesh<Counter, gpus>",
    'mesh<Counter, "gpus>',
    'mesh<Counter, "gpus"',
    'mesh<Counter, "\\x">',
    'mesh<Counter "gpus">',
  ])("returns undefined for %j", (text) => {
    expect(read(text)).toBeUndefined();
  });

  test("returns undefined for every proper prefix of a type", () => {
    const whole = 'map<string, [set<int32>, Page<T[], union>?, ...mesh<Counter, "gpus">[]][]>';
    for (let length = 0; length < whole.length; length++) expect(read(whole.slice(0, length))).toBeUndefined();
    expect(read(whole)).toBeDefined();
  });

  test("returns undefined for an inline type that the resolver does not know", () => {
    for (const kind of ["message", "oneof", "union", "enum"])
      expect(parseLockType(`set<${kind}>`, { ...names, inline: () => undefined })).toBeUndefined();
  });
});

test("an error of the resolver is thrown and not treated as an unknown type", () => {
  const mistake = new Error("no such index");
  const named = () => {
    throw mistake;
  };
  expect(() => parseLockType("Tree", { ...names, named })).toThrow(mistake);
});
