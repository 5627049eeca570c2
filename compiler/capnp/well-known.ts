/**
 * Protobuf's well-known types in Cap'n Proto: structs with the same members. The types that hold any JSON value are
 * stored as JSON text, because structs for them would be a second notation of JSON.
 */
import type { Field, ScalarName, Type, WellKnownName } from "../model/index.js";

const at = { file: "", line: 1, column: 1 };

function message(fields: Readonly<Record<string, Type>>): Type {
  const list = Object.entries(fields).map(([name, type], i): Field => {
    return { name, id: i + 1, type, optional: false, readonly: false, doc: "", tags: {}, at };
  });
  return { kind: "inline", shape: { kind: "message", fields: list } };
}

function scalar(name: ScalarName): Type {
  return { kind: "scalar", scalar: name };
}

const time = message({ seconds: scalar("int64"), nanos: scalar("int32") });
const wrapper = (name: ScalarName): Type => message({ value: scalar(name) });

/** The type of each well-known type, or the JSON that a reader returns if the message has no value. */
export const wellKnownTypes: Readonly<Record<WellKnownName, Type | string>> = {
  Timestamp: time,
  Duration: time,
  FieldMask: message({ paths: { kind: "array", element: scalar("string"), readonly: false } }),
  Empty: message({}),
  Any: message({ typeUrl: scalar("string"), value: scalar("bytes") }),
  Struct: "{}",
  Value: "null",
  ListValue: "[]",
  NullValue: "null",
  DoubleValue: wrapper("double"),
  FloatValue: wrapper("float32"),
  Int64Value: wrapper("int64"),
  UInt64Value: wrapper("uint64"),
  Int32Value: wrapper("int32"),
  UInt32Value: wrapper("uint32"),
  BoolValue: wrapper("boolean"),
  StringValue: wrapper("string"),
  BytesValue: wrapper("bytes"),
};
