/** `task`: defines a function that can run on worker processes, for plain values or for the types of a schema. */
import { describeValue } from "../../shared/text/describe-value.js";
import type { TaskArguments, TaskDescriptor, TaskResult } from "../codegen/v1/index.js";
import { registerFunction } from "./function-registry.js";
import { Task, type TaskFunctionOptions } from "./task-object.js";

/**
 * Defines a task for plain values: those of JSON, and undefined, bigint, typed arrays, Date, Map, Set and references to results.
 * Worker processes import the module when the task first runs there, so that the module must have the same path everywhere,
 * and must export the task under its name.
 *
 * @example
 * ```ts
 * import { task } from "viceroy/tasks";
 *
 * export const square = task(import.meta.url, "square", async (n: number) => n * n);
 * ```
 *
 * @param module `import.meta.url` of the module that exports the task
 * @param name the name of the export
 * @param run the function
 * @param options whether the function can run again
 * @throws {TypeError} when an argument has a wrong type
 */
export function task<A extends unknown[], R>(
  module: string,
  name: string,
  run: (...args: A) => R,
  options?: TaskFunctionOptions,
): Task<A, Awaited<R>>;
/**
 * Defines a task that a schema declares. Its arguments and its result are encoded by generated code.
 *
 * @example
 * ```ts
 * import { task } from "viceroy/tasks";
 * import type { TaskSchema } from "viceroy/codegen/v1";
 *
 * // Generated from: export interface Square extends Task<[n: number], number> {}
 * declare const SquareTask: TaskSchema<[n: number], number>;
 * export const square = task(import.meta.url, "square", SquareTask, (n) => n * n);
 * ```
 *
 * @param module `import.meta.url` of the module that exports the task
 * @param name the name of the export
 * @param schema what the compiler has generated from the declaration
 * @param run the function
 * @param options whether the function can run again
 * @throws {TypeError} when an argument has a wrong type
 */
export function task<S extends TaskDescriptor>(
  module: string,
  name: string,
  schema: S,
  run: (...args: TaskArguments<S>) => TaskResult<S> | Promise<TaskResult<S>>,
  options?: TaskFunctionOptions,
): Task<TaskArguments<S>, TaskResult<S>>;
/**
 * Defines a task of this process alone, which can be a closure. It runs in contexts whose isolation is `"inline"`.
 *
 * @param run the function
 * @param options whether the function can run again
 * @throws {TypeError} when `run` is not a function
 */
export function task<A extends unknown[], R>(
  run: (...args: A) => R,
  options?: TaskFunctionOptions,
): Task<A, Awaited<R>>;
export function task(...given: unknown[]): Task<unknown[]> {
  if (typeof given[0] === "function") {
    const [run, options] = given as [(...args: never[]) => unknown, TaskFunctionOptions | undefined];
    return registerFunction(new Task<unknown[]>("", run.name || "closure", undefined, checkOptions(options)), run);
  }
  const [module, name, third, fourth] = given;
  if (typeof module !== "string" || module === "" || typeof name !== "string" || name === "") {
    throw new TypeError(
      `cannot define a task: expected import.meta.url and the name of the export, got ${describeValue(module)} and ${describeValue(name)}`,
    );
  }
  const schema = typeof third === "function" ? undefined : (third as TaskDescriptor);
  const [run, options] = schema === undefined ? [third, fourth] : [fourth, given[4]];
  if (typeof run !== "function") {
    throw new TypeError(`cannot define task ${name}: expected a function, got ${describeValue(run)}`);
  }
  const made = new Task<unknown[]>(module, name, schema, checkOptions(options as TaskFunctionOptions | undefined));
  return registerFunction(made, run as (...args: never[]) => unknown);
}

function checkOptions(options: TaskFunctionOptions | undefined): TaskFunctionOptions {
  if (options === undefined) return {};
  const { idempotent } = options;
  if (idempotent !== undefined && typeof idempotent !== "boolean") {
    throw new TypeError(
      `cannot define a task: expected idempotent to be true or false, got ${describeValue(idempotent)}`,
    );
  }
  return options;
}
