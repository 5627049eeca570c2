/**
 * The types that schema files import. All of them exist only in the type checker: generated code says `number` where a
 * schema says `Int32`.
 *
 * Sized numbers are intersections with a phantom property, since TypeScript's checker does not keep a plain alias of
 * `number`.
 *
 * @module
 */

declare const scalar: unique symbol;
declare const dimension: unique symbol;

/**
 * A base type, marked with the name of its encoding. The mark exists only in the type checker. Schemas use the types
 * below instead.
 */
export type Scalar<Base, Name extends string> = Base & { readonly [scalar]?: Name };

/** An integer from -2^31 to 2^31 - 1; a varint in the protobuf layout. */
export type Int32 = Scalar<number, "int32">;
/** An integer from 0 to 2^32 - 1; a varint in the protobuf layout. */
export type Uint32 = Scalar<number, "uint32">;
/**
 * An integer from -2^31 to 2^31 - 1; a zigzag varint in the protobuf layout, which is short for small negative numbers.
 */
export type Sint32 = Scalar<number, "sint32">;
/** An integer from 0 to 2^32 - 1; always four bytes in the protobuf layout. */
export type Fixed32 = Scalar<number, "fixed32">;
/** An integer from -2^31 to 2^31 - 1; always four bytes in the protobuf layout. */
export type Sfixed32 = Scalar<number, "sfixed32">;
/** A single-precision number. Values are rounded to the nearest one when they are encoded. */
export type Float32 = Scalar<number, "float32">;
/** A bigint from -2^63 to 2^63 - 1; a varint in the protobuf layout. */
export type Int64 = Scalar<bigint, "int64">;
/** A bigint from 0 to 2^64 - 1; a varint in the protobuf layout. */
export type Uint64 = Scalar<bigint, "uint64">;
/** A bigint from -2^63 to 2^63 - 1; a zigzag varint in the protobuf layout. */
export type Sint64 = Scalar<bigint, "sint64">;
/** A bigint from 0 to 2^64 - 1; always eight bytes in the protobuf layout. */
export type Fixed64 = Scalar<bigint, "fixed64">;
/** A bigint from -2^63 to 2^63 - 1; always eight bytes in the protobuf layout. */
export type Sfixed64 = Scalar<bigint, "sfixed64">;

declare const actor: unique symbol;
/**
 * The interface that every actor interface extends. The type argument lists the arguments of the constructor as a
 * labelled tuple. The methods of the interface are the endpoints of the actor.
 *
 * The second type argument is the state that checkpoints of the actor contain: an interface or a type of the schema,
 * without ports, meshes, buffers and tensors. Classes of the actor can then have the methods `save(): State` and
 * `restore(state: State): void`.
 *
 * @example
 * ```ts
 * import type { Actor, Int32, Stream } from "viceroy/schema";
 *
 * export interface Counter extends Actor<[initial: Int32]> {
 *   increment(by?: Int32): void;
 *   value(): Int32;
 *   watch(count: Int32): Stream<Int32>;
 * }
 * ```
 */
export interface Actor<_Args extends readonly unknown[] = [], _State = never> {
  /**
   * Marks the type for the compiler. The mark depends neither on the arguments nor on the state, so that an actor interface can extend
   * another one and change them.
   */
  readonly [actor]?: true;
}

declare const task: unique symbol;
/**
 * The interface that every task extends. A task is a function that `viceroy/tasks` runs on a worker process. The first type
 * argument lists its arguments as a labelled tuple, the second is its result, `void` if it has none. The interface has no
 * members of its own.
 *
 * @example
 * ```ts
 * import type { Task, Uint32 } from "viceroy/schema";
 *
 * export interface CountWords extends Task<[text: string, shortest?: Uint32], Map<string, Uint32>> {}
 * ```
 */
export interface Task<_Args extends readonly unknown[] = [], _Result = void> {
  /** Marks the type for the compiler. */
  readonly [task]?: true;
}

declare const streamItem: unique symbol;
/** The return type of an endpoint that yields any number of values, with flow control. */
export interface Stream<T> {
  /** Marks the type for the compiler. */
  readonly [streamItem]: T;
}

declare const portMessage: unique symbol;
/** A port, to which messages of type `T` can be sent. Ports are values that any actor can receive and keep. */
export interface Port<T> {
  /** Marks the type for the compiler. */
  readonly [portMessage]: (message: T) => void;
}

/** A mesh of actors as a value. `D` names its dimensions; `string` allows any, which are checked at run time. */
export interface Mesh<A extends Actor, D extends string = string> {
  /** Marks the type for the compiler. */
  readonly [dimension]: [A, D];
}

