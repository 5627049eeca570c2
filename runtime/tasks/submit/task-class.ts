/** The class of a task: what it needs of a worker process. Tasks of one class share leases. */
import type { TaskEnvironment } from "../../../generated/tasks.js";
import { keyOfEnvironment } from "../host/environment-key.js";

/** The needs of tasks, which a worker process must meet. */
export interface TaskClass {
  /** The amounts of resources, `cpus` included. */
  readonly resources: Readonly<Record<string, number>>;
  readonly environment: TaskEnvironment | undefined;
  /** The bundle of a placement group, and its host. */
  readonly bundle: { readonly group: bigint; readonly index: number; readonly host: number } | undefined;
  /** The number of tasks after which a process ends; Infinity: it serves any number. */
  readonly maxCalls: number;
  /** The number of the host that has most of the arguments, which is asked first. Undefined: there is none. */
  readonly near?: number | undefined;
}

const nearClasses = new WeakMap<TaskClass, Map<number, TaskClass>>();

/** Returns the class of tasks whose arguments are on a host. The host of a bundle stays. */
export function classNear(taskClass: TaskClass, near: number | undefined): TaskClass {
  if (near === undefined || taskClass.bundle !== undefined) return taskClass;
  let classes = nearClasses.get(taskClass);
  if (classes === undefined) {
    classes = new Map();
    nearClasses.set(taskClass, classes);
  }
  const known = classes.get(near) ?? { ...taskClass, near };
  classes.set(near, known);
  return known;
}

const keys = new WeakMap<TaskClass, string>();

/** Returns a text that is equal for classes that can share leases. */
export function keyOfClass(taskClass: TaskClass): string {
  let key = keys.get(taskClass);
  if (key === undefined) {
    key = makeKey(taskClass);
    keys.set(taskClass, key);
  }
  return key;
}

function makeKey({ resources, environment, bundle, maxCalls, near }: TaskClass): string {
  const amounts = Object.keys(resources)
    .sort()
    .map((name) => `${name}=${resources[name]}`)
    .join(",");
  const place = bundle === undefined ? "" : `${bundle.group}/${bundle.index}`;
  return `${amounts};${environment === undefined ? "" : keyOfEnvironment(environment)};${place};${maxCalls};${near ?? ""}`;
}
