/** `Task`: a function that can run on worker processes, as a value. */
import type { TaskDescriptor } from "../codegen/v1/index.js";

/** The options of `task`. */
export interface TaskFunctionOptions {
  /**
   * Whether the function can run several times for one `run` without harm. Such a task is run again, at most three times,
   * when its worker process ends. Default: what the schema says; false without a schema.
   */
  readonly idempotent?: boolean;
}

declare const types: unique symbol;

/** A function that can run on worker processes. `task` makes it. */
export class Task<A extends unknown[] = unknown[], R = unknown> {
  /**
   * Exists only in the type checker.
   *
   * @hidden
   */
  declare readonly [types]?: { readonly args: A; readonly result: R };
  /** The name of the function in reports. */
  readonly name: string;
  /** The URL of the module that exports the function; empty for a function that only this process has. */
  readonly module: string;
  /** Whether the function can run several times for one `run` without harm. */
  readonly idempotent: boolean;
  /** The declaration in a schema. Without it, arguments and result are plain values. */
  readonly schema: TaskDescriptor | undefined;

  /**
   * Called by `task`.
   *
   * @hidden
   */
  constructor(
    module: string,
    name: string,
    schema: TaskDescriptor | undefined,
    { idempotent = schema?.idempotent ?? false }: TaskFunctionOptions,
  ) {
    this.module = module;
    this.name = name;
    this.schema = schema;
    this.idempotent = idempotent;
  }

  /** Returns the name as text. */
  toString(): string {
    return `Task ${this.name}`;
  }
}
