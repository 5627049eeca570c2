/**
 * Codecs of the messages of `google.protobuf` that have a special form in JSON. In both binary layouts they are ordinary
 * objects.
 */
import type { Codec } from "../codec.js";
import type { JsonForm } from "../json/json-form.js";
import { anyForm, durationForm, fieldMaskForm, timestampForm, wrapperForm } from "../json/well-known.js";
import { fixedProtoName } from "../protobuf/message-structure.js";
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
import { listValue, struct, value } from "./json-value.js";
import { type FieldCodecs, ObjectCodec } from "./object.js";
import * as scalars from "./scalars.js";

class WellKnownCodec<T extends object> extends ObjectCodec<T> {
  /** The special form in JSON; undefined if the JSON is that of an ordinary message. */
  readonly jsonForm: JsonForm<T> | undefined;

  constructor(name: string, fields: FieldCodecs<T>, jsonForm?: JsonForm<T>) {
    super(name, fields);
    this.jsonForm = jsonForm;
  }

  get protoName(): string {
    return `google.protobuf.${this.name}`;
  }

  protected override fingerprintText(): string {
    return this.protoName;
  }
}

function wrapperCodec<T>(name: string, value: Codec<T>, zero: () => T): Codec<{ value: T }> {
  return new WellKnownCodec<{ value: T }>(name, { value } as FieldCodecs<{ value: T }>, wrapperForm(name, value, zero));
}

const { boolean, double, float32, int32, int64, string, uint32, uint64 } = scalars;
const timeFields = { seconds: int64, nanos: int32 };

/** `google.protobuf.Timestamp`: a point in time, to the nanosecond. */
export const timestamp: Codec<Timestamp> = new WellKnownCodec("Timestamp", timeFields, timestampForm);
/** `google.protobuf.Duration`: a span of time, to the nanosecond. */
export const duration: Codec<Duration> = new WellKnownCodec("Duration", timeFields, durationForm);
/** `google.protobuf.FieldMask`: paths of fields. */
export const fieldMask: Codec<FieldMask> = new WellKnownCodec(
  "FieldMask",
  { paths: new ArrayCodec(string) },
  fieldMaskForm,
);
/** `google.protobuf.Empty`: a message without fields. */
export const empty: Codec<Empty> = new WellKnownCodec<object>("Empty", {});
/** `google.protobuf.Any`: a message of any type, with the name of the type. */
export const any: Codec<Any> = new WellKnownCodec("Any", { typeUrl: string, value: bytes }, anyForm(knownTypes));
/** `google.protobuf.DoubleValue`: a double in a message of its own. */
export const doubleValue: Codec<DoubleValue> = wrapperCodec("DoubleValue", double, () => 0);
/** `google.protobuf.FloatValue`: a single-precision number in a message of its own. */
export const floatValue: Codec<FloatValue> = wrapperCodec("FloatValue", float32, () => 0);
/** `google.protobuf.Int64Value`: an integer of 64 bits in a message of its own. */
export const int64Value: Codec<Int64Value> = wrapperCodec("Int64Value", int64, () => 0n);
/** `google.protobuf.UInt64Value`: an unsigned integer of 64 bits in a message of its own. */
export const uInt64Value: Codec<UInt64Value> = wrapperCodec("UInt64Value", uint64, () => 0n);
/** `google.protobuf.Int32Value`: an integer of 32 bits in a message of its own. */
export const int32Value: Codec<Int32Value> = wrapperCodec("Int32Value", int32, () => 0);
/** `google.protobuf.UInt32Value`: an unsigned integer of 32 bits in a message of its own. */
export const uInt32Value: Codec<UInt32Value> = wrapperCodec("UInt32Value", uint32, () => 0);
/** `google.protobuf.BoolValue`: a boolean in a message of its own. */
export const boolValue: Codec<BoolValue> = wrapperCodec("BoolValue", boolean, () => false);
/** `google.protobuf.StringValue`: a string in a message of its own. */
export const stringValue: Codec<StringValue> = wrapperCodec("StringValue", string, () => "");
/** `google.protobuf.BytesValue`: bytes in a message of its own. */
export const bytesValue: Codec<BytesValue> = wrapperCodec("BytesValue", bytes, () => new Uint8Array(0));

/** Returns the types that an `Any` can contain without a registry. */
function knownTypes(): ReadonlyMap<string, Codec<unknown>> {
  codecs ??= new Map(
    [
      ...[timestamp, duration, fieldMask, empty, any, struct, value, listValue, doubleValue, floatValue, int64Value],
      ...[uInt64Value, int32Value, uInt32Value, boolValue, stringValue, bytesValue],
    ].map((codec): [string, Codec<unknown>] => [fixedProtoName(codec)?.name ?? "", codec]),
  );
  return codecs;
}

let codecs: ReadonlyMap<string, Codec<unknown>> | undefined;
