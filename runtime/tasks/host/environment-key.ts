/** Decides which tasks can share worker processes. */
import type { TaskEnvironment } from "../../../generated/tasks.js";

const keys = new WeakMap<TaskEnvironment, string>();

/** Returns a text that is equal for equal environments. */
export function keyOfEnvironment(environment: TaskEnvironment): string {
  let key = keys.get(environment);
  if (key === undefined) {
    const { env, workingDirectory, packages } = environment;
    key = JSON.stringify([Object.entries(env).sort(), workingDirectory, packages?.manifest, packages?.lock]);
    keys.set(environment, key);
  }
  return key;
}

/** Returns whether an environment differs from that of the host. */
export function isEmptyEnvironment({ env, workingDirectory, packages }: TaskEnvironment): boolean {
  return Object.keys(env).length === 0 && workingDirectory === undefined && packages === undefined;
}
