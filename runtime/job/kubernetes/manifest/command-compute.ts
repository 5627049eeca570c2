/** Describes the resources and the image of the pod of a command. */
import type { ComputeSpec } from "../compute/compute-options.js";
import { isProvisioned, type KubernetesSpec } from "../kubernetes-spec.js";

/**
 * The time in ms after which the pod ends if nobody brings the program. While its driver brings it, the time does not count.
 */
const waitMs = 120_000;

/**
 * Returns the compute of the pod: that of the option `commandPod`, or that of the first mesh without its processors, memory and GPUs, so that
 * the program finds the same packages and volumes as the hosts.
 */
export function commandCompute({ meshes, commandPod }: KubernetesSpec): ComputeSpec {
  if (commandPod !== null) return { ...commandPod, idle: waitMs };
  const first = Object.values(meshes).find(isProvisioned)?.compute ?? {};
  const { cpus: _, memory: _memory, gpus: _gpus, sharedMemory: _shared, queue: _queue, ...kept } = first;
  return { ...kept, idle: waitMs };
}
