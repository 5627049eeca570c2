/** The options of `JobContext.open`. */
import { availableParallelism } from "node:os";
import type { ObjectLimits } from "../../../generated/tasks.js";
import { describeValue } from "../../../shared/text/describe-value.js";
import { HostMesh, type Isolation, ProcMesh } from "../../index.js";
import { type RuntimeEnv, type RuntimeEnvOptions, runtimeEnvOf } from "../environment/index.js";
import { checkResources, type Resources } from "../host/resources.js";
import { checkOptionNames } from "../kernel.js";
import { type ObjectOptions, planObjects } from "../objects/object-limits.js";

/** The options of `JobContext.open`. */
export interface JobContextOptions {
  /** The hosts of the worker processes: attached hosts, or those of a job. Default: this machine. */
  readonly hosts?: HostMesh;
  /**
   * The number of worker processes of each host, or a mesh of processes in which the tasks run, and which the program
   * stops itself. Default: the number of processors of this machine.
   */
  readonly procs?: number | ProcMesh;
  /**
   * The resources that each host offers to tasks and actors: `cpus`, `gpus`, `memory` in bytes, and others by any name. Default: as many
   * processors as worker processes.
   */
  readonly resources?: Resources;
  /**
   * The place where tasks run on this machine: in processes, in threads, or on the event loop of the program, where they can be closures.
   * Attached hosts have processes. Default: `"process"`.
   */
  readonly isolation?: Isolation;
  /** Environment variables, working directory and packages of worker processes. */
  readonly environment?: RuntimeEnv | RuntimeEnvOptions;
  /** The time in milliseconds after which a task that was cancelled is ended with its process. Default: 2,000. */
  readonly grace?: number;
  /** The memory and disk that results and stored values of 64 KiB and more use on each host. */
  readonly objects?: ObjectOptions;
}

/** Options that have been checked. */
export interface OpenPlan {
  readonly hosts: HostMesh | undefined;
  /** The number of worker processes of each host; 0 if the program has a mesh of processes. */
  readonly procs: number;
  readonly mesh: ProcMesh | undefined;
  readonly resources: Readonly<Record<string, number>>;
  readonly isolation: Isolation;
  readonly environment: RuntimeEnv;
  readonly grace: number;
  readonly objects: ObjectLimits;
}

const what = "cannot open a JobContext";
const names: readonly (keyof JobContextOptions)[] = [
  "hosts",
  "procs",
  "resources",
  "isolation",
  "environment",
  "grace",
  "objects",
];
const isolations: readonly Isolation[] = ["process", "thread", "inline"];

/** @throws TypeError or RangeError for an option that is malformed */
export function planOpen(options: JobContextOptions): OpenPlan {
  checkOptionNames(what, options, names);
  const { hosts, procs = availableParallelism(), isolation = "process", environment = {}, grace = 2000 } = options;
  if (hosts !== undefined && !(hosts instanceof HostMesh)) {
    throw new TypeError(`${what}: expected hosts to be a mesh of hosts, got ${describeValue(hosts)}`);
  }
  const mesh = procs instanceof ProcMesh ? procs : undefined;
  if (mesh !== undefined && hosts !== undefined) {
    throw new TypeError(`${what}: a mesh of processes has its hosts already: leave hosts out`);
  }
  if (mesh === undefined && !(Number.isSafeInteger(procs) && (procs as number) >= 1)) {
    const text = `${what}: expected procs to be a number from 1, or a mesh of processes, got ${describeValue(procs)}`;
    throw typeof procs === "number" ? new RangeError(text) : new TypeError(text);
  }
  if (!isolations.includes(isolation)) {
    throw new TypeError(`${what}: expected isolation "process", "thread" or "inline", got ${describeValue(isolation)}`);
  }
  if (typeof grace !== "number" || !(grace >= 0) || grace > 0x7fff_ffff) {
    throw new RangeError(`${what}: expected grace in milliseconds, from 0 to 2^31 - 1, got ${describeValue(grace)}`);
  }
  const count = mesh === undefined ? (procs as number) : mesh.size;
  const resources = checkResources({ cpus: count, ...options.resources }, what);
  return {
    hosts,
    procs: mesh === undefined ? count : 0,
    mesh,
    resources,
    isolation,
    environment: runtimeEnvOf(environment),
    grace,
    objects: planObjects(options.objects, what),
  };
}
