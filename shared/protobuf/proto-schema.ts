/**
 * A schema in the protobuf layout: what is on the wire and in `.proto` files, without the TypeScript side. It consists
 * of plain readonly data. The compiler builds it from its model and prints it; the runtime builds it from codecs when
 * two processes have different schemas; the wire rules compare two of them.
 */

export type ProtoScalar =
  | "double"
  | "float"
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
  | "bool"
  | "string"
  | "bytes";

/** The type of a field. Names are full: `example.v1.Tree`, `google.protobuf.Timestamp`. */
export type ProtoType =
  | { readonly kind: "scalar"; readonly scalar: ProtoScalar }
  | { readonly kind: "enum"; readonly name: string }
  | { readonly kind: "message"; readonly name: string };

/**
 * How often a field occurs.
 * - `implicit`: at most once; the default is not written.
 * - `explicit`: at most once; `optional` in proto3, and every field whose type is a message.
 * - `repeated`: any number of times; packed where protobuf packs by default.
 * - `map`: as map entries; the field's type is that of the values.
 */
export type Cardinality = "implicit" | "explicit" | "repeated" | "map";

export interface ProtoField {
  /** The name in snake case. */
  readonly name: string;
  /** The name in JSON. The `.proto` file states it where it differs from the name that protobuf derives. */
  readonly jsonName: string;
  readonly number: number;
  readonly cardinality: Cardinality;
  readonly type: ProtoType;
  /** The key type of a map. */
  readonly key?: ProtoScalar;
  /**
   * False if each element of a repeated field is written as a separate field although protobuf would pack them by
   * default. Readers accept both.
   */
  readonly packed?: false;
  /** The name of the `oneof` that the field is a case of. */
  readonly oneof?: string;
  /** Whether a reader of this schema refuses a message without this field. Such a field has no default. */
  readonly demanded?: boolean;
  /** Whether the field, a message, is always written. A reader that does not find it reads the empty message. */
  readonly always?: boolean;
  /**
   * Which duplicates the reader of a repeated field drops. `value`: equal elements, as of a set. `key`: entries with an
   * equal key, of which the last remains; used for a map whose key type protobuf does not allow. Absent if two elements
   * are never equal, as with objects.
   */
  readonly unique?: "value" | "key";
  /**
   * The number of bits of each value, if it is less than that of the field's type: `Int8Array`, `Int16Array` and
   * `Uint16Array`.
   */
  readonly bits?: 8 | 16;
  /** Whether the reader truncates a `google.protobuf.Timestamp` to milliseconds. */
  readonly millis?: boolean;
  /** What a port or a mesh carries, because the bytes of the field itself are opaque. */
  readonly carries?: ProtoCarried;
}

/** The type of a port's messages, or the id of a mesh's actor. */
export type ProtoCarried =
  | { readonly kind: "port"; readonly type: ProtoType }
  | { readonly kind: "mesh"; readonly actor: number };

export interface ProtoMessage {
  readonly name: string;
  /** The fields in the order of their numbers. */
  readonly fields: readonly ProtoField[];
  /** Names of the oneofs of which a case must be set. A reader refuses a message without one. */
  readonly demandedOneofs?: readonly string[];
  /**
   * What the reader makes of the message, which decides about unknown fields. Absent: an interface, all are kept.
   * - `tuple`: a tuple, none are kept.
   * - `part`: a list, a map or a single value that protobuf cannot express in this place, none are kept.
   * - `union`: a union, only those of an unknown variant are kept.
   * - `oneof`: a `Oneof`, all are kept.
   */
  readonly standsFor?: "tuple" | "part" | "union" | "oneof";
  /** Numbers and names of removed members. */
  readonly reserved?: { readonly numbers: readonly number[]; readonly names: readonly string[] };
}

export interface ProtoEnumValue {
  /** The name with the enum's prefix: `COLOR_RED`. */
  readonly name: string;
  readonly number: number;
}

export interface ProtoEnum {
  readonly name: string;
  /** The values. The one with number 0 comes first. */
  readonly values: readonly ProtoEnumValue[];
  readonly reserved?: { readonly numbers: readonly number[]; readonly names: readonly string[] };
}

export interface ProtoMethod {
  readonly name: string;
  readonly id: number;
  readonly request: string;
  readonly response: string;
  /** Whether the server streams its responses. */
  readonly stream: boolean;
  /** Whether a repeated call does no harm. */
  readonly idempotent?: boolean;
}

export interface ProtoService {
  readonly name: string;
  readonly id: number;
  readonly methods: readonly ProtoMethod[];
}

/** Types by their full names. The well-known types of `google.protobuf` are not included. */
export interface ProtoSchema {
  readonly messages: ReadonlyMap<string, ProtoMessage>;
  readonly enums: ReadonlyMap<string, ProtoEnum>;
  readonly services: ReadonlyMap<string, ProtoService>;
}
