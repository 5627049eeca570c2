/** Checks the form of fields in the protobuf layout, row by row in the order of docs/reference/protobuf-layout.md. */
import { expect, test } from "vitest";
import { assignIds } from "../../../compiler/lock/index.js";
import { indexSchema, type SchemaIndex, type Type } from "../../../compiler/model/index.js";
import {
  type FieldForm,
  fieldsOf,
  type MessageField,
  type MessageForm,
  type ValueForm,
  valueForm,
} from "../../../compiler/protobuf/form/form.js";
import { readText } from "../source/read.js";

function read(text: string, name = "Holder"): { readonly index: SchemaIndex; readonly message: MessageForm } {
  const index = indexSchema(assignIds(readText(text)).schema);
  const type: Type = { kind: "ref", target: `schemas/a.ts#${name}`, args: [] };
  const form = valueForm(type, index);
  return { index, message: form.kind === "message" ? form.message : { kind: "standIn", field: "value", type } };
}

/** The fields as in a `.proto` file, with their presence in front, and stand-in messages in braces. */
function show({ index, message }: ReturnType<typeof read>): readonly string[] {
  const field = ({ name, number, presence, form }: MessageField): string =>
    `${presence} ${text(form)} ${name} = ${number}`;
  const text = (form: FieldForm): string => {
    switch (form.kind) {
      case "repeated":
        return `repeated ${one(form.element)}`;
      case "map":
        return `map<${form.key}, ${one(form.value)}>`;
      case "oneof":
        return `oneof { ${form.cases.map(field).join("; ")} }`;
      default:
        return one(form);
    }
  };
  const one = (form: ValueForm): string => {
    if (form.kind === "scalar") return form.scalar;
    if (form.kind === "enum") return "enum";
    const { message: inner } = form;
    if (inner.kind === "timestamp" || inner.kind === "handle") return inner.kind;
    if (inner.kind === "declared" && inner.type.kind === "ref") return inner.type.target.replace(/.*#/, "");
    return `{ ${fieldsOf(inner, index).map(field).join("; ")} }`;
  };
  return fieldsOf(message, index).map(field);
}

const declarations = `
export interface Leaf { x: Int32 }
export enum Level { Low = 1, High = 2 }
export enum Colour { Red = "red", Blue = "blue" }
export type Key = Oneof<{ id: Uint64; name: string }>;
export type Event = { kind: "born"; at: Date } | { kind: "closed" };
export type Rows = Int32[];
export type Tree = Tree[];
export interface Gate extends Actor { open(): void }
`;

test.each([
  ["Int32", "implicit int32"],
  ["boolean", "implicit bool"],
  ["number", "implicit double"],
  ["Float32", "implicit float"],
  ["Uint8Array", "implicit bytes"],
  ["Uint8ClampedArray", "implicit bytes"],
  ["Level", "implicit enum"],
  ["Colour", "demanded enum"],
  ['"a" | "b"', "demanded enum"],
  ["Date", "always timestamp"],
  ["Leaf", "always Leaf"],
  ["[Int32, string?]", "always { implicit int32 item1 = 1; optional string item2 = 2 }"],
  ["[first: Int32, ...Leaf[]]", "always { implicit int32 first = 1; empty repeated Leaf rest = 2 }"],
  ["Key", "demanded Key"],
  ["Event", "demanded Event"],
  ["Oneof<{ a: Int32 }>", "demanded { case int32 a = 1 }"],
  ["Port<string>", "demanded handle"],
  ["Mesh<Gate>", "demanded handle"],
  ["Int32[]", "empty repeated int32"],
  ["Rows", "empty repeated int32"],
  ["Set<string>", "empty repeated string"],
  ["Float64Array", "empty repeated double"],
  ["Int32Array", "empty repeated sfixed32"],
  ["BigUint64Array", "empty repeated fixed64"],
  ["Int8Array", "empty repeated sint32"],
  ["Uint16Array", "empty repeated uint32"],
  ["Map<Sint64, Leaf>", "empty map<sint64, Leaf>"],
  ["Map<boolean, Int32[]>", "empty map<bool, { empty repeated int32 items = 1 }>"],
  ["Map<Date, Int32[]>", "empty repeated { always timestamp key = 1; empty repeated int32 value = 2 }"],
  ["Map<Level, Colour>", "empty repeated { implicit enum key = 1; demanded enum value = 2 }"],
  ["Record<string, Leaf | null>", "empty map<string, { nullable Leaf value = 1 }>"],
  ["Int32[][]", "empty repeated { empty repeated int32 items = 1 }"],
  ["(Int32 | null)[]", "empty repeated { nullable int32 value = 1 }"],
  ["(Int32[] | null)[]", "empty repeated { nullable { empty repeated int32 items = 1 } value = 1 }"],
  ["Int32 | null", "nullable int32"],
  ["Leaf | null", "nullable Leaf"],
  ["Colour | null", "nullable enum"],
  ["Int32[] | null", "nullable { empty repeated int32 items = 1 }"],
  ["Record<string, Int32> | null", "nullable { empty map<string, int32> entries = 1 }"],
])("a required field of type %s has its documented form", (type, form) => {
  expect(show(read(`${declarations}\nexport interface Holder { field: ${type} }`))).toEqual([`${form} field = 1`]);
});

test.each([
  ["Int32", "optional int32"],
  ["Leaf", "optional Leaf"],
  ["Event", "optional Event"],
  ["Uint8ClampedArray", "optional bytes"],
  ["Int32[]", "optional { empty repeated int32 items = 1 }"],
  ["Float32Array", "optional { empty repeated float items = 1 }"],
  ["Map<string, Int32>", "optional { empty map<string, int32> entries = 1 }"],
  ["Int32 | null", "optional { nullable int32 value = 1 }"],
  ["Int32[] | null", "optional { nullable { empty repeated int32 items = 1 } value = 1 }"],
])("an optional field of type %s has its documented form", (type, form) => {
  expect(show(read(`${declarations}\nexport interface Holder { field?: ${type} }`))).toEqual([`${form} field = 1`]);
});

test("cases of a oneof that all have an @id become fields of the message that contains the oneof", () => {
  const cases = "Oneof<{ /** @id 9 */ a: Int32; /** @id 2\n@name BEE */ bee: Leaf[] }>";
  const shown = (field: string) => show(read(`${declarations}\nexport interface Holder { ${field}; last: string }`));
  const inside = "oneof { case int32 a = 9; case { empty repeated Leaf items = 1 } BEE = 2 }";
  expect(shown(`x: ${cases}`)).toEqual([`demanded ${inside} x = 1`, "implicit string last = 3"]);
  expect(shown(`x?: ${cases}`)).toEqual([`optional ${inside} x = 1`, "implicit string last = 3"]);
  expect(shown(`x: ${cases} | null`)).toEqual([`nullable ${inside} x = 1`, "implicit string last = 3"]);
  const message = "{ case { empty repeated Leaf items = 1 } BEE = 2; case int32 a = 9 }";
  expect(shown(`x: (${cases})[]`)).toEqual([`empty repeated ${message} x = 1`, "implicit string last = 2"]);
  expect(shown(`x?: ${cases} | null`)).toEqual([
    `optional { nullable ${message} value = 1 } x = 1`,
    "implicit string last = 2",
  ]);
});

test("names of fields are in snake case or set by @name, and clashing names get their numbers as a suffix", () => {
  const text = 'export interface Holder { optionalInt32: Int32; /** @name FieldName8 */ b: Int32; "with-dash": Int32 }';
  const { message, index } = read(text);
  expect(fieldsOf(message, index).map(({ name, jsonName }) => [name, jsonName])).toEqual([
    ["optional_int32", "optionalInt32"],
    ["FieldName8", "FieldName8"],
    ["with_dash", "withDash"],
  ]);
  const signs = 'export type Holder = { sign: "+"; x: Int32 } | { sign: "-"; y: Int32 }';
  expect(show(read(signs))).toEqual(["case { implicit int32 x = 1 } __1 = 1", "case { implicit int32 y = 1 } __2 = 2"]);
});

test("fields are sorted by number, and a flattened oneof has the position of its first case", () => {
  const text = `export interface Holder {
    /** @id 5 */ a: Int32;
    x: Oneof<{ /** @id 7 */ b: Int32; /** @id 3 */ c: Int32 }>;
    /** @id 1 */ d: Int32;
  }`;
  const { message, index } = read(text);
  expect(fieldsOf(message, index).map(({ property }) => property)).toEqual(["d", "x", "a"]);
});

test("a type that is encoded as a whole message is that message, or a stand-in message that wraps the type", () => {
  const whole = (type: string) => show(read(`${declarations}\nexport type Holder = ${type};`));
  expect(whole("Int32")).toEqual(["implicit int32 value = 1"]);
  expect(whole("Int32[]")).toEqual(["empty repeated int32 items = 1"]);
  expect(whole("Int32 | null")).toEqual(["nullable int32 value = 1"]);
  expect(whole("Map<string, Int32>")).toEqual(["empty map<string, int32> entries = 1"]);
  expect(whole("Leaf")).toEqual(["implicit int32 x = 1"]);
  expect(whole("Date")).toEqual(["implicit int64 seconds = 1", "implicit int32 nanos = 2"]);
  expect(whole("Port<Int32>")).toEqual(["implicit bytes state = 1"]);
});

test("the form of an alias that contains itself is finite", () => {
  const { message, index } = read(declarations, "Tree");
  const [items] = fieldsOf(message, index);
  expect(items?.form).toMatchObject({ kind: "repeated", element: { kind: "message", message: { kind: "standIn" } } });
});
