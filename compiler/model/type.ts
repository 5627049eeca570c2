/**
 * The types a schema can hold, as plain readonly data. No compiler object, no function, no cycle: a reference to a
 * named declaration is its key, never the declaration itself, so that two models are equal when their JSON is.
 */
import type { WellKnownName } from "./well-known.js";

/** Scalars, named as in `viceroy/schema` (lower-cased) or as the TypeScript type they come from. */
export type ScalarName =
  | "boolean"
  | "double"
  | "float32"
  | "int32"
  | "uint32"
  | "sint32"
  | "fixed32"
  | "sfixed32"
  | "int64"
  | "uint64"
  | "sint64"
  | "fixed64"
  | "sfixed64"
  | "string"
  | "bytes"
  | "date";

/** Element types of the typed arrays (`Float64Array` is "float64"). */
export type TypedArrayElement =
  | "int8"
  | "uint8clamped"
  | "int16"
  | "uint16"
  | "int32"
  | "uint32"
  | "bigint64"
  | "biguint64"
  | "float32"
  | "float64";

/** `<path from the config's root>#<name>`, for example `schemas/tree.ts#Tree` or `schemas/order.ts#Order.Line`. */
export type DeclarationKey = string;

export type Type =
  | { readonly kind: "scalar"; readonly scalar: ScalarName }
  | { readonly kind: "typedArray"; readonly element: TypedArrayElement }
  | { readonly kind: "array"; readonly element: Type; readonly readonly: boolean }
  /** Optional elements come last; `rest` is the element type of a trailing `...T[]`. */
  | {
      readonly kind: "tuple";
      readonly elements: readonly TupleElement[];
      readonly rest?: Type;
      readonly readonly: boolean;
    }
  | { readonly kind: "map"; readonly key: Type; readonly value: Type; readonly readonly: boolean }
  | { readonly kind: "set"; readonly element: Type; readonly readonly: boolean }
  /** `Record<string, T>`, `{ [key: string]: T }`: a plain object; `__proto__` is an ordinary own key. */
  | { readonly kind: "record"; readonly value: Type }
  /** `T | null`. */
  | { readonly kind: "nullable"; readonly inner: Type }
  /** A named declaration, with type arguments when it is generic. */
  | { readonly kind: "ref"; readonly target: DeclarationKey; readonly args: readonly Type[] }
  /** A type parameter of the generic declaration in which it stands. */
  | { readonly kind: "parameter"; readonly name: string }
  /** Shapes written in place, without a name of their own. */
  | { readonly kind: "inline"; readonly shape: Shape }
  | { readonly kind: "port"; readonly element: Type }
  /** A mesh of actors; `dimensions` absent: any, checked at run time. */
  | { readonly kind: "mesh"; readonly actor: DeclarationKey; readonly dimensions?: readonly string[] }
  | { readonly kind: "rdmaBuffer" }
  | { readonly kind: "tensor" }
  /** A type of `google.protobuf` that has a form of its own in JSON. */
  | { readonly kind: "wellKnown"; readonly name: WellKnownName }
  /** What the schema language cannot express. The diagnostic is made from it; emitters never see one. */
  | { readonly kind: "unsupported"; readonly reason: string; readonly typeText: string; readonly fixHint: string };

export interface TupleElement {
  readonly name?: string;
  readonly type: Type;
  readonly optional: boolean;
}

/** What a named declaration, or a type written in place, consists of. */
export type Shape =
  | { readonly kind: "message"; readonly fields: readonly Field[] }
  | { readonly kind: "enum"; readonly values: readonly EnumValue[]; readonly origin: "literals" | "enum" }
  /** A union of object types told apart by the literal value of one property they all have. */
  | { readonly kind: "union"; readonly discriminant: string; readonly variants: readonly Variant[] }
  /** `Oneof<{ a: Uint32; b: string }>`: `{ case: "a", value: number } | { case: "b", value: string }`. */
  | { readonly kind: "oneof"; readonly cases: readonly Field[] }
  /** An alias of some other type: `type Rows = Row[]`. */
  | { readonly kind: "alias"; readonly type: Type };

export interface Field {
  readonly name: string;
  /** Name on the wire (`@name`), when it differs. */
  readonly wireName?: string;
  /** From the lock, or from `@id`. 0 until the lock has assigned it. */
  readonly id: number;
  readonly type: Type;
  /** `name?: T`. Absent optionals are absent properties. */
  readonly optional: boolean;
  readonly readonly: boolean;
  readonly doc: string;
  readonly tags: Tags;
  readonly at: Position;
}

export interface EnumValue {
  readonly name: string;
  /** The name of the value in protobuf (`@name`), when it is not made of that of the enum and its own. */
  readonly wireName?: string;
  /** The value in TypeScript: the literal of a literal union, the initialiser of an enum member. */
  readonly value: string | number;
  /** What it is in protobuf: a whole number itself, or the id from the lock or from `@id`. 0 until locked. */
  readonly id: number;
  readonly doc: string;
  readonly tags?: Tags;
  /** Other members of an enum with the same value. TypeScript cannot tell them apart; protobuf has names for all. */
  readonly aliases?: readonly EnumAlias[];
  readonly at: Position;
}

export interface EnumAlias {
  readonly name: string;
  readonly wireName?: string;
  readonly doc: string;
  readonly tags?: Tags;
  readonly at: Position;
}

export interface Variant {
  /** The literal value of the discriminant. */
  readonly tag: string;
  readonly id: number;
  /** A ref to a message, or an inline one. Its fields do not include the discriminant. */
  readonly type: Type;
  readonly at: Position;
}

/** Numbers and names in protobuf that no member may have. */
export interface Reserved {
  readonly numbers: readonly number[];
  readonly names: readonly string[];
}

/** JSDoc tags that Viceroy reads; only those present. */
export interface Tags {
  readonly id?: number;
  readonly was?: string;
  readonly retired?: boolean;
  readonly name?: string;
  /** The name in JSON, where it is not made of the name in protobuf. Of fields and cases. */
  readonly json?: string;
  /** Of a type, `@reserved`: beside what the lock reserves. */
  readonly reserved?: Reserved;
  /** Elements of a list each have a field of their own in protobuf: `[packed = false]`. */
  readonly unpacked?: boolean;
}

/** 1-based, as editors and compilers print it. `file` is relative to the config's root, with forward slashes. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}
