/** `runOnTpu`: calls a task once on each virtual machine of slices of accelerators, which succeed or are repeated as a whole. */
import { describeValue } from "../../../shared/text/describe-value.js";
import type { JobContext } from "../context/job-context.js";
import { ObjectLostError, ResourceUnavailableError, TaskError, WorkerLostError } from "../errors.js";
import { checkOptionNames } from "../kernel.js";
import type { ObjectRef } from "../refs/object-ref.js";
import type { Task } from "../task-object.js";
import { type SliceType, sliceTypes } from "./slice-types.js";

/** What {@link runOnTpu} runs on. */
export interface TpuRunConfig {
  /** The type of the slices, such as `"v4-32"`. Hosts offer it as a resource of this name: 1 for each virtual machine. */
  readonly type: string;
  /** The number of slices. Default: 1. */
  readonly slices?: number;
  /** The number of times that a slice is run again after a machine or a process of it has gone. Default: 10,000. */
  readonly maxRetriesPreemption?: number;
  /** The number of times that a slice is run again after the task has thrown. Default: 10. */
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
interface Plan {
  readonly what: string;
  readonly type: string;
  readonly size: SliceType;
  readonly slices: number;
  readonly maxRetriesPreemption: number;
  readonly maxRetriesFailure: number;
}

/** A slice waits as long as it takes for the machines of another one. The longest time of a timer in ms. */
const longestWaitMs = 2 ** 31 - 1;

/**
 * Calls a task once on each virtual machine of one or several slices of TPUs. The machines of a slice are reserved together. If
 * a call fails, its slice is run again as a whole, on machines that are there then; other slices go on.
 *
 * @example
 * ```ts
 * import { JobContext, runOnTpu, task, type TpuVm } from "viceroy/tasks";
 *
 * export const train = task(import.meta.url, "train", (at: TpuVm) => `machine ${at.vm} of slice ${at.slice}`);
 *
 * // This machine stands for eight machines of the type.
 * await using context = await JobContext.open({ procs: 8, resources: { "v4-32": 8 } });
 * const [first, second] = await runOnTpu(context, train, { type: "v4-32", slices: 2 });
 * console.log(first![3], second![0]); // machine 3 of slice 0 machine 0 of slice 1
 * ```
 *
 * @param context a context whose hosts offer the type as a resource
 * @param task the task, whose argument is the place of the call
 * @param config the type and the number of the slices, and the limits of repetitions
 * @returns the results by slice and virtual machine
 * @throws {TypeError} as a rejection, when the type is unknown or an option is malformed
 * @throws {RangeError} as a rejection, when a number is out of range
 * @throws {ResourceUnavailableError} as a rejection, when the hosts do not have the machines of a slice
 * @throws {TaskError} as a rejection, when the task has thrown too often
 * @throws {WorkerLostError} as a rejection, when machines or processes have gone too often
 */
export async function runOnTpu<R>(
  context: JobContext,
  task: Task<[at: TpuVm], R>,
  config: TpuRunConfig,
): Promise<R[][]> {
  const plan = planOf(task, config);
  const leaving = new AbortController();
  const runs = Array.from({ length: plan.slices }, (_, slice) => runSlice(context, task, plan, slice, leaving.signal));
  try {
    return await Promise.all(runs);
  } catch (error) {
    leaving.abort(error);
    await Promise.allSettled(runs);
    throw error;
  }
}

/** Runs one slice until it succeeds, or has failed too often. */
async function runSlice<R>(
  context: JobContext,
  task: Task<[at: TpuVm], R>,
  plan: Plan,
  slice: number,
  signal: AbortSignal,
): Promise<R[]> {
  let failures = 0;
  let preemptions = 0;
  for (;;) {
    try {
      return await trySlice(context, task, plan, slice, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof TaskError) {
        if (++failures > plan.maxRetriesFailure) throw error;
      } else if (error instanceof WorkerLostError || error instanceof ObjectLostError) {
        if (++preemptions > plan.maxRetriesPreemption) throw error;
      } else throw error;
    }
  }
}

async function trySlice<R>(
  context: JobContext,
  task: Task<[at: TpuVm], R>,
  { what, type, size, slices }: Plan,
  slice: number,
  signal: AbortSignal,
): Promise<R[]> {
  const { vms, chipsPerVm } = size;
  const resources = { [type]: 1 };
  const bundles = Array.from({ length: vms }, () => resources);
  const group = await context
    .placementGroup(bundles, { strategy: "spread", timeout: longestWaitMs })
    .catch((cause: unknown) => {
      if (!(cause instanceof ResourceUnavailableError)) throw cause;
      throw new ResourceUnavailableError(
        `${what}: a slice has ${vms} virtual machines, and the hosts of the context do not offer as many; open the context ` +
          `with resources: { "${type}": 1 }, so that each host is one: ${cause.message}`,
        { cause },
      );
    });
  const refs: ObjectRef<R>[] = [];
  const cancelAll = () => {
    for (const ref of refs) context.cancel(ref);
  };
  signal.addEventListener("abort", cancelAll, { once: true });
  try {
    signal.throwIfAborted();
    for (let vm = 0; vm < vms; vm++) {
      const placement = group.slice({ bundles: vm });
      refs.push(context.with({ resources, placement }).run(task, { type, slice, slices, vm, vms, chips: chipsPerVm }));
    }
    return (await context.get(refs)) as R[];
  } catch (error) {
    // What is left of the slice would wait for the machine that has failed.
    cancelAll();
    throw error;
  } finally {
    signal.removeEventListener("abort", cancelAll);
    await group.remove();
  }
}

function planOf(task: Task<[at: TpuVm], unknown>, config: TpuRunConfig): Plan {
  const name = "cannot run on slices";
  checkOptionNames(name, config, ["type", "slices", "maxRetriesPreemption", "maxRetriesFailure", "types"]);
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
