/**
 * Protobuf's well-known types as Cap'n Proto has them: structs with the same members, but for those that hold anything that
 * JSON has. Those are texts of JSON: as structs they would be a notation of their own, which nobody reads in place.
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

/** What stands for each, or the JSON that is read where there is none. */
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
