/** The config of `ClusterContext.runOnTpu`, and what it says when it has been checked. */
import { describeValue } from "../../../shared/text/describe-value.js";
import { checkOptionNames } from "../kernel.js";
import type { Task } from "../task-object.js";
import { type SliceType, sliceTypes } from "./slice-types.js";

/** The slices of `ClusterContext.runOnTpu`. */
export interface TpuRunConfig {
  /** The type of the slices, such as `"v4-32"`. */
  readonly type: string;
  /** The number of slices. Each one is a job of its own. Default: 1. */
  readonly slices?: number;
  /** The mesh of the jobs whose hosts are the virtual machines of a slice. Default: the only mesh. */
  readonly mesh?: string;
  /** The number of times that a slice is run again after a machine of it has gone, or is about to go. Default: 10,000. */
  readonly maxRetriesPreemption?: number;
  /**
   * The number of times that a slice is run again after the task has thrown, or its process has ended although the machine is
   * there. Default: 10.
   */
  readonly maxRetriesFailure?: number;
  /** Further types of slices by their names. They replace known types of the same names. */
  readonly types?: Readonly<Record<string, SliceType>>;
}

/** The place of one call in a run: the argument of the task. */
export interface TpuVm {
  /** The type of the slices. */
  readonly type: string;
  /** The number of the slice, from 0. */
  readonly slice: number;
  /** The number of slices of the run. */
  readonly slices: number;
  /** The number of the virtual machine in its slice, from 0. */
  readonly vm: number;
  /** The number of virtual machines of a slice. */
  readonly vms: number;
  /** The number of chips of the machine. */
  readonly chips: number;
}

/** A config with all defaults, and the size of its slices. */
export interface SlicePlan {
  readonly what: string;
  readonly type: string;
  readonly size: SliceType;
  readonly slices: number;
  readonly maxRetriesPreemption: number;
  readonly maxRetriesFailure: number;
}

/** @throws TypeError if the type is unknown or an option is malformed; RangeError if a number is out of range */
export function planSlices(task: Task<[at: TpuVm], unknown>, config: TpuRunConfig): SlicePlan {
  const name = "cannot run on slices";
  checkOptionNames(name, config, ["type", "slices", "mesh", "maxRetriesPreemption", "maxRetriesFailure", "types"]);
  const { type, slices = 1, maxRetriesPreemption = 10_000, maxRetriesFailure = 10, types = {} } = config;
  const what = `cannot run ${task.name} on ${describeValue(type)}`;
  const known: Readonly<Record<string, SliceType>> = { ...sliceTypes, ...types };
  const size = Object.hasOwn(known, type) ? known[type]! : undefined;
  if (size === undefined) {
    throw new TypeError(
      `${what}: expected one of the types ${Object.keys(known).join(", ")}; describe other types with the option types`,
    );
  }
  for (const [option, value, least] of [
    ["slices", slices, 1],
    ["maxRetriesPreemption", maxRetriesPreemption, 0],
    ["maxRetriesFailure", maxRetriesFailure, 0],
    [`vms of ${type}`, size.vms, 1],
    [`chipsPerVm of ${type}`, size.chipsPerVm, 0],
  ] as const) {
    if (Number.isSafeInteger(value) && value >= least) continue;
    throw new RangeError(
      `${what}: expected ${option} as a whole number of at least ${least}, got ${describeValue(value)}`,
    );
  }
  return { what, type, size, slices, maxRetriesPreemption, maxRetriesFailure };
}
