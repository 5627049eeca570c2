/** The environment of a task in a context that has one, too. */
import type { TaskEnvironment } from "../../../generated/tasks.js";

/** Returns the environment of a task, whose parts stand before those of the context. Variables of both are set. */
export function mergeEnvironments(context: TaskEnvironment, task: TaskEnvironment | undefined): TaskEnvironment {
  if (task === undefined) return context;
  return { ...context, ...task, env: { ...context.env, ...task.env } };
}
