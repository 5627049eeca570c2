/**
 * The type of a schema lowered to protobuf. It contains what is on the wire (`ProtoSchema`) and, for printers and
 * diagnostics, where each part comes from and which file it belongs to.
 */
import type { ProtoMessage, ProtoSchema } from "../../../shared/protobuf/proto-schema.js";
import type { Position, Shape } from "../../model/type.js";

export interface LoweredSchema {
  /** The package of everything that the project itself declares. */
  readonly package: string;
  readonly schema: ProtoSchema;
  /** The files, each after those that it imports. */
  readonly files: readonly LoweredFile[];
  /**
   * The origin of each message, enum, service and member by full name. The name of a member follows that of its owner
   * (`example.v1.Tree.optional_int32`, `example.v1.Color.COLOR_RED`, `example.v1.CounterService.Increment`).
   */
  readonly origins: ReadonlyMap<string, Origin>;
  /** The present and former schema names of members and values, by their full names. Arguments are not included. */
  readonly memberNames: ReadonlyMap<string, readonly string[]>;
  /**
   * Full names of enums by their shape objects in the schema. Inline enums, which have no name in the schema, are
   * included.
   */
  readonly enumNames: ReadonlyMap<Shape, string>;
  /**
   * The arguments of constructors by the full name of the service. They are in no file, because constructors cannot be
   * called from outside.
   */
  readonly constructors: ReadonlyMap<string, ProtoMessage>;
  /**
   * Pairs of declarations with the same name. The second one has been given another name, but only so that lowering can
   * go on.
   */
  readonly clashes: readonly ProtoClash[];
}

/** The schema declaration that a part of the protobuf schema comes from. */
export interface Origin {
  /** The name in the schema: `Tree.optionalInt32`, `Counter.increment`. */
  readonly place: string;
  readonly doc: string;
  readonly at: Position;
}

export interface LoweredFile {
  /** The path relative to the folder of `.proto` files: `acme/shop/v1/counter.proto`. */
  readonly path: string;
  readonly package: string;
  /** The npm package that declares the contents, if it is not the project itself. */
  readonly importedFrom?: string;
  /** The schema files; several if they need each other, none for what Viceroy itself declares. */
  readonly modules: readonly string[];
  /** Full names in the order in which they are printed. */
  readonly messages: readonly string[];
  readonly enums: readonly string[];
  readonly services: readonly string[];
  /** Sorted paths of the imported files, including those of `google/protobuf`. */
  readonly imports: readonly string[];
}

export interface ProtoClash {
  /** Whether the name belongs to a type or to a value of an enum. */
  readonly kind: "type" | "value";
  /** The full name: `acme.shop.v1.Tree`. */
  readonly name: string;
  /** The first holder of the name: `Tree of schemas/a.ts`. */
  readonly first: string;
  readonly second: string;
  /** The position of the second one. */
  readonly at: Position;
}
