/** Descriptors of tasks that schemas declare. Generated code makes them; they are plain data. */
import type { Codec } from "./codec.js";

/** Describes a task that a schema declares: the codecs of its arguments and of its result. */
export interface TaskDescriptor {
  /** Identifies the task: `<package>/<schema path without extension>#<name>`. */
  readonly key: string;
  /** The name of the interface in the schema. */
  readonly name: string;
  /** A hash of 64 bits of the name, the arguments and the result. */
  readonly fingerprint: bigint;
  /** The names of the arguments in the schema. */
  readonly argNames: readonly string[];
  /** The smallest number of arguments. The largest is the number of `args`. */
  readonly minArgs: number;
  /**
   * The codec of each argument. An argument that is the result of another task with the same type is passed on without
   * being decoded: both codecs have the same layout. A message is never empty, so no bytes stand for an optional argument
   * that is absent or undefined.
   */
  readonly args: readonly Codec<unknown>[];
  /** The codec of the result. Undefined: the task returns nothing. */
  readonly result: Codec<unknown> | undefined;
  /** Whether the task can run again when its worker process has ended (`@idempotent`). */
  readonly idempotent: boolean;
}

/** The types of a task. No value of this type exists. */
export interface TaskTypes<Args extends unknown[], Result> {
  /** The arguments, as a tuple. */
  readonly args: Args;
  /** The result. */
  readonly result: Result;
}

/**
 * A task that a schema declares, with the types of its arguments and its result. The compiler generates one for each task:
 * `SquareTask` for `interface Square extends Task<[n: number], number>`.
 */
export interface TaskSchema<Args extends unknown[], Result> extends TaskDescriptor {
  /** Exists only in the type checker. */
  readonly types?: TaskTypes<Args, Result>;
}

/**
 * The arguments of a task, as a tuple. A function that takes a schema and its implementation infers the type of the schema
 * and derives these types from it. Otherwise the implementation could change them: `TaskSchema<Args, Result>` and
 * `(...args: Args) => Result` together would infer a union of both results.
 */
export type TaskArguments<Schema extends TaskDescriptor> =
  Schema extends TaskSchema<infer Args, unknown> ? Args : never;

/** The result of a task. */
export type TaskResult<Schema extends TaskDescriptor> =
  Schema extends TaskSchema<unknown[], infer Result> ? Result : never;

/** A task, as generated code writes it. Properties that are left out are false or absent. */
export interface TaskDefinition {
  /** Identifies the task: `<package>/<schema path without extension>#<name>`. */
  readonly key: string;
  /** The name of the interface in the schema. */
  readonly name: string;
  /** A hash of 64 bits of the name, the arguments and the result. */
  readonly fingerprint: bigint;
  /** The names of the arguments in the schema. */
  readonly argNames: readonly string[];
  /** The smallest number of arguments. */
  readonly minArgs: number;
  /** Returns the codec of each argument. Called on first use, since modules of codecs can import each other. */
  readonly args: () => readonly Codec<unknown>[];
  /** Returns the codec of the result. Called on first use; absent if the task returns nothing. */
  readonly result?: () => Codec<unknown>;
  /** Whether the task can run again when its worker process has ended. */
  readonly idempotent?: boolean;
}

/**
 * Makes the descriptor of a task from its definition. The types come from the declaration of the constant.
 *
 * @param task the task, as generated code writes it
 */
export function defineTask<Args extends unknown[], Result>(task: TaskDefinition): TaskSchema<Args, Result> {
  let args: readonly Codec<unknown>[] | undefined;
  return {
    key: task.key,
    name: task.name,
    fingerprint: task.fingerprint,
    argNames: task.argNames,
    minArgs: task.minArgs,
    get args() {
      args ??= task.args();
      return args;
    },
    get result() {
      return task.result?.();
    },
    idempotent: task.idempotent ?? false,
  };
}
