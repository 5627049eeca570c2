/**
 * The names that a schema can use without declaring them: scalars, containers, and types that are rejected with advice.
 */
import { type ScalarName, type TypedArrayElement, wellKnownNames } from "../../model/index.js";

/** Scalar types of `viceroy/schema`. */
export const vocabularyScalars: Readonly<Record<string, ScalarName>> = {
  Int32: "int32",
  Uint32: "uint32",
  Sint32: "sint32",
  Fixed32: "fixed32",
  Sfixed32: "sfixed32",
  Float32: "float32",
  Int64: "int64",
  Uint64: "uint64",
  Sint64: "sint64",
  Fixed64: "fixed64",
  Sfixed64: "sfixed64",
};

/** All names of `viceroy/schema`. */
export const vocabularyNames: ReadonlySet<string> = new Set([
  ...Object.keys(vocabularyScalars),
  ...wellKnownNames,
  ..."Actor Task Stream Port Mesh RdmaBuffer Tensor ObjectRef Oneof".split(" "),
]);

export const typedArrays: Readonly<Record<string, TypedArrayElement>> = {
  Int8Array: "int8",
  Uint8ClampedArray: "uint8clamped",
  Int16Array: "int16",
  Uint16Array: "uint16",
  Int32Array: "int32",
  Uint32Array: "uint32",
  BigInt64Array: "bigint64",
  BigUint64Array: "biguint64",
  Float32Array: "float32",
  Float64Array: "float64",
};

/** Utility types. The compiler resolves them. */
export const utilities: ReadonlySet<string> = new Set(
  [
    "Partial Required Readonly Pick Omit Exclude Extract NonNullable Parameters ConstructorParameters ReturnType",
    "InstanceType Awaited Uppercase Lowercase Capitalize Uncapitalize NoInfer",
  ].flatMap((line) => line.split(" ")),
);

interface Refusal {
  readonly reason: string;
  readonly hint: string;
}

const noData: Refusal = { reason: "it is not data", hint: "Declare an interface with the fields to send." };
const bytes: Refusal = { reason: "schemas have one type for bytes", hint: "Use `Uint8Array`." };
const later: Refusal = {
  reason: "a message contains the value itself",
  hint: "Send the value itself, without a promise.",
};
const sequence: Refusal = {
  reason: "a sequence is sent as an array or as a stream",
  hint: "Use an array. An endpoint that yields values returns `Stream<T>`.",
};
const boxed = (primitive: string): Refusal => ({ reason: "it is a boxed value", hint: `Use \`${primitive}\`.` });

const refusals: Readonly<Record<string, Refusal>> = {
  Promise: later,
  PromiseLike: later,
  ...Object.fromEntries(
    "ArrayBuffer SharedArrayBuffer DataView Buffer Blob File".split(" ").map((name) => [name, bytes]),
  ),
  ...Object.fromEntries(
    "Iterable Iterator IterableIterator Generator AsyncIterable AsyncIterator AsyncIterableIterator AsyncGenerator ReadableStream"
      .split(" ")
      .map((name) => [name, sequence]),
  ),
  Error: {
    reason: "only one process knows its class",
    hint: "Throw it, or declare an interface with the fields to send.",
  },
  RegExp: { reason: "it is not data", hint: "Send its source, a `string`." },
  URL: { reason: "it is not data", hint: "Send its text, a `string`." },
  String: boxed("string"),
  Number: boxed("number"),
  Boolean: boxed("boolean"),
  BigInt: boxed("Int64"),
  Object: { reason: "it does not describe its values", hint: "Declare an interface with the fields to send." },
  Function: { reason: "functions cannot leave their process", hint: "Use a `Port<T>` or a mesh of actors." },
  WeakMap: { reason: "its entries cannot be listed", hint: "Use `Map<K, V>`." },
  WeakSet: { reason: "its entries cannot be listed", hint: "Use `Set<T>`." },
  AbortSignal: {
    reason: "it is not data",
    hint: "Remove it. A handler gets the caller's signal from `context().signal`.",
  },
  Float16Array: { reason: "not every supported version of Node.js has it", hint: "Use `Float32Array`." },
};

/** Returns why a type of the standard library cannot be sent. */
export function refusal(name: string): Refusal {
  return Object.hasOwn(refusals, name) ? (refusals[name] as Refusal) : noData;
}
