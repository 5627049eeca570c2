/**
 * A schema as the protobuf layout has it: what is on the wire and what `.proto` files say, without what TypeScript makes
 * of it. Plain readonly data. The compiler makes it from its model and prints it; the runtime makes it from codecs, when two
 * processes have different schemas; rules compare two of them.
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

/** Names are full: `example.v1.Tree`, `google.protobuf.Timestamp`. */
export type ProtoType =
  | { readonly kind: "scalar"; readonly scalar: ProtoScalar }
  | { readonly kind: "enum"; readonly name: string }
  | { readonly kind: "message"; readonly name: string };

/**
 * `implicit`: the default is not written. `explicit`: proto3's `optional`, and every field that is a message. `repeated`
 * fields are packed where protobuf packs. `map`: the type is that of its values.
 */
export type Cardinality = "implicit" | "explicit" | "repeated" | "map";

export interface ProtoField {
  /** In snake case. */
  readonly name: string;
  /** In JSON; explicit in a `.proto` where it is not what protobuf makes of the name. */
  readonly jsonName: string;
  readonly number: number;
  readonly cardinality: Cardinality;
  readonly type: ProtoType;
  /** Of a map. */
  readonly key?: ProtoScalar;
  /** Of a repeated field: false where each element has a field of its own although protobuf would pack them. Both are read. */
  readonly packed?: false;
  /** The name of the `oneof` it is a case of. */
  readonly oneof?: string;
  /** Whether a reader of this schema refuses a message without it: it has no default. */
  readonly demanded?: boolean;
  /** A message that is always written: where it is missing, the message with nothing in it is read. */
  readonly always?: boolean;
  /**
   * Of a repeated field: its reader drops what comes twice. `value`: a set; `key`: a map whose key protobuf has no word for,
   * of which the last entry with a key stays. Absent where no two are ever equal, as objects are not.
   */
  readonly unique?: "value" | "key";
  /** Its values have fewer bits than those of the type: `Int8Array`, `Int16Array` and `Uint16Array`. */
  readonly bits?: 8 | 16;
  /** Its reader cuts what is finer than milliseconds off a `google.protobuf.Timestamp`. */
  readonly millis?: boolean;
  /** Of ports and meshes, whose own bytes are opaque. */
  readonly carries?: ProtoCarried;
}

/** What a port takes; the id of the actor that a mesh has. */
export type ProtoCarried =
  | { readonly kind: "port"; readonly type: ProtoType }
  | { readonly kind: "mesh"; readonly actor: number };

export interface ProtoMessage {
  readonly name: string;
  /** In the order of their numbers. */
  readonly fields: readonly ProtoField[];
  /** A reader refuses a message in which none of the cases is set. Names of oneofs. */
  readonly demandedOneofs?: readonly string[];
  /**
   * What its reader makes of it. Of a `tuple`, or a `part` (a list, a map, a single value in a place where protobuf has no
   * word for it), unknown fields are not kept; of a `union` those of an unknown variant are, of a `oneof` all. Absent: it is
   * an interface, and all are kept.
   */
  readonly standsFor?: "tuple" | "part" | "union" | "oneof";
  /** Of members that are no more. */
  readonly reserved?: { readonly numbers: readonly number[]; readonly names: readonly string[] };
}

export interface ProtoEnumValue {
  /** `COLOR_RED`. */
  readonly name: string;
  readonly number: number;
}

export interface ProtoEnum {
  readonly name: string;
  /** The one with number 0 comes first. */
  readonly values: readonly ProtoEnumValue[];
  readonly reserved?: { readonly numbers: readonly number[]; readonly names: readonly string[] };
}

export interface ProtoMethod {
  readonly name: string;
  readonly id: number;
  readonly request: string;
  readonly response: string;
  /** The server streams. */
  readonly stream: boolean;
  /** It can be done twice without harm. */
  readonly idempotent?: boolean;
}

export interface ProtoService {
  readonly name: string;
  readonly id: number;
  readonly methods: readonly ProtoMethod[];
}

/** Types by their full names; well-known ones of `google.protobuf` are not among them. */
export interface ProtoSchema {
  readonly messages: ReadonlyMap<string, ProtoMessage>;
  readonly enums: ReadonlyMap<string, ProtoEnum>;
  readonly services: ReadonlyMap<string, ProtoService>;
}
