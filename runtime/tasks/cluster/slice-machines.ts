/** The machines of one slice of accelerators: the hosts of a job, with a context on them. */

import { describeValue } from "../../../shared/text/describe-value.js";
import type { Job, JobEventKind } from "../../job/index.js";
import { JobContext } from "../context/job-context.js";
import type { SlicePlan } from "./slice-plan.js";

export interface SliceMachines {
  readonly context: JobContext;
  /** Resolves with true as soon as it is known that a machine has gone or will go soon, and with false a while later otherwise. */
  isPreempted(): Promise<boolean>;
  /** Ends the context, and gives the machines back. */
  close(): Promise<void>;
}

/** The time in ms for which a job may report that a machine has gone after a process of it has. */
const REPORT_MS = 2000;

const losses: ReadonlySet<JobEventKind> = new Set(["host-lost", "warned", "ended"]);

/**
 * Returns the mesh whose hosts are the machines of a slice.
 *
 * @param wanted the option `mesh`
 * @throws TypeError if it is missing, or has another number of hosts
 */
export function meshOfMachines({ what, type, size }: SlicePlan, meshes: object, wanted: string | undefined): string {
  const names = Object.keys(meshes);
  const mesh = wanted ?? (names.length === 1 ? names[0]! : undefined);
  if (mesh === undefined || !names.includes(mesh)) {
    throw new TypeError(
      `${what}: expected the option mesh as one of the meshes ${names.join(", ")}, got ${describeValue(wanted)}`,
    );
  }
  const { hosts } = (meshes as Readonly<Record<string, { readonly hosts: number }>>)[mesh]!;
  if (hosts === size.vms) return mesh;
  throw new TypeError(
    `${what}: expected mesh ${mesh} with ${size.vms} hosts, one for each virtual machine of a slice of type ${type}, got ${hosts}`,
  );
}

/**
 * Starts a job, and opens a context on one of its meshes.
 *
 * @param type the resource of which each host offers 1
 */
export async function openMachines(job: Job<string>, mesh: string, type: string): Promise<SliceMachines> {
  let context: JobContext;
  try {
    const meshes = await job.state();
    context = await JobContext.open({ hosts: meshes[mesh]!, procs: 1, resources: { [type]: 1 } });
  } catch (error) {
    await job.kill();
    throw error;
  }
  const preempted = untilLoss(job);
  return {
    context,
    isPreempted: () => Promise.race([preempted, later()]),
    async close() {
      await context.close();
      await job.kill();
    },
  };
}

async function untilLoss(job: Job<string>): Promise<boolean> {
  for await (const { kind } of job.watch()) if (losses.has(kind)) return true;
  return true;
}

function later(): Promise<false> {
  return new Promise((resolve) => setTimeout(resolve, REPORT_MS, false));
}
