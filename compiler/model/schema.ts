/**
 * The schema model: everything the emitters, the lock and the evolution rules know of a user's schemas. Plain readonly
 * data that is value-equal, so that it can be compared, hashed and kept without keeping a compiler alive.
 */
import type { DeclarationKey, Position, Reserved, Shape, Tags, Type } from "./type.js";

export interface Schema {
  /** The package's name, from package.json beside the config. */
  readonly package: string;
  /** Sorted by path: the order in which files are given never matters. */
  readonly modules: readonly Module[];
}

/** One schema file. */
export interface Module {
  /** Relative to the config's root, with forward slashes: `schemas/counter.ts`. */
  readonly path: string;
  /** In source order. Exported declarations, and those that exported ones reach. */
  readonly types: readonly TypeDeclaration[];
  readonly actors: readonly ActorDeclaration[];
}

/** An interface, a type alias or an enum. */
export interface TypeDeclaration {
  readonly key: DeclarationKey;
  /** Qualified in a namespace: `Order.Line`. See `schemas/names/qualified.ts`. */
  readonly name: string;
  readonly exported: boolean;
  readonly doc: string;
  readonly typeParameters: readonly string[];
  /** Inherited fields of extended interfaces come first, in the order of the `extends` list. */
  readonly shape: Shape;
  /** The value of `@reserved`. */
  readonly reserved?: Reserved;
  readonly at: Position;
}

/** An exported interface that extends `Actor`. Inherited endpoints come first. */
export interface ActorDeclaration {
  readonly key: DeclarationKey;
  readonly name: string;
  /** 32 bits, drawn once from package and name, then locked, so that a rename keeps it. 0 until locked. */
  readonly id: number;
  readonly doc: string;
  /** Actor interfaces it extends, directly. */
  readonly extends: readonly DeclarationKey[];
  /** Constructor arguments, from `Actor<[...]>`. */
  readonly args: readonly Parameter[];
  readonly endpoints: readonly Endpoint[];
  readonly at: Position;
}

export interface Endpoint {
  readonly name: string;
  readonly wireName?: string;
  readonly id: number;
  readonly doc: string;
  /** As declared: with `@respond` the first one is the `Port<T>` which vanishes from the caller's signature. */
  readonly params: readonly Parameter[];
  /** Absent: `void`. For a streaming endpoint the type of one item; for `@respond` the `T` of the port. */
  readonly result?: Type;
  readonly stream: boolean;
  readonly options: EndpointOptions;
  readonly tags: Tags;
  readonly at: Position;
}

export interface EndpointOptions {
  /** `@concurrent 8`: so many of its messages at once. */
  readonly concurrent: boolean | number;
  readonly idempotent: boolean;
  readonly respond: boolean;
  /** `@timeout 5s`, in milliseconds. */
  readonly timeout?: number;
  /** `@reduce op`: sum, min, max, concat, count, … */
  readonly reduce?: string;
  /** `@propagate`: answers can stay with the actors, as tensors of a mesh. */
  readonly propagate?: Propagate;
}

/** Who tells shapes of tensors that are answered. Neither: the answers do. */
export interface Propagate {
  /** A module, relative to the schema file, and what it exports. */
  readonly shapes?: { readonly module: string; readonly name: string };
}

export interface Parameter {
  readonly name: string;
  readonly id: number;
  readonly type: Type;
  readonly optional: boolean;
  readonly at: Position;
}
