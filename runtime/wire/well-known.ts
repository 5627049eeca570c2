/** Values of well-known types, as generated code names them. In schemas two of them are names alone. */
import type { JsonValue } from "../../shared/vocabulary.js";

export type {
  Any,
  BoolValue,
  BytesValue,
  DoubleValue,
  Duration,
  Empty,
  FieldMask,
  FloatValue,
  Int32Value,
  Int64Value,
  JsonValue,
  ListValue,
  StringValue,
  Struct,
  Timestamp,
  UInt32Value,
  UInt64Value,
} from "../../shared/vocabulary.js";

/** `google.protobuf.Value`. */
export type Value = JsonValue;
/** `google.protobuf.NullValue`. */
export type NullValue = null;
