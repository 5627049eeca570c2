/**
 * The schema of `TestAllTypesProto3`, the message of protobuf's conformance suite: Viceroy and protobuf-es write and read
 * the same bytes for random messages and for difficult ones.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fromBinary, toBinary, toJson } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { assignIds } from "../../../compiler/lock/index.js";
import { indexSchema } from "../../../compiler/model/index.js";
import { checkProtobuf } from "../../../compiler/protobuf/check-protobuf.js";
import { type GeneratedCodec, unknownFields } from "../../../runtime/wire/index.js";
import { readFiles } from "../../compiler/source/read.js";
import { randomNumbers } from "../../random.js";
import { loadGenerated } from "../load-generated.js";
import { mutateFields } from "../mutate-fields.js";
import { RandomValues } from "../random-values.js";
import { testAllTypesProto3 } from "./test-messages.js";

const file = new URL("../../fixtures/conformance/schemas/test-messages.ts", import.meta.url);
const { schema: read, diagnostics } = readFiles({ "schemas/test-messages.ts": readFileSync(file, "utf8") });
const { schema, problems } = assignIds(read);
const codecs = await loadGenerated(schema);
const ours = codecs.get("TestAllTypesProto3Codec") as GeneratedCodec<Message>;
const theirs = testAllTypesProto3();
type Message = Readonly<Record<string, unknown>>;

/** Returns an empty message with these fields. */
function message(fields: Message): Message {
  return { ...ours.fromProtobuf(new Uint8Array(0)), ...fields };
}

/** Reads the bytes with protobuf-es and writes them again. */
function throughTheirs(bytes: Uint8Array): Uint8Array {
  return toBinary(theirs, fromBinary(theirs, bytes));
}

test("the schema compiles without diagnostics", () => {
  expect([...diagnostics, ...problems, ...checkProtobuf(schema)]).toEqual([]);
});

test("Viceroy and protobuf-es read each other's bytes of random messages", () => {
  const values = new RandomValues(indexSchema(schema), randomNumbers(7));
  for (let i = 0; i < 150; i++) {
    const value = values.value({ kind: "ref", target: "schemas/test-messages.ts#TestAllTypesProto3", args: [] }, 4);
    const bytes = ours.toProtobuf(value as Message);
    assert.deepStrictEqual(ours.fromProtobuf(bytes), value);
    assert.deepStrictEqual(ours.fromProtobuf(throughTheirs(bytes)), value);
    expect(ours.shape().toProtobuf(value as Message)).toEqual(bytes);
  }
});

test("packed and unpacked lists have the same bytes as in protobuf-es", () => {
  const values = new RandomValues(indexSchema(schema), randomNumbers(23));
  const type = { kind: "ref", target: "schemas/test-messages.ts#TestAllTypesProto3", args: [] } as const;
  let unpacked = 0;
  for (let i = 0; i < 30; i++) {
    const all = Object.entries(values.value(type, 4) as Message);
    const lists = message(Object.fromEntries(all.filter(([name]) => /^(un)?packed/.test(name))));
    const bytes = ours.toProtobuf(lists);
    expect(Buffer.from(throughTheirs(bytes)).toString("hex")).toBe(Buffer.from(bytes).toString("hex"));
    unpacked += (lists["unpackedInt32"] as readonly number[]).length;
  }
  expect(unpacked).toBeGreaterThan(10);
});

test("Viceroy and protobuf-es read the same message from reordered, duplicate and split fields", () => {
  const random = randomNumbers(11);
  const values = new RandomValues(indexSchema(schema), random);
  let accepted = 0;
  for (let i = 0; i < 300; i++) {
    const value = values.value({ kind: "ref", target: "schemas/test-messages.ts#TestAllTypesProto3", args: [] }, 3);
    const bytes = mutateFields(ours.toProtobuf(value as Message), random, false);
    let through: Uint8Array;
    try {
      through = throughTheirs(bytes);
    } catch {
      continue;
    }
    let mine: Message;
    try {
      mine = ours.fromProtobuf(bytes);
    } catch {
      // protobuf-es does not check UTF-8 in strings or the range of field numbers.
      continue;
    }
    accepted++;
    const plain = (read: Message) => ({ ...read, [unknownFields]: undefined });
    assert.deepStrictEqual(plain(ours.fromProtobuf(through)), plain(mine));
  }
  expect(accepted).toBeGreaterThan(50);
});

