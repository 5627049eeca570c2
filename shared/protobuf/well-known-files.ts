/**
 * The well-known files of protobuf that schemas can import, as data. A descriptor set must contain every file that it
 * refers to.
 */

import { jsonName } from "./names.js";
import type { ProtoEnum, ProtoField, ProtoMessage, ProtoScalar, ProtoType } from "./proto-schema.js";

export interface WellKnownFile {
  /** The import path: `google/protobuf/timestamp.proto`. */
  readonly path: string;
  readonly messages: readonly ProtoMessage[];
  readonly enums: readonly ProtoEnum[];
  /** The word in generated names: `Timestamp` for the Java class `TimestampProto` and the Go package `timestamppb`. */
  readonly word: string;
  readonly hasArenas: boolean;
}

export const wellKnownPackage = "google.protobuf";

export const wellKnownFiles: readonly WellKnownFile[] = [
  file("any", [message("Any", [scalar("type_url", 1, "string"), scalar("value", 2, "bytes")])], { hasArenas: false }),
  file("duration", [message("Duration", [scalar("seconds", 1, "int64"), scalar("nanos", 2, "int32")])]),
  file("empty", [message("Empty", [])]),
  file("field_mask", [message("FieldMask", [repeated("paths", 1, { kind: "scalar", scalar: "string" })])]),
  file(
    "struct",
    [
      message("Struct", [
        { ...field("fields", 1, named("message", "Value")), cardinality: "map", key: "string" } satisfies ProtoField,
      ]),
      message("Value", [
        kind(field("null_value", 1, named("enum", "NullValue"))),
        kind(scalar("number_value", 2, "double")),
        kind(scalar("string_value", 3, "string")),
        kind(scalar("bool_value", 4, "bool")),
        kind(field("struct_value", 5, named("message", "Struct"))),
        kind(field("list_value", 6, named("message", "ListValue"))),
      ]),
      message("ListValue", [repeated("values", 1, named("message", "Value"))]),
    ],
    { enums: [{ name: `${wellKnownPackage}.NullValue`, values: [{ name: "NULL_VALUE", number: 0 }] }] },
  ),
  file("timestamp", [message("Timestamp", [scalar("seconds", 1, "int64"), scalar("nanos", 2, "int32")])]),
  file(
    "wrappers",
    (
      [
        ["DoubleValue", "double"],
        ["FloatValue", "float"],
        ["Int64Value", "int64"],
        ["UInt64Value", "uint64"],
        ["Int32Value", "int32"],
        ["UInt32Value", "uint32"],
        ["BoolValue", "bool"],
        ["StringValue", "string"],
        ["BytesValue", "bytes"],
      ] as const
    ).map(([name, type]) => message(name, [scalar("value", 1, type)])),
  ),
];

const byName = new Map(
  wellKnownFiles.flatMap((known) => [...known.messages, ...known.enums].map(({ name }) => [name, known.path] as const)),
);

/** Returns the path of the file that declares a type of `google.protobuf`, or undefined for other names. */
export function wellKnownFileOf(name: string): string | undefined {
  return byName.get(name);
}

function file(
  name: string,
  messages: readonly ProtoMessage[],
  { enums = [], hasArenas = true }: { readonly enums?: readonly ProtoEnum[]; readonly hasArenas?: boolean } = {},
): WellKnownFile {
  const word = jsonName(`_${name}`);
  return { path: `google/protobuf/${name}.proto`, messages, enums, word, hasArenas };
}

function message(name: string, fields: readonly ProtoField[]): ProtoMessage {
  return { name: `${wellKnownPackage}.${name}`, fields };
}

function field(name: string, number: number, type: ProtoType): ProtoField {
  return {
    name,
    jsonName: jsonName(name),
    number,
    cardinality: type.kind === "message" ? "explicit" : "implicit",
    type,
  };
}

function scalar(name: string, number: number, type: ProtoScalar): ProtoField {
  return field(name, number, { kind: "scalar", scalar: type });
}

function repeated(name: string, number: number, type: ProtoType): ProtoField {
  return { ...field(name, number, type), cardinality: "repeated" };
}

/** Makes a field a case of the only oneof in these files. */
function kind(item: ProtoField): ProtoField {
  return { ...item, cardinality: "explicit", oneof: "kind" };
}

function named(of: "message" | "enum", name: string): ProtoType {
  return { kind: of, name: `${wellKnownPackage}.${name}` };
}
