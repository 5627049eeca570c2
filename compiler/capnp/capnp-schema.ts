/**
 * A schema as Cap'n Proto has it: structs with numbered members and the places that those have in a message. Made by
 * lower.ts and layout.ts, printed by print.ts, and the ground of the generated readers. Structs refer to each other, so
 * that they are filled after they are made; nobody changes them later.
 */
import type { Type, TypedArrayElement } from "../model/index.js";

/** What lies in a struct itself. `date` is an `Int64`, `uint16` stands where an enumeration was. */
export type DataScalar = "bool" | "uint16" | "int32" | "uint32" | "int64" | "uint64" | "float32" | "float64" | "date";

export type CapnpSchemaType =
  /** `type`: what it is in TypeScript, where that is an enumeration of numbers. */
  | { readonly kind: "data"; readonly scalar: DataScalar; readonly type?: Type }
  | { readonly kind: "enum"; readonly target: CapnpEnum }
  | { readonly kind: "text" | "bytes" }
  | { readonly kind: "typedArray"; readonly element: TypedArrayElement }
  | { readonly kind: "list"; readonly element: CapnpSchemaType; readonly as: "array" | "set" | "map" | "record" }
  | { readonly kind: "struct"; readonly target: CapnpStruct }
  /** `T | null` as an element: `target` is the struct that stands for it. */
  | { readonly kind: "nullable"; readonly inner: CapnpSchemaType; readonly target: CapnpStruct }
  /** Anything that JSON has: a text. `absent`: the JSON that is read where there is none. */
  | { readonly kind: "json"; readonly absent: string; readonly type: Type }
  /** Where members were, and are no more. */
  | { readonly kind: "anyPointer" }
  /** What takes no place: handles, the case that says that there is none. */
  | { readonly kind: "void" };

/** One member of a struct, or one case of a choice. */
export interface CapnpMember {
  readonly name: string;
  /** What it is called in TypeScript; undefined for what is not there: it has its place alone. */
  readonly property: string | undefined;
  readonly type: CapnpSchemaType;
  readonly doc: string;
  readonly optional: boolean;
  readonly nullable: boolean;
  /** How many ordinals it takes. More than one: it is a union of its own. */
  readonly ordinals: number;
}

/** Where a member is: the bit of its data, or the number of its pointer; and the bit of what says whether it is there. */
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
  /** What it is in TypeScript; `nullable` and `alias` stand for a type that is no struct. */
  readonly shape: "message" | "tuple" | "entry" | "alias" | "nullable" | "choice";
  /** Of a choice among object types. */
  readonly discriminant?: string;
  /** Of a tuple: its last member takes what is left. */
  readonly rest?: boolean;
  /** Under which name values of this type are written and read as whole messages, and what they are in TypeScript. */
  readonly root?: { readonly name: string; readonly type: Type };
  /** In the order of their ordinals. */
  members: readonly CapnpMember[];
  layout: StructLayout;
  readonly nested: (CapnpStruct | CapnpEnum)[];
}

export interface StructLayout {
  /** In words of 8 bytes. */
  readonly dataWords: number;
  readonly pointerWords: number;
  /** Of the members, in their order. */
  readonly slots: readonly MemberSlot[];
  /** Of a choice: the bit of the 16 that say which case it is. */
  readonly tag?: number;
}

export interface CapnpEnum {
  readonly kind: "enum";
  readonly name: string;
  readonly file: CapnpFile;
  readonly parent: CapnpStruct | undefined;
  readonly doc: string;
  /** In TypeScript. */
  readonly type: Type;
  readonly values: readonly CapnpEnumValue[];
}

export interface CapnpEnumValue {
  readonly name: string;
  /** In TypeScript; undefined for the one that says nothing, and for those that are no more. */
  readonly value: string | number | undefined;
  readonly doc: string;
}

/** The numbers of an enumeration of numbers, for those who read the notation. */
export interface CapnpConstants {
  readonly kind: "constants";
  readonly name: string;
  readonly doc: string;
  readonly values: readonly { readonly name: string; readonly value: number; readonly doc: string }[];
}

export interface CapnpFile {
  /** Below the output folder, without extension: `capnp/deep/worker`. */
  readonly path: string;
  /** Its schema file. */
  readonly module: string;
  readonly types: (CapnpStruct | CapnpEnum | CapnpConstants)[];
}

/** `Zoo.KeepersEntry`: a type's name with those around it. */
export function qualifiedPath(type: CapnpStruct | CapnpEnum): readonly string[] {
  return type.parent === undefined ? [type.name] : [...qualifiedPath(type.parent), type.name];
}
