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

/**
 * A choice among values that need not be objects: `Oneof<{ a: Uint32; b: string }>` is
 * `{ case: "a"; value: Uint32 } | { case: "b"; value: string }`, a `oneof` in the protobuf layout.
 */
export type Oneof<Cases extends object> = {
  [K in keyof Cases & string]: { readonly case: K; readonly value: Cases[K] };
}[keyof Cases & string];
