/**
 * The Cap'n Proto form of a schema: structs with numbered members and their positions in a message. `lower.ts` makes
 * the structs, `struct-layout.ts` computes the positions, `print.ts` prints them, and the generated readers follow
 * them. Structs refer to each other, so a struct is created first and filled afterwards. A filled struct does not
 * change.
 */
import type { Type, TypedArrayElement } from "../model/index.js";

/**
 * The types that are stored in the data section of a struct. `date` is stored as `Int64`. `uint16` holds the place of a
 * removed enumeration.
 */
export type DataScalar = "bool" | "uint16" | "int32" | "uint32" | "int64" | "uint64" | "float32" | "float64" | "date";

export type CapnpSchemaType =
  /** `type` is the TypeScript type of an enumeration whose values are numbers. */
  | { readonly kind: "data"; readonly scalar: DataScalar; readonly type?: Type }
  | { readonly kind: "enum"; readonly target: CapnpEnum }
  | { readonly kind: "text" | "bytes" }
  | { readonly kind: "typedArray"; readonly element: TypedArrayElement }
  | { readonly kind: "list"; readonly element: CapnpSchemaType; readonly as: "array" | "set" | "map" | "record" }
  | { readonly kind: "struct"; readonly target: CapnpStruct }
  /** `T | null` as an element. `target` is the struct that holds the element. */
  | { readonly kind: "nullable"; readonly inner: CapnpSchemaType; readonly target: CapnpStruct }
  /** A JSON value, stored as text. `absent` is the JSON that a reader returns if the message has no text. */
  | { readonly kind: "json"; readonly absent: string; readonly type: Type }
  /** The type of a removed member whose value was a pointer. */
  | { readonly kind: "anyPointer" }
  /** A type without data: a handle, or the case that means "no value". */
  | { readonly kind: "void" };

/** One member of a struct, or one case of a choice. */
export interface CapnpMember {
  readonly name: string;
  /** The name of the member in TypeScript. It is undefined for a removed member, which only keeps its position. */
  readonly property: string | undefined;
  readonly type: CapnpSchemaType;
  readonly doc: string;
  readonly optional: boolean;
  readonly nullable: boolean;
  /** The number of ordinals of the member. A member with more than one ordinal is a union. */
  readonly ordinals: number;
}

/**
 * The position of a member in a struct. `at` is the bit offset in the data section, or the index in the pointer
 * section. `tag` is the bit offset of the union tag that tells whether the member is present.
 */
export interface MemberSlot {
  readonly ordinal: number;
  readonly at: number;
  readonly tag?: number;
}

export interface CapnpStruct {
  readonly kind: "struct";
  readonly name: string;
  readonly file: CapnpFile;
  readonly parent: CapnpStruct | undefined;
  readonly doc: string;
  /** The kind of the TypeScript type. `nullable` and `alias` are structs that wrap a type that is not a struct. */
  readonly shape: "message" | "tuple" | "entry" | "alias" | "nullable" | "choice";
  /** The name of the property that tells the variants of a union of object types apart. */
  readonly discriminant?: string;
  /** Whether the last member of a tuple holds all remaining elements. */
  readonly rest?: boolean;
  /**
   * The name and the TypeScript type under which the generated code reads and writes this struct as a whole message.
   */
  readonly root?: { readonly name: string; readonly type: Type };
  /** The members, ordered by their ordinals. */
  members: readonly CapnpMember[];
  layout: StructLayout;
  readonly nested: (CapnpStruct | CapnpEnum)[];
}

export interface StructLayout {
  /** The size of the data section in words of 8 bytes. */
  readonly dataWords: number;
  readonly pointerWords: number;
  /** The positions of the members, in the order of the members. */
  readonly slots: readonly MemberSlot[];
  /** The bit offset of the 16-bit tag that tells which case of a choice is set. */
  readonly tag?: number;
}

export interface CapnpEnum {
  readonly kind: "enum";
  readonly name: string;
  readonly file: CapnpFile;
  readonly parent: CapnpStruct | undefined;
  readonly doc: string;
  /** The type of the enumeration in TypeScript. */
  readonly type: Type;
  readonly values: readonly CapnpEnumValue[];
}

export interface CapnpEnumValue {
  readonly name: string;
  /** The value in TypeScript. It is undefined for the value that means "unspecified" and for removed values. */
  readonly value: string | number | undefined;
  readonly doc: string;
}

/** The values of a numeric enumeration. They are printed as constants, for readers of the `.capnp` file. */
export interface CapnpConstants {
  readonly kind: "constants";
  readonly name: string;
  readonly doc: string;
  readonly values: readonly { readonly name: string; readonly value: number; readonly doc: string }[];
}

export interface CapnpFile {
  /** The path below the output folder, without extension: `capnp/deep/worker`. */
  readonly path: string;
  /** The path of the schema file. */
  readonly module: string;
  readonly types: (CapnpStruct | CapnpEnum | CapnpConstants)[];
}

/** Returns the name of a type after the names of the types that contain the type: `Zoo.KeepersEntry`. */
export function qualifiedPath(type: CapnpStruct | CapnpEnum): readonly string[] {
  return type.parent === undefined ? [type.name] : [...qualifiedPath(type.parent), type.name];
}
