/**
 * The types that a schema can contain, as plain readonly data without compiler objects, functions or cycles. A
 * reference to a named declaration is its key, never the declaration itself, so two models are equal if their JSON is
 * equal.
 */
import type { WellKnownName } from "./well-known.js";

/** The scalar types, named as in `viceroy/schema` with a lower-case letter, or as the TypeScript type. */
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

/** The element types of typed arrays, for example `float64` for `Float64Array`. */
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

/**
 * Identifies a declaration: `<path from the folder of the config>#<name>`, for example `schemas/tree.ts#Tree` or
 * `schemas/order.ts#Order.Line`.
 */
export type DeclarationKey = string;

/** A type in a schema, as plain data. */
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
  /** A type parameter of the enclosing generic declaration. */
  | { readonly kind: "parameter"; readonly name: string }
  /** A shape written inline, without a name. */
  | { readonly kind: "inline"; readonly shape: Shape }
  | { readonly kind: "port"; readonly element: Type }
  /** A mesh of actors. Without `dimensions`, any dimensions are allowed; the runtime checks them. */
  | { readonly kind: "mesh"; readonly actor: DeclarationKey; readonly dimensions?: readonly string[] }
  | { readonly kind: "rdmaBuffer" }
  | { readonly kind: "tensor" }
  /** A reference to a value of tasks. Only TypeScript checks the type of the value. */
  | { readonly kind: "objectRef"; readonly element: Type }
  /** A type of `google.protobuf` with its own representation in JSON. */
  | { readonly kind: "wellKnown"; readonly name: WellKnownName }
  /** A type that the schema language does not support. It becomes a diagnostic; emitters never see it. */
  | { readonly kind: "unsupported"; readonly reason: string; readonly typeText: string; readonly fixHint: string };

/** An element of a tuple. */
export interface TupleElement {
  /** The label of the element. */
  readonly name?: string;
  /** The type of the element. */
  readonly type: Type;
  /** Whether the element can be missing. */
  readonly optional: boolean;
}

/** The content of a named declaration, or of a type without a name. */
export type Shape =
  | { readonly kind: "message"; readonly fields: readonly Field[] }
  | { readonly kind: "enum"; readonly values: readonly EnumValue[]; readonly origin: "literals" | "enum" }
  /** A union of object types told apart by the literal value of one property they all have. */
  | { readonly kind: "union"; readonly discriminant: string; readonly variants: readonly Variant[] }
  /** `Oneof<{ a: Uint32; b: string }>`: `{ case: "a", value: number } | { case: "b", value: string }`. */
  | { readonly kind: "oneof"; readonly cases: readonly Field[] }
  /** An alias of some other type: `type Rows = Row[]`. */
  | { readonly kind: "alias"; readonly type: Type };

/** A field of a message, or a case of a oneof. */
export interface Field {
  /** The name of the property. */
  readonly name: string;
  /** The name on the wire, from the `@name` tag. */
  readonly wireName?: string;
  /** The id, from the lock file or the `@id` tag. 0 until the lock file has one. */
  readonly id: number;
  /** The type of the property. */
  readonly type: Type;
  /** Whether the property can be missing: `name?: T`. */
  readonly optional: boolean;
  /** Whether the property is readonly. */
  readonly readonly: boolean;
  /** The JSDoc comment without tags, or an empty text. */
  readonly doc: string;
  /** The JSDoc tags. */
  readonly tags: Tags;
  /** The position of the field. */
  readonly at: Position;
}

/** A value of an enum, or a literal of a union of literals. */
export interface EnumValue {
  /** The name of the value. */
  readonly name: string;
  /** The name in protobuf, from the `@name` tag. */
  readonly wireName?: string;
  /** The value in TypeScript. */
  readonly value: string | number;
  /**
   * The number in protobuf: the value itself if it is an integer, otherwise the id from the lock file or the `@id` tag.
   * 0 until the lock file has one.
   */
  readonly id: number;
  /** The JSDoc comment without tags, or an empty text. */
  readonly doc: string;
  /** The JSDoc tags. */
  readonly tags?: Tags;
  /**
   * Other members of the enum with the same value. TypeScript cannot tell them apart; protobuf has names for all of
   * them.
   */
  readonly aliases?: readonly EnumAlias[];
  /** The position of the value. */
  readonly at: Position;
}

/** A further name of an enum value. */
export interface EnumAlias {
  /** The name of the member. */
  readonly name: string;
  /** The name in protobuf, from the `@name` tag. */
  readonly wireName?: string;
  /** The JSDoc comment without tags, or an empty text. */
  readonly doc: string;
  /** The JSDoc tags. */
  readonly tags?: Tags;
  /** The position of the member. */
  readonly at: Position;
}

/** A variant of a discriminated union. */
export interface Variant {
  /** The literal value of the discriminant. */
  readonly tag: string;
  /** The id from the lock file. 0 until the lock file has one. */
  readonly id: number;
  /**
   * The type of the variant: a reference to a message, or a message without a name. Its fields do not include the
   * discriminant.
   */
  readonly type: Type;
  /** The position of the variant. */
  readonly at: Position;
}

/** Numbers and names in protobuf that no member may have. */
export interface Reserved {
  /** The reserved numbers. */
  readonly numbers: readonly number[];
  /** The reserved names. */
  readonly names: readonly string[];
}

/** The JSDoc tags of a declaration or member that Viceroy reads. */
export interface Tags {
  /** The number of the `@id` tag. */
  readonly id?: number;
  /** The former name, from the `@was` tag. */
  readonly was?: string;
  /** Whether the member has a `@retired` tag. */
  readonly retired?: boolean;
  /** The name on the wire, from the `@name` tag. */
  readonly name?: string;
  /** The name in JSON, if it is not derived from the name in protobuf. Fields and cases only. */
  readonly json?: string;
  /** The numbers and names of the `@reserved` tag of a type. */
  readonly reserved?: Reserved;
  /** Whether each element of a list is a field of its own in protobuf: `[packed = false]`. */
  readonly unpacked?: boolean;
}

/** A position in a schema file. */
export interface Position {
  /** The path relative to the folder of the config file, with forward slashes. */
  readonly file: string;
  /** The line, from 1. */
  readonly line: number;
  /** The column, from 1. */
  readonly column: number;
}
