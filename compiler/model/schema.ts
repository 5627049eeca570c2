/**
 * The schema model: everything that the emitters, the lock and the evolution rules know about a user's schemas. It is
 * plain readonly data with value equality. It can be compared, hashed and kept without keeping a compiler in memory.
 */
import type { DeclarationKey, Position, Reserved, Shape, Tags, Type } from "./type.js";

/** The model of all schema files of a project. */
export interface Schema {
  /** The name of the package, from package.json beside the config file. */
  readonly package: string;
  /** The schema files, sorted by path. */
  readonly modules: readonly Module[];
  /** The schema files of other packages from which these import types. No code is generated for them. */
  readonly imported?: readonly ImportedModule[];
}

/** A schema file of another package. Its path is `node_modules/<package>/<path in the package>`. */
export interface ImportedModule extends Module {
  /** The name of the package. */
  readonly package: string;
  /** The protobuf package of its messages. */
  readonly protoPackage: string;
  /** The path of its generated file, relative to the output folder of its package: `price.ts`. */
  readonly output: string;
  /** The specifier by which generated code imports its codecs, or undefined if the project cannot import them. */
  readonly specifier?: string;
}

/** The model of one schema file. */
export interface Module {
  /** The path relative to the folder of the config file, with forward slashes: `schemas/counter.ts`. */
  readonly path: string;
  /** The types in source order: exported ones, and those that exported ones refer to. */
  readonly types: readonly TypeDeclaration[];
  /** The actors in source order. */
  readonly actors: readonly ActorDeclaration[];
  /** The tasks in source order. */
  readonly tasks: readonly TaskDeclaration[];
}

/** An interface, a type alias or an enum. */
export interface TypeDeclaration {
  /** Identifies the declaration. */
  readonly key: DeclarationKey;
  /** The name, qualified in a namespace: `Order.Line`. */
  readonly name: string;
  /** Whether the schema file exports the declaration. */
  readonly exported: boolean;
  /** The JSDoc comment without tags, or an empty text. */
  readonly doc: string;
  /** The names of the type parameters. */
  readonly typeParameters: readonly string[];
  /** The shape of the declaration. Inherited fields come first, in the order of the `extends` list. */
  readonly shape: Shape;
  /** The numbers and names of the `@reserved` tag. */
  readonly reserved?: Reserved;
  /** The position of the declaration. */
  readonly at: Position;
}

/** An exported interface that extends `Actor`. */
export interface ActorDeclaration {
  /** Identifies the declaration. */
  readonly key: DeclarationKey;
  /** The name of the interface. */
  readonly name: string;
  /**
   * The id from the lock file: 32 bits, derived once from package and name, so that a rename keeps the id. 0 until the
   * lock file has one.
   */
  readonly id: number;
  /** The JSDoc comment without tags, or an empty text. */
  readonly doc: string;
  /** The actor interfaces that this one extends directly. */
  readonly extends: readonly DeclarationKey[];
  /** The arguments of the constructor, from `Actor<[...]>`. */
  readonly args: readonly Parameter[];
  /** The state that checkpoints contain, from `Actor<[...], State>`. Absent: there are no checkpoints of the actor. */
  readonly state?: Type;
  /** The endpoints; inherited ones come first. */
  readonly endpoints: readonly Endpoint[];
  /** The position of the declaration. */
  readonly at: Position;
}

/** An exported interface that extends `Task`: a function that runs on a worker process. */
export interface TaskDeclaration {
  /** Identifies the declaration. */
  readonly key: DeclarationKey;
  /** The name of the interface. */
  readonly name: string;
  /** The JSDoc comment without tags, or an empty text. */
  readonly doc: string;
  /** The arguments, from `Task<[...]>`. */
  readonly args: readonly Parameter[];
  /** The type of the result, from `Task<[...], Result>`. Absent for `void`. */
  readonly result?: Type;
  /** Whether the task can run again when its worker process has ended (`@idempotent`). */
  readonly idempotent: boolean;
  /** The position of the declaration. */
  readonly at: Position;
}

/** An endpoint of an actor: a method of its interface. */
export interface Endpoint {
  /** The name of the method. */
  readonly name: string;
  /** The name on the wire, from the `@name` tag. */
  readonly wireName?: string;
  /** The id from the lock file, unique in the actor. 0 until the lock file has one. */
  readonly id: number;
  /** The JSDoc comment without tags, or an empty text. */
  readonly doc: string;
  /** The parameters as declared. With `@respond`, the first one is the `Port<T>`, which callers do not pass. */
  readonly params: readonly Parameter[];
  /**
   * The type of the result, of one item of a stream, or of the messages of the port of `@respond`. Absent for `void`.
   */
  readonly result?: Type;
  /** Whether the endpoint returns `Stream<T>`. */
  readonly stream: boolean;
  /** The options from JSDoc tags. */
  readonly options: EndpointOptions;
  /** The JSDoc tags that all members can have. */
  readonly tags: Tags;
  /** The position of the endpoint. */
  readonly at: Position;
}

/** The options of an endpoint, from its JSDoc tags. */
export interface EndpointOptions {
  /** Whether messages are handled concurrently. `@concurrent 8` is 8, the largest number of messages at a time. */
  readonly concurrent: boolean | number;
  /** Whether calls can be repeated (`@idempotent`). */
  readonly idempotent: boolean;
  /** Whether the handler answers through a port (`@respond`). */
  readonly respond: boolean;
  /** The time limit of `@timeout 5s`, in milliseconds. */
  readonly timeout?: number;
  /** The operation of `@reduce`: sum, min, max, concat or count. */
  readonly reduce?: string;
  /** The settings of `@propagate`: answers can stay with the actors, as tensors of a mesh. */
  readonly propagate?: Propagate;
}

/** The settings of a `@propagate` tag. */
export interface Propagate {
  /**
   * The function that computes the shapes of answers: `name` is the export, `module` the module, relative to the schema
   * file. Without it, the answers tell their shapes.
   */
  readonly shapes?: { readonly module: string; readonly name: string };
}

/** A parameter of an endpoint, a constructor or a task. */
export interface Parameter {
  /** The name of the parameter. */
  readonly name: string;
  /** The id from the lock file. 0 until the lock file has one. */
  readonly id: number;
  /** The type of the parameter. */
  readonly type: Type;
  /** Whether the parameter can be left out. */
  readonly optional: boolean;
  /** The position of the parameter. */
  readonly at: Position;
}
