/**
 * The form of a codec in the protobuf layout: scalar, enum, message, collection or optional value. A composed codec writes
 * the values of its parts by their forms. A value that a field cannot hold directly is written as the message of
 * `writeFields` and `readFields` (docs/reference/protobuf-layout.md).
 */
import type { ProtoScalar } from "../../../shared/protobuf/proto-schema.js";
import type { Codec } from "../codec.js";
import type { ProtobufReader } from "./reader.js";
import type { ProtobufWriter } from "./writer.js";

/** 0: varint, 1: eight bytes, 2: length and bytes, 5: four bytes. Schemas have no groups (3 and 4). */
export type WireType = 0 | 1 | 2 | 5;

export interface ProtoScalarForm<T = unknown> {
  readonly kind: "scalar";
  readonly scalar: ProtoScalar;
  readonly wire: WireType;
  /** Returns whether the value is the default, which fields with implicit presence omit. -0 is not the default of a double. */
  isDefault(value: T): boolean;
  /** Returns the default. A mutable value is new for each call. */
  zero(): T;
  /** Writes the tag and the value. @throws {CodecRefusal} */
  write(w: ProtobufWriter, tag: number, value: T): void;
  read(r: ProtobufReader): T;
}

export interface ProtoEnumForm<T = unknown> {
  readonly kind: "enum";
  /** Whether the enum has no default: its values are strings. A field is then always written, and refused if it is missing. */
  readonly isRequired: boolean;
  readonly values: readonly { readonly value: T; readonly number: number }[];
  /** @throws Refused */
  numberOf(value: T): number;
  valueOf(number: number): T;
}

export interface ProtoMessageForm {
  readonly kind: "message";
  /** Returns the cases, if the message is a oneof. */
  cases?(): readonly ChoiceMember[];
}

/** A case of a oneof or a variant of a union. */
export interface ChoiceMember {
  readonly name: string;
  readonly number: number;
  readonly codec: Codec<unknown>;
}

/** The form of arrays, sets and typed arrays. */
export interface ProtoRepeatedForm<T = unknown> {
  readonly kind: "repeated";
  /** The codec of the elements of an array or a set. */
  readonly element?: Codec<unknown>;
  /** The scalar type of the elements of a typed array. */
  readonly scalar?: ProtoScalar;
  empty(): T;
  /** Writes fields with the number `number`; none for an empty collection. @throws {CodecRefusal} */
  write(w: ProtobufWriter, number: number, value: T): void;
  /** Writes one field for each element of an array that protobuf would pack. @throws {CodecRefusal} */
  writeEach?(w: ProtobufWriter, number: number, value: T): void;
  /** Returns whether the elements can have this wire type. */
  acceptsWireType(wire: number): boolean;
  /** Reads elements and appends them to `into`. */
  read(r: ProtobufReader, wire: number, into: T | undefined): T;
}

/** The form of maps and records. The `key` of a record is the codec of strings. */
export interface ProtoMapForm<T = unknown> extends Omit<ProtoRepeatedForm<T>, "kind" | "element" | "scalar"> {
  readonly kind: "map";
  readonly key: Codec<unknown>;
  readonly value: Codec<unknown>;
  /** Whether protobuf supports the map; otherwise the entries are messages with the members `key` and `value`. */
  readonly isNativeMap: boolean;
}

/** The form of `T | null` and `T | undefined`. */
export interface ProtoOptionalForm {
  readonly kind: "maybe";
  readonly inner: Codec<unknown>;
  readonly absent: null | undefined;
}

// biome-ignore format: one kind a line
export type ProtoForm<T = unknown> =
  | ProtoScalarForm<T>
  | ProtoEnumForm<T>
  | ProtoMessageForm
  | ProtoRepeatedForm<T>
  | ProtoMapForm<T>
  | ProtoOptionalForm;

const messageForm: ProtoMessageForm = { kind: "message" };

/** Returns the form of a codec. A codec that was not made by Viceroy has none and is treated as a message. */
export function protoFormOf<T>(codec: Codec<T>): ProtoForm<T> {
  return (codec as { readonly protoForm?: ProtoForm<T> }).protoForm ?? messageForm;
}
