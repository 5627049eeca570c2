/** JSON Schema of single values in protobuf's JSON mapping: scalars and well-known types. */
import type { ProtoScalar } from "../../../shared/protobuf/proto-schema.js";

/** A schema of JSON Schema 2020-12. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

const int32: JsonSchema = { type: "integer", minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };
const uint32: JsonSchema = { type: "integer", minimum: 0, maximum: 2 ** 32 - 1 };
const int64: JsonSchema = { type: "string", pattern: "^(0|-?[1-9][0-9]{0,18})$" };
const uint64: JsonSchema = { type: "string", pattern: "^(0|[1-9][0-9]{0,19})$" };
/** Values that JSON cannot express as numbers are strings. */
const double: JsonSchema = { anyOf: [{ type: "number" }, { enum: ["NaN", "Infinity", "-Infinity"] }] };
const bytes: JsonSchema = {
  type: "string",
  contentEncoding: "base64",
  pattern: "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
};

export const scalarSchemas: Readonly<Record<ProtoScalar, JsonSchema>> = {
  double,
  float: double,
  int32,
  sint32: int32,
  sfixed32: int32,
  uint32,
  fixed32: uint32,
  int64,
  sint64: int64,
  sfixed64: int64,
  uint64,
  fixed64: uint64,
  bool: { type: "boolean" },
  string: { type: "string" },
  bytes,
};

/** Returns the schema of the keys of a map, which are strings in JSON. */
export function keySchema(scalar: ProtoScalar): JsonSchema | undefined {
  if (scalar === "string") return undefined;
  if (scalar === "bool") return { enum: ["true", "false"] };
  const { minimum } = scalarSchemas[scalar] as { readonly minimum?: number };
  const isUnsigned = minimum === 0 || scalarSchemas[scalar] === uint64;
  return isUnsigned ? uint64 : int64;
}

/** Any number, because enumerations are open. */
export const unknownNumber: JsonSchema = int32;

/** The schemas of the well-known types, by full name. */
export const wellKnownSchemas: Readonly<Record<string, JsonSchema>> = {
  "google.protobuf.Timestamp": {
    type: "string",
    format: "date-time",
    pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?Z$",
  },
  "google.protobuf.Duration": { type: "string", pattern: "^-?(0|[1-9][0-9]{0,11})(\\.[0-9]{1,9})?s$" },
  "google.protobuf.FieldMask": { type: "string" },
  "google.protobuf.Empty": { type: "object", additionalProperties: false },
  "google.protobuf.Any": { type: "object", properties: { "@type": { type: "string" } } },
  "google.protobuf.Struct": { type: "object" },
  "google.protobuf.Value": true,
  "google.protobuf.ListValue": { type: "array" },
  "google.protobuf.NullValue": { type: "null" },
  "google.protobuf.DoubleValue": double,
  "google.protobuf.FloatValue": double,
  "google.protobuf.Int64Value": int64,
  "google.protobuf.UInt64Value": uint64,
  "google.protobuf.Int32Value": int32,
  "google.protobuf.UInt32Value": uint32,
  "google.protobuf.BoolValue": { type: "boolean" },
  "google.protobuf.StringValue": { type: "string" },
  "google.protobuf.BytesValue": bytes,
};
