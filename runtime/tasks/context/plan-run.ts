/** Checks the options of one task or actor, and makes a class of tasks of them. */

import { describeValue } from "../../../shared/text/describe-value.js";
import { runtimeEnvOf, taskEnvironmentOf } from "../environment/index.js";
import { checkResources } from "../host/resources.js";
import { checkOptionNames } from "../kernel.js";
import { PlacementGroup } from "../placement/placement-group.js";
import type { TaskClass } from "../submit/task-class.js";
import type { RunOptions } from "./run-options.js";

/** Options that have been checked. */
export interface RunPlan {
  /** Returns the class of the next task, once `ready` has resolved. */
  readonly nextClass: () => TaskClass;
  /** Resolves when the versions of packages are known. Undefined: there are none. */
  readonly ready: Promise<void> | undefined;
  readonly name: string | undefined;
  readonly retries: number | undefined;
}

const names: readonly (keyof RunOptions)[] = ["resources", "name", "environment", "maxCalls", "retries", "placement"];

/**
 * @throws TypeError if an option is unknown or has a wrong type; RangeError if a number is out of range
 */
export function planRun(options: RunOptions, what: string): RunPlan {
  checkOptionNames(what, options, names);
  const { resources = { cpus: 1 }, name, environment, maxCalls, retries, placement } = options;
  if (name !== undefined && (typeof name !== "string" || name === "")) {
    throw new TypeError(`${what}: expected name to be a text, got ${describeValue(name)}`);
  }
  checkCount(maxCalls, "maxCalls", 1, what);
  checkCount(retries, "retries", 0, what);
  if (placement !== undefined && !(placement instanceof PlacementGroup)) {
    throw new TypeError(`${what}: expected placement to be a placement group, got ${describeValue(placement)}`);
  }
  let anywhere: TaskClass = {
    resources: checkResources(resources, what),
    environment: undefined,
    bundle: undefined,
    maxCalls: maxCalls ?? Number.POSITIVE_INFINITY,
  };
  const ready =
    environment &&
    taskEnvironmentOf(runtimeEnvOf(environment)).then((prepared) => {
      anywhere = { ...anywhere, environment: prepared };
    });
  // Each task that needs it reports the error.
  ready?.catch(() => {});
  const nextClass = placement === undefined ? () => anywhere : classesIn(placement, () => anywhere, what);
  return { nextClass, ready, name, retries };
}

/** Returns a function that returns the class of tasks in each bundle of a group by turns. */
function classesIn(placement: PlacementGroup, anywhere: () => TaskClass, what: string): () => TaskClass {
  const classes = new Map<number, TaskClass>();
  return () => {
    const bundle = placement.nextBundle(what);
    const known = classes.get(bundle.index) ?? { ...anywhere(), bundle };
    classes.set(bundle.index, known);
    return known;
  };
}

function checkCount(given: unknown, option: string, least: number, what: string): void {
  if (given === undefined || (Number.isSafeInteger(given) && (given as number) >= least)) return;
  const expected = `${what}: expected ${option} to be an integer from ${least}, got ${describeValue(given)}`;
  throw typeof given === "number" ? new RangeError(expected) : new TypeError(expected);
}
