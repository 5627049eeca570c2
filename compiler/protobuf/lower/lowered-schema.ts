/**
 * A schema lowered to protobuf: what is on the wire (`ProtoSchema`), and beside it what only those who print it or speak of
 * it need: where each part comes from, and which file it belongs to.
 */
import type { ProtoMessage, ProtoSchema } from "../../../shared/protobuf/proto-schema.js";
import type { Position, Shape } from "../../model/type.js";

export interface LoweredSchema {
  /** Of everything that the schema declares. */
  readonly package: string;
  readonly schema: ProtoSchema;
  /** In an order in which each file stands after those that it imports. */
  readonly files: readonly LoweredFile[];
  /**
   * By full name: of a message, an enum, a service; of a member with the owner's name before it
   * (`example.v1.Tree.optional_int32`, `example.v1.Color.COLOR_RED`, `example.v1.CounterService.Increment`).
   */
  readonly origins: ReadonlyMap<string, Origin>;
  /** What members and values are called in the schema, and were before, by their full names. Arguments are not among them. */
  readonly memberNames: ReadonlyMap<string, readonly string[]>;
  /** Full names of enums by their shapes, the very objects that the schema has: also of those that have no name there. */
  readonly enumNames: ReadonlyMap<Shape, string>;
  /** The arguments of constructors, by the full name of the service. They are in no file: nobody calls them from outside. */
  readonly constructors: ReadonlyMap<string, ProtoMessage>;
  /** Two declarations would have the same name. The second one has been given another, which is no good for long. */
  readonly clashes: readonly ProtoClash[];
}

/** Where something in protobuf comes from. */
export interface Origin {
  /** As the schema says it: `Tree.optionalInt32`, `Counter.increment`. */
  readonly place: string;
  readonly doc: string;
  readonly at: Position;
}

export interface LoweredFile {
  /** Below the folder of `.proto` files: `acme/shop/v1/counter.proto`. */
  readonly path: string;
  readonly package: string;
  /** Schema files; several when they need each other. None: what Viceroy itself declares. */
  readonly modules: readonly string[];
  /** Full names, in the order in which they are printed. */
  readonly messages: readonly string[];
  readonly enums: readonly string[];
  readonly services: readonly string[];
  /** Paths of files, sorted; those of `google/protobuf` too. */
  readonly imports: readonly string[];
}

export interface ProtoClash {
  /** Of a type, or of a value of an enum. */
  readonly kind: "type" | "value";
  readonly name: string;
  /** `Tree of schemas/a.ts`. */
  readonly first: string;
  readonly second: string;
  /** Of the second one. */
  readonly at: Position;
}