test.each<readonly [string, Message]>([
  ["negative enum numbers", { optionalNestedEnum: -1, repeatedNestedEnum: [-1, 0, 2] }],
  ["unknown enum numbers", { optionalForeignEnum: 77, mapStringNestedEnum: new Map([["x", -9]]) }],
  ["an enum value with several names", { optionalAliasedEnum: 2 }],
  ["negative zero", { optionalDouble: -0, optionalFloat: -0 }],
  ["a oneof with a default value", { oneofField: { case: "oneofUint32", value: 0 } }],
  ["a oneof with null", { oneofField: { case: "oneofNullValue", value: null } }],
  ["a oneof with an empty message", { oneofField: { case: "oneofNestedMessage", value: { a: 0 } } }],
  ["an empty wrapper", { optionalInt32Wrapper: { value: 0 }, repeatedStringWrapper: [{ value: "" }] }],
  ["JSON in messages", { optionalStruct: { a: [1, null, { b: "c" }] }, optionalValue: null }],
  ["64-bit integer limits", { optionalInt64: -(2n ** 63n), optionalUint64: 2n ** 64n - 1n, optionalSint64: -1n }],
  ["default map entries", { mapInt32Int32: new Map([[0, 0]]), mapStringBytes: new Map([["", new Uint8Array(0)]]) }],
])("round trip through protobuf-es: %s", (_, fields) => {
  const value = message(fields);
  const bytes = ours.toProtobuf(value);
  assert.deepStrictEqual(ours.fromProtobuf(bytes), value);
  assert.deepStrictEqual(ours.fromProtobuf(throughTheirs(bytes)), value);
});

test("the JSON names of fields are the same as in protobuf-es", () => {
  const named = message({
    fieldname1: 1,
    _field_name3: 3,
    field__name4_: 4,
    FieldName8: 8,
    FIELD_NAME11: 11,
    __Field_name14: 14,
  });
  const bytes = ours.toProtobuf(named);
  expect(Object.keys(toJson(theirs, fromBinary(theirs, bytes)) as object)).toEqual(
    Object.keys(ours.toJson(named) as object),
  );
});

test("toJson writes the same JSON as protobuf-es", () => {
  const values = new RandomValues(indexSchema(schema), randomNumbers(5));
  const fields = ["optionalNestedEnum", "optionalForeignEnum", "repeatedNestedEnum", "optionalInt64", "optionalBytes"];
  for (let i = 0; i < 50; i++) {
    const type = { kind: "ref", target: "schemas/test-messages.ts#TestAllTypesProto3", args: [] } as const;
    const value = values.value(type, 1) as Message;
    const some = message(Object.fromEntries(fields.map((name) => [name, value[name]])));
    expect(ours.toJson(some)).toEqual(toJson(theirs, fromBinary(theirs, ours.toProtobuf(some))));
  }
});

test("the last case of a oneof wins, and two messages of the same case are merged", () => {
  const { concat } = Buffer;
  const part = (fields: Message) => ours.toProtobuf(message(fields));
  const twice = concat([
    part({ oneofField: { case: "oneofNestedMessage", value: { a: 1 } } }),
    part({ oneofField: { case: "oneofNestedMessage", value: { a: 0, corecursive: message({ optionalInt32: 5 }) } } }),
  ]);
  expect(ours.fromProtobuf(twice)["oneofField"]).toMatchObject({ value: { a: 1, corecursive: { optionalInt32: 5 } } });
  const other = concat([twice, part({ oneofField: { case: "oneofString", value: "x" } })]);
  expect(ours.fromProtobuf(other)["oneofField"]).toEqual({ case: "oneofString", value: "x" });
  const back = concat([other, part({ oneofField: { case: "oneofNestedMessage", value: { a: 0 } } })]);
  expect(ours.fromProtobuf(back)["oneofField"]).toEqual({ case: "oneofNestedMessage", value: { a: 0 } });
});

test("fields of the reserved range survive a round trip as unknown fields", () => {
  const bytes = Uint8Array.from([0xa8, 0x1f, 0x7b, 0xb2, 0x1f, 0x03, 1, 2, 3]);
  const read = ours.fromProtobuf(bytes);
  expect((read as { [unknownFields]?: Uint8Array })[unknownFields]).toEqual(bytes);
  expect(ours.toProtobuf(read)).toEqual(bytes);
});
