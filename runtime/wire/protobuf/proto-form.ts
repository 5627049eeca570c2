/**
 * What a codec is in the protobuf layout, so that whatever contains it knows how to place it: a scalar or an enum as
 * such, a message, a collection, something that may be missing. What a place cannot hold as such stands there as the
 * message that `writeFields` and `readFields` know (docs/reference/protobuf-layout.md).
 */
import type { ProtoScalar } from "../../../shared/protobuf/proto-schema.js";
import type { Codec } from "../codec.js";
import type { ProtobufReader } from "./reader.js";
import type { ProtobufWriter } from "./writer.js";

/** 0: varint, 1: eight bytes, 2: length and bytes, 5: four bytes. 3 and 4, groups, no schema has. */
export type WireType = 0 | 1 | 2 | 5;

export interface ProtoScalarForm<T = unknown> {
  readonly kind: "scalar";
  readonly scalar: ProtoScalar;
  readonly wire: WireType;
  /** With implicit presence it is not written. -0 is not the default of a double. */
  isDefault(value: T): boolean;
  /** The default. A new one where it can be written to. */
  zero(): T;
  /** Tag and value. @throws Refused */
  write(w: ProtobufWriter, tag: number, value: T): void;
  read(r: ProtobufReader): T;
}

export interface ProtoEnumForm<T = unknown> {
  readonly kind: "enum";
  /** A value of strings has no default: it is always written, and refused where it is missing. */
  readonly isRequired: boolean;
  readonly values: readonly { readonly value: T; readonly number: number }[];
  /** @throws Refused */
  numberOf(value: T): number;
  valueOf(number: number): T;
}

export interface ProtoMessageForm {
  readonly kind: "message";
  /** Of a oneof. */
  cases?(): readonly ChoiceMember[];
}

/** A case of a oneof, a variant of a union. */
export interface ChoiceMember {
  readonly name: string;
  readonly number: number;
  readonly codec: Codec<unknown>;
}

/** Arrays, sets, typed arrays. */
export interface ProtoRepeatedForm<T = unknown> {
  readonly kind: "repeated";
  /** Of an array or a set. */
  readonly element?: Codec<unknown>;
  /** Of a typed array. */
  readonly scalar?: ProtoScalar;
  empty(): T;
  /** Fields of `number`, none where it is empty. @throws Refused */
  write(w: ProtobufWriter, number: number, value: T): void;
  /** The same with a field for each element, where protobuf would pack them. Of arrays. @throws Refused */
  writeEach?(w: ProtobufWriter, number: number, value: T): void;
  /** Whether elements can come with this wire type. */
  acceptsWireType(wire: number): boolean;
  /** Reads elements and puts them behind those of `into`. */
  read(r: ProtobufReader, wire: number, into: T | undefined): T;
}

/** Maps and records. `key` is the codec of a string in a record. */
export interface ProtoMapForm<T = unknown> extends Omit<ProtoRepeatedForm<T>, "kind" | "element" | "scalar"> {
  readonly kind: "map";
  readonly key: Codec<unknown>;
  readonly value: Codec<unknown>;
  /** Whether protobuf has such a map; otherwise entries are messages with `key` and `value` as their members. */
  readonly isNativeMap: boolean;
}

/** `T | null`, `T | undefined`. */
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

/** What `codec` is. One that does not say so, since it is not ours, is a message. */
export function protoFormOf<T>(codec: Codec<T>): ProtoForm<T> {
  return (codec as { readonly protoForm?: ProtoForm<T> }).protoForm ?? messageForm;
}