declare const rdmaBuffer: unique symbol;
/** A handle to registered memory, which takes about 100 bytes on the wire. */
export interface RdmaBuffer {
  /** Marks the type for the compiler. */
  readonly [rdmaBuffer]: true;
}

declare const tensor: unique symbol;
/** A tensor of `viceroy/tensor`. */
export interface Tensor {
  /** Marks the type for the compiler. */
  readonly [tensor]: true;
}

declare const objectValue: unique symbol;
/**
 * A reference to a value of type `T` in a context of `viceroy/tasks`: what `put` and `run` of a `JobContext` return. The receiver reads the
 * value by its method `get`. Processes of one machine share large values, which are not sent.
 *
 * The value itself is a plain value. It is not encoded by the schema, whose fingerprints do not depend on `T`.
 */
export interface ObjectRef<T> {
  /** Marks the type for the compiler. */
  readonly [objectValue]: T;
}

/** Any value that `JSON.parse` returns. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** `google.protobuf.Timestamp`: a point in time, to the nanosecond. `Date` is one to the millisecond. */
export interface Timestamp {
  /** Seconds since 1970, without leap seconds; negative before 1970. */
  seconds: bigint;
  /** Nanoseconds after the second, from 0 to 999,999,999, also before 1970. */
  nanos: number;
}

/** `google.protobuf.Duration`: a span of time, to the nanosecond. */
export interface Duration {
  /** Whole seconds, negative for negative spans. */
  seconds: bigint;
  /** Nanoseconds, from -999,999,999 to 999,999,999, with the sign of the seconds. */
  nanos: number;
}

/** `google.protobuf.FieldMask`: a set of fields of a message. */
export interface FieldMask {
  /** The fields in snake case: `user.display_name`. */
  paths: string[];
}

declare const empty: unique symbol;
/** `google.protobuf.Empty`: a message without fields. */
export interface Empty {
  /** Marks the type for the compiler. */
  readonly [empty]?: true;
}

/** `google.protobuf.Any`: a message of any type, with the name of the type. */
export interface Any {
  /** A URL whose last part is the full name of the type: `type.googleapis.com/example.v1.Tree`. */
  typeUrl: string;
  /** The message in the protobuf layout. */
  value: Uint8Array;
}

/** `google.protobuf.Struct`: a JSON object. */
export interface Struct {
  [key: string]: JsonValue;
}

/** `google.protobuf.ListValue`: a JSON array. */
export interface ListValue extends Array<JsonValue> {}

declare const value: unique symbol;
/** `google.protobuf.Value`: any JSON value, null included. Generated code uses `JsonValue`. */
export interface Value {
  /** Marks the type for the compiler. */
  readonly [value]: JsonValue;
}

declare const nullValue: unique symbol;
/** `google.protobuf.NullValue`: null. Generated code uses `null`. */
export interface NullValue {
  /** Marks the type for the compiler. */
  readonly [nullValue]: null;
}

/** `google.protobuf.DoubleValue`: a double in a message of its own, which can be missing. */
export interface DoubleValue {
  /** The number. */
  value: number;
}
/** `google.protobuf.FloatValue`: a single-precision number in a message of its own. */
export interface FloatValue {
  /** The number. */
  value: number;
}
/** `google.protobuf.Int64Value`: an integer of 64 bits in a message of its own. */
export interface Int64Value {
  /** The integer, from -2^63 to 2^63 - 1. */
  value: bigint;
}
/** `google.protobuf.UInt64Value`: an unsigned integer of 64 bits in a message of its own. */
export interface UInt64Value {
  /** The integer, from 0 to 2^64 - 1. */
  value: bigint;
}
/** `google.protobuf.Int32Value`: an integer of 32 bits in a message of its own. */
export interface Int32Value {
  /** The integer, from -2^31 to 2^31 - 1. */
  value: number;
}
/** `google.protobuf.UInt32Value`: an unsigned integer of 32 bits in a message of its own. */
export interface UInt32Value {
  /** The integer, from 0 to 2^32 - 1. */
  value: number;
}
/** `google.protobuf.BoolValue`: a boolean in a message of its own. */
export interface BoolValue {
  /** The boolean. */
  value: boolean;
}
/** `google.protobuf.StringValue`: a string in a message of its own. */
export interface StringValue {
  /** The string. */
  value: string;
}
/** `google.protobuf.BytesValue`: bytes in a message of their own. */
export interface BytesValue {
  /** The bytes. */
  value: Uint8Array;
}

/**
 * A choice among values that need not be objects: `Oneof<{ a: Uint32; b: string }>` is `{ case: "a"; value: Uint32 } |
 * { case: "b"; value: string }`, and a `oneof` in the protobuf layout.
 */
export type Oneof<Cases extends object> = {
  [K in keyof Cases & string]: { readonly case: K; readonly value: Cases[K] };
}[keyof Cases & string];
