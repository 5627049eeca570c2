/**
 * The vocabulary of the schema language, `viceroy/schema`: what a schema file imports. Types only; nothing of it exists
 * at run time, and generated code says `number` where a schema says `Int32`.
 *
 * Sized numbers are intersections with a phantom property, since TypeScript's checker keeps no trace of a plain alias
 * of `number`.
 */

declare const scalar: unique symbol;
declare const dimension: unique symbol;

/** A base type marked with the name of its encoding; the mark exists in the type checker alone. Not for schemas. */
export type Scalar<Base, Name extends string> = Base & { readonly [scalar]?: Name };

/** Signed 32-bit integer; a varint in the protobuf layout. */
export type Int32 = Scalar<number, "int32">;
/** Unsigned 32-bit integer; a varint in the protobuf layout. */
export type Uint32 = Scalar<number, "uint32">;
/** Signed 32-bit integer; a zigzag varint in the protobuf layout: small for small negative numbers. */
export type Sint32 = Scalar<number, "sint32">;
/** Unsigned 32-bit integer; always four bytes in the protobuf layout. */
export type Fixed32 = Scalar<number, "fixed32">;
/** Signed 32-bit integer; always four bytes in the protobuf layout. */
export type Sfixed32 = Scalar<number, "sfixed32">;
/** Single-precision number: rounded to the nearest on the wire. */
export type Float32 = Scalar<number, "float32">;
/** Signed 64-bit integer, a bigint; a varint in the protobuf layout. */
export type Int64 = Scalar<bigint, "int64">;
/** Unsigned 64-bit integer, a bigint; a varint in the protobuf layout. */
export type Uint64 = Scalar<bigint, "uint64">;
/** Signed 64-bit integer, a bigint; a zigzag varint in the protobuf layout. */
export type Sint64 = Scalar<bigint, "sint64">;
/** Unsigned 64-bit integer, a bigint; always eight bytes in the protobuf layout. */
export type Fixed64 = Scalar<bigint, "fixed64">;
/** Signed 64-bit integer, a bigint; always eight bytes in the protobuf layout. */
export type Sfixed64 = Scalar<bigint, "sfixed64">;

declare const actor: unique symbol;
/**
 * What every actor interface extends. The type argument are the constructor's arguments, as a labelled tuple:
 * `interface Counter extends Actor<[initial: Int32]>`. The methods of the interface are its endpoints. The mark does not
 * depend on the arguments, so that `interface Stepper extends Counter, Actor<[initial: Int32, step: Int32]>` is allowed.
 */
export interface Actor<_Args extends readonly unknown[] = []> {
  readonly [actor]?: true;
}

declare const streamItem: unique symbol;
/** Return type of an endpoint that yields any number of values, with flow control. */
export interface Stream<T> {
  readonly [streamItem]: T;
}

declare const portMessage: unique symbol;
/** Where messages of type `T` can be sent: a value that can be passed to and kept by any actor. */
export interface Port<T> {
  readonly [portMessage]: (message: T) => void;
}

/** A mesh of actors as a value. `D` names its dimensions; `string`: any, checked at run time. */
export interface Mesh<A extends Actor, D extends string = string> {
  readonly [dimension]: [A, D];
}

declare const rdmaBuffer: unique symbol;
/** A handle to registered memory: travels as about 100 bytes, read and written one-sided. */
export interface RdmaBuffer {
  readonly [rdmaBuffer]: true;
}

declare const tensor: unique symbol;
/** A tensor of the tensor engine. */
export interface Tensor {
  readonly [tensor]: true;
}

/** What `JSON.parse` makes. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** `google.protobuf.Timestamp`: a point in time to the nanosecond. `Date` is the same to the millisecond. */
export interface Timestamp {
  /** Since 1970, without leap seconds; negative before. */
  seconds: bigint;
  /** From 0 to 999999999, counted forward also before 1970. */
  nanos: number;
}

/** `google.protobuf.Duration`: a span of time to the nanosecond. */
export interface Duration {
  seconds: bigint;
  /** From -999999999 to 999999999, of the same sign as the seconds. */
  nanos: number;
}

/** `google.protobuf.FieldMask`: fields of a message. */
export interface FieldMask {
  /** In snake case: `user.display_name`. */
  paths: string[];
}

declare const empty: unique symbol;
/** `google.protobuf.Empty`: a message of nothing. */
export interface Empty {
  readonly [empty]?: true;
}

/** `google.protobuf.Any`: a message of a type that only its name tells. */
export interface Any {
  /** What is behind its last slash is the full name of the type: `type.googleapis.com/example.v1.Tree`. */
  typeUrl: string;
  /** The message in the protobuf layout. */
  value: Uint8Array;
}

/** `google.protobuf.Struct`: an object as JSON has it. */
export interface Struct {
  [key: string]: JsonValue;
}

/** `google.protobuf.ListValue`: an array as JSON has it. */
export interface ListValue extends Array<JsonValue> {}

declare const value: unique symbol;
/** `google.protobuf.Value`: anything that JSON has, null too. Generated code says `JsonValue`. */
export interface Value {
  readonly [value]: JsonValue;
}

declare const nullValue: unique symbol;
/** `google.protobuf.NullValue`: nothing but null. Generated code says `null`. */
export interface NullValue {
  readonly [nullValue]: null;
}

/** `google.protobuf.DoubleValue`: a number that may be missing, for messages older than proto3's `optional`. */
export interface DoubleValue {
  value: number;
}
/** `google.protobuf.FloatValue`. */
export interface FloatValue {
  value: number;
}
/** `google.protobuf.Int64Value`. */
export interface Int64Value {
  value: bigint;
}
/** `google.protobuf.UInt64Value`. */
export interface UInt64Value {
  value: bigint;
}
/** `google.protobuf.Int32Value`. */
export interface Int32Value {
  value: number;
}
/** `google.protobuf.UInt32Value`. */
export interface UInt32Value {
  value: number;
}
/** `google.protobuf.BoolValue`. */
export interface BoolValue {
  value: boolean;
}
/** `google.protobuf.StringValue`. */
export interface StringValue {
  value: string;
}
/** `google.protobuf.BytesValue`. */
export interface BytesValue {
  value: Uint8Array;
}

/**
 * A choice among values that need not be objects: `Oneof<{ a: Uint32; b: string }>` is
 * `{ case: "a"; value: Uint32 } | { case: "b"; value: string }`, a `oneof` in the protobuf layout.
 */
export type Oneof<Cases extends object> = {
  [K in keyof Cases & string]: { readonly case: K; readonly value: Cases[K] };
}[keyof Cases & string];
