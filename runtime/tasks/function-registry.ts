/** The functions of tasks that this process has loaded, and how a worker finds the function of an order. */

import { hostname } from "node:os";
import type { TaskFunction } from "../../generated/tasks.js";
import { errorMessage } from "../../shared/text/error-message.js";
import { importModule } from "./kernel.js";
import type { Task } from "./task-object.js";

/** A task with its function. */
export interface TaskImplementation {
  readonly task: Task;
  readonly run: (...args: unknown[]) => unknown;
}

/** By `<module>#<name>`. */
const exported = new Map<string, TaskImplementation>();
/** Functions that only this process has, by their numbers. Tasks that nobody refers to any more are dropped. */
const local = new Map<string, WeakRef<Task>>();
const implementations = new WeakMap<Task, TaskImplementation>();
const numbers = new WeakMap<Task, string>();
let lastNumber = 0;

/** Remembers the function of a task, and returns the task. A later task with the same module and name replaces it. */
export function registerFunction(task: Task, run: (...args: never[]) => unknown): Task {
  const implementation = { task, run: run as (...args: unknown[]) => unknown };
  implementations.set(task, implementation);
  if (task.module !== "") {
    exported.set(`${task.module}#${task.name}`, implementation);
  } else {
    const number = `${++lastNumber}`;
    numbers.set(task, number);
    local.set(number, new WeakRef(task));
  }
  return task;
}

/** Returns how an order names the function of a task. */
export function functionOf(task: Task): TaskFunction {
  const { module, name, schema } = task;
  if (module === "") return { module, name: numbers.get(task)! };
  return schema === undefined ? { module, name } : { module, name, schema: schema.fingerprint };
}

/**
 * Finds the function of an order. Imports its module if that has not been loaded. Rejects if the module cannot be loaded, does
 * not define the task, or defines it with another schema.
 */
export function findFunction(wanted: TaskFunction): TaskImplementation | Promise<TaskImplementation> {
  const { module, name } = wanted;
  if (module === "") {
    const task = local.get(name)?.deref();
    const found = task && implementations.get(task);
    if (found !== undefined) return found;
    throw new Error(
      'cannot run a closure: only a context whose isolation is "inline" has the functions of the program; ' +
        'export the task from a module and define it by task(import.meta.url, "<name>", …)',
    );
  }
  const found = exported.get(`${module}#${name}`);
  return found === undefined ? importFunction(wanted) : checkSchema(found, wanted);
}

async function importFunction(wanted: TaskFunction): Promise<TaskImplementation> {
  const { module, name } = wanted;
  let exports: Record<string, unknown>;
  try {
    exports = (await importModule(module)) as Record<string, unknown>;
  } catch (cause) {
    const hint = isMissing(cause) ? "; each host of a context needs the modules of its tasks, at the same paths" : "";
    throw new Error(
      `cannot run task ${name}: its module ${module} cannot be loaded on host ${hostname()}: ${errorMessage(cause)}${hint}`,
      { cause },
    );
  }
  const found = exported.get(`${module}#${name}`);
  if (found === undefined) {
    const names = Object.keys(exports).join(", ");
    throw new Error(
      `cannot run task ${name}: module ${module} defines no task of this name; it exports ${names || "nothing"}`,
    );
  }
  return checkSchema(found, wanted);
}

/** Returns whether an import has failed because a file does not exist. */
function isMissing(cause: unknown): boolean {
  return ["ERR_MODULE_NOT_FOUND", "ENOENT"].includes((cause as { code?: string }).code ?? "");
}

function checkSchema(found: TaskImplementation, { module, name, schema }: TaskFunction): TaskImplementation {
  if (found.task.schema?.fingerprint === schema) return found;
  const describe = (fingerprint: bigint | undefined) =>
    fingerprint === undefined ? "takes plain values" : `has the schema 0x${fingerprint.toString(16)}`;
  throw new Error(
    `cannot run task ${name}: in the process that starts it, it ${describe(schema)}, and in ${module} on this host, ` +
      `it ${describe(found.task.schema?.fingerprint)}; run both from the same build`,
  );
}
