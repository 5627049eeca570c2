/** The options of one task. */
import type { RuntimeEnv, RuntimeEnvOptions } from "../environment/index.js";
import type { Resources } from "../host/resources.js";
import type { PlacementGroup } from "../placement/placement-group.js";

/** The options of `JobContext.with` for tasks. */
export interface RunOptions {
  /** The resources of its host that the task needs. Default: one processor. */
  readonly resources?: Resources;
  /** The name in reports, instead of that of the function. */
  readonly name?: string;
  /**
   * Environment variables, working directory and packages of the worker process. What it does not set is that of the context.
   */
  readonly environment?: RuntimeEnv | RuntimeEnvOptions;
  /** The number of tasks after which a worker process is replaced, from 1. Default: none. */
  readonly maxCalls?: number;
  /**
   * The number of times that a task runs again after its worker process has ended, from 0. Default: 3 for tasks that are
   * idempotent; others cannot have it.
   */
  readonly retries?: number;
  /** A placement group, or a slice of one, whose reserved resources the tasks use. Default: those that are not reserved. */
  readonly placement?: PlacementGroup;
}
