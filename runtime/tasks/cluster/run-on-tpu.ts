/** `ClusterContext.runOnTpu`: calls a task once on each virtual machine of slices, which succeed or are repeated as a whole. */
import type { JobContext } from "../context/job-context.js";
import { ObjectLostError, TaskError, WorkerLostError } from "../errors.js";
import type { ObjectRef } from "../refs/object-ref.js";
import type { Task } from "../task-object.js";
import type { SliceMachines } from "./slice-machines.js";
import type { SlicePlan, TpuVm } from "./slice-plan.js";

/** The processes of the last attempt may still end. The longest time of a timer in ms. */
const longestWaitMs = 2 ** 31 - 1;

/**
 * Runs a task on slices, each on machines of its own.
 *
 * @param plan the checked config
 * @param open starts the machines of a slice. It is called again when they have gone
 */
export async function runOnSlices<R>(
  task: Task<[at: TpuVm], R>,
  plan: SlicePlan,
  open: () => Promise<SliceMachines>,
): Promise<R[][]> {
  const leaving = new AbortController();
  const runs = Array.from({ length: plan.slices }, (_, slice) => runSlice(task, plan, slice, open, leaving.signal));
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
  task: Task<[at: TpuVm], R>,
  plan: SlicePlan,
  slice: number,
  open: () => Promise<SliceMachines>,
  signal: AbortSignal,
): Promise<R[]> {
  let failures = 0;
  let preemptions = 0;
  let machines = await open();
  try {
    for (;;) {
      try {
        return await trySlice(machines.context, task, plan, slice, signal);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (!(error instanceof TaskError) && (await machines.isPreempted())) {
          if (++preemptions > plan.maxRetriesPreemption) throw error;
          await machines.close();
          machines = await open();
        } else if (isFailure(error)) {
          if (++failures > plan.maxRetriesFailure) throw error;
        } else {
          throw error;
        }
      }
    }
  } finally {
    await machines.close();
  }
}

/** Returns whether the task has thrown, or its process has ended although its machine is there. */
function isFailure(error: unknown): boolean {
  return error instanceof TaskError || error instanceof WorkerLostError || error instanceof ObjectLostError;
}

async function trySlice<R>(
  context: JobContext,
  task: Task<[at: TpuVm], R>,
  { type, size, slices }: SlicePlan,
  slice: number,
  signal: AbortSignal,
): Promise<R[]> {
  const { vms, chipsPerVm } = size;
  const resources = { [type]: 1 };
  const bundles = Array.from({ length: vms }, () => resources);
  const group = await context.placementGroup(bundles, { strategy: "spread", timeout: longestWaitMs });
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
    // A machine that has gone does not answer.
    await group.remove().catch(() => {});
  }
}
