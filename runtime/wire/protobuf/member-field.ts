/**
 * Writes and reads the values of a codec as fields of a message, for composed codecs. A value is either an element of an
 * array, a map or a oneof, which is always present, or a member with rules for its presence
 * (docs/reference/protobuf-layout.md).
 */
import type { Codec } from "../codec.js";
import { CodecRefusal, type PathSegment, withPathSegment } from "../codec-refusal.js";
import { traced } from "../traced-part.js";
import {
  type ProtoEnumForm,
  type ProtoMapForm,
  type ProtoOptionalForm,
  type ProtoRepeatedForm,
  protoFormOf,
  type WireType,
} from "./proto-form.js";
import type { ProtobufReader } from "./reader.js";
import type { ProtobufWriter } from "./writer.js";

/** A field with one value. */
export interface SingleField {
  readonly wire: WireType;
  write(w: ProtobufWriter, number: number, value: unknown): void;
  /** @param into the value of an earlier occurrence; a message is merged into it */
  read(r: ProtobufReader, into: unknown): unknown;
  /** Returns the value of an element that is missing. */
  absent(r: ProtobufReader): unknown;
}

/** A member of a message. */
export interface MemberField {
  /** Writes the field or fields of the value, or nothing if it is absent or has the default. */
  write(w: ProtobufWriter, number: number, value: unknown): void;
  /** Returns whether the field can have this wire type. */
  acceptsWireType(wire: number): boolean;
  read(r: ProtobufReader, wire: number, into: unknown): unknown;
  /** Returns the value of a member that is missing. */
  absent(r: ProtobufReader): unknown;
}

export function tagOf(number: number, wire: number): number {
  return ((number << 3) | wire) >>> 0;
}

export function singleFieldOf(codec: Codec<unknown>): SingleField {
  const form = protoFormOf(codec);
  switch (form.kind) {
    case "scalar":
      return {
        wire: form.wire,
        write: (w, number, value) => form.write(w, tagOf(number, form.wire), value),
        read: (r) => form.read(r),
        absent: () => form.zero(),
      };
    case "enum":
      return enumField(form);
    default:
      return messageField(codec);
  }
}

function enumField(form: ProtoEnumForm): SingleField {
  return {
    wire: 0,
    write: (w, number, value) => w.int32(tagOf(number, 0), form.numberOf(value)),
    read: (r) => form.valueOf(r.int32()),
    absent() {
      if (form.isRequired) throw new CodecRefusal("it is missing, and has no default");
      return form.valueOf(0);
    },
  };
}

function messageField(codec: Codec<unknown>): SingleField {
  return {
    wire: 2,
    write(w, number, value) {
      w.message(tagOf(number, 2), w.tracing ? traced(codec) : codec, value);
    },
    read: (r, into) => r.message(r.tracing ? traced(codec) : codec, into ?? undefined),
    absent: (r) => r.absent(r.tracing ? traced(codec) : codec),
  };
}

export function memberFieldOf(codec: Codec<unknown>): MemberField {
  const form = protoFormOf(codec);
  switch (form.kind) {
    case "maybe":
      return optionalField(singleFieldOf(presentMemberCodec(form)), form.absent);
    case "repeated":
    case "map":
      return collectionField(form);
    case "scalar":
      return implicitField(singleFieldOf(codec), (value) => form.isDefault(value));
    case "enum":
      return implicitField(singleFieldOf(codec), (value) => !form.isRequired && form.numberOf(value) === 0);
    case "message":
      return implicitField(singleFieldOf(codec), () => false);
  }
}

/** Returns the codec of a present value. If `A` is an alias of a nullable type, `A | null` has the same present values as `A`. */
function presentMemberCodec({ inner, absent }: ProtoOptionalForm): Codec<unknown> {
  const form = protoFormOf(inner);
  return absent === null && form.kind === "maybe" && form.absent === null ? presentMemberCodec(form) : inner;
}

function implicitField(element: SingleField, isDefault: (value: unknown) => boolean): MemberField {
  return {
    write(w, number, value) {
      if (!isDefault(value)) element.write(w, number, value);
    },
    acceptsWireType: (wire) => wire === element.wire,
    read: (r, _, into) => element.read(r, into),
    absent: (r) => element.absent(r),
  };
}

function optionalField(element: SingleField, absent: null | undefined): MemberField {
  return {
    write(w, number, value) {
      if (value !== absent) element.write(w, number, value);
    },
    acceptsWireType: (wire) => wire === element.wire,
    read: (r, _, into) => element.read(r, into),
    absent: () => absent,
  };
}

function collectionField(form: ProtoRepeatedForm | ProtoMapForm): MemberField {
  return {
    write: (w, number, value) => form.write(w, number, value),
    acceptsWireType: (wire) => form.acceptsWireType(wire),
    read: (r, wire, into) => form.read(r, wire, into),
    absent: () => form.empty(),
  };
}

/** Runs `step`. On the second attempt, adds `segment` to the path of a refusal. */
export function atSegment<T>(segment: PathSegment, tracing: boolean, step: () => T): T {
  if (!tracing) return step();
  try {
    return step();
  } catch (error) {
    throw withPathSegment(error, segment);
  }
}
