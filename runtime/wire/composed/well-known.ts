/**
 * Codecs of the messages of `google.protobuf` that have a form of their own in JSON. What they hold, they hold like any
 * other object.
 */
import type { Codec } from "../codec.js";
import type {
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
  StringValue,
  Timestamp,
  UInt32Value,
  UInt64Value,
} from "../well-known.js";
import { ArrayCodec } from "./array.js";
import { bytes } from "./binary.js";
import { type FieldCodecs, ObjectCodec } from "./object.js";
import * as scalars from "./scalars.js";

class WellKnownCodec<T extends object> extends ObjectCodec<T> {
  constructor(name: string, fields: FieldCodecs<T>) {
    super(name, fields);
  }

  protected override canonical(): string {
    return `google.protobuf.${this.name}`;
  }
}

const { boolean, double, float32, int32, int64, string, uint32, uint64 } = scalars;

export const timestamp: Codec<Timestamp> = new WellKnownCodec("Timestamp", { seconds: int64, nanos: int32 });
export const duration: Codec<Duration> = new WellKnownCodec("Duration", { seconds: int64, nanos: int32 });
export const fieldMask: Codec<FieldMask> = new WellKnownCodec("FieldMask", { paths: new ArrayCodec(string) });
export const empty: Codec<Empty> = new WellKnownCodec<object>("Empty", {});
export const any: Codec<Any> = new WellKnownCodec("Any", { typeUrl: string, value: bytes });
export const doubleValue: Codec<DoubleValue> = new WellKnownCodec("DoubleValue", { value: double });
export const floatValue: Codec<FloatValue> = new WellKnownCodec("FloatValue", { value: float32 });
export const int64Value: Codec<Int64Value> = new WellKnownCodec("Int64Value", { value: int64 });
export const uInt64Value: Codec<UInt64Value> = new WellKnownCodec("UInt64Value", { value: uint64 });
export const int32Value: Codec<Int32Value> = new WellKnownCodec("Int32Value", { value: int32 });
export const uInt32Value: Codec<UInt32Value> = new WellKnownCodec("UInt32Value", { value: uint32 });
export const boolValue: Codec<BoolValue> = new WellKnownCodec("BoolValue", { value: boolean });
export const stringValue: Codec<StringValue> = new WellKnownCodec("StringValue", { value: string });
export const bytesValue: Codec<BytesValue> = new WellKnownCodec("BytesValue", { value: bytes });
