/** The types of well-known protobuf types, for generated code. `Value` and `NullValue` are aliases. */
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
