/**
 * Gives each process of a mesh with the dimension `gpus` its own GPU, on the hosts of jobs: the scheduler has given the
 * host a list of devices.
 */
import type { GpuRange } from "../../../generated/host-agent.js";
import { type Extent, Point } from "../../shape/index.js";

/** The dimension of a mesh whose processes get one GPU each. */
const dimension = "gpus";

/** The variable by which CUDA selects devices. */
const cudaVariable = "CUDA_VISIBLE_DEVICES";

/**
 * The variables that list the devices of the host. The first one that is set counts: within a container of the
 * scheduler, devices have other numbers than on the machine.
 */
const listVariables = [cudaVariable, "SLURM_STEP_GPUS", "SLURM_JOB_GPUS"];

/**
 * The variable by which the container runtime gives devices to a container, such as a pod of Kubernetes. It can also say that the container has all
 * devices or none, and not list them.
 */
const containerVariable = "NVIDIA_VISIBLE_DEVICES";

/**
 * Returns the environment variable that selects the GPU of a process. It is empty if the host knows no devices, the mesh
 * has no dimension `gpus`, or the user selects devices.
 * @param env the environment of the host
 * @param asked the environment variables that the user has set for the process
 * @throws Error if the host has fewer devices than the mesh has processes per host
 */
export function gpuVariables(
  extent: Extent,
  rank: number,
  env: NodeJS.ProcessEnv,
  asked: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (!Object.hasOwn(extent, dimension) || asked[cudaVariable] !== undefined) return {};
  const listed = listedDevices(env);
  if (listed === undefined) return {};
  const { source, devices } = listed;
  const index = new Point(extent, rank).coordinates[dimension]!;
  const device = devices[index];
  if (device !== undefined) return { [cudaVariable]: device };
  throw new Error(
    `cannot start a process: the mesh has ${extent[dimension]} processes along "${dimension}", and this host has ` +
      `${devices.length} GPUs (${source}=${env[source]}); set ${cudaVariable} with the option env to share GPUs`,
  );
}

/**
 * Returns the environment variable that selects GPUs for a command. It is empty if the host knows no devices and the command
 * takes all there are.
 * @param range the devices that the command sees alone; undefined for all that the host has
 * @throws Error if the host has fewer devices
 */
export function gpusOfCommand(range: GpuRange | undefined, env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const { source, devices } = listedDevices(env) ?? {};
  if (range === undefined) return devices === undefined ? {} : { [cudaVariable]: devices.join() };
  const { first, count } = range;
  const found = devices?.slice(first, first + count) ?? [];
  if (found.length === count) return { [cudaVariable]: found.join() };
  const known =
    source === undefined
      ? `none of ${[...listVariables, containerVariable].join(", ")} lists any`
      : `${source}=${env[source]}`;
  throw new Error(
    `the command needs GPUs ${first} to ${first + count - 1} of this host, which has ${devices?.length ?? 0} (${known})`,
  );
}

/** Returns the devices that the environment lists, and the variable that lists them. */
function listedDevices(
  env: NodeJS.ProcessEnv,
): { readonly source: string; readonly devices: readonly string[] } | undefined {
  const source = listVariables.find((name) => (env[name] ?? "") !== "");
  if (source !== undefined) return { source, devices: env[source]!.split(",") };
  const given = env[containerVariable]?.split(",") ?? [];
  if (given.length > 0 && given.every((device) => /^(?:GPU|MIG)-/.test(device))) {
    return { source: containerVariable, devices: given };
  }
  // The numbers are those of the machine. In the container, CUDA counts from 0.
  const isNumbered = given.length > 0 && given.every((device) => /^\d+(?::\d+)?$/.test(device));
  return isNumbered ? { source: containerVariable, devices: given.map((_, index) => `${index}`) } : undefined;
}
