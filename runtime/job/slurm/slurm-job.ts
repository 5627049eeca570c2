/** `SlurmJob`: the hosts of a job are nodes of a cluster that Slurm manages. */
import { checkPort, optionError } from "../check-option.js";
import { type Duration, durationMs } from "../duration.js";
import { Job } from "../job.js";
import { checkJobOptions, type JobOptions } from "../job-options.js";
import type { MeshSpec } from "../mesh-spec.js";
import type { NodeReachChoice } from "../reach/node-reach.js";
import { checkRecord, type JobRecord } from "../record/job-record.js";
import { SlurmProvider } from "./slurm-provider.js";
import { checkArgument, checkSlurmMeshes, type SlurmSpec } from "./slurm-spec.js";

/** The options of {@link SlurmJob}. */
export interface SlurmJobOptions<M extends string> extends JobOptions {
  /** The meshes by name: each host is a node. */
  readonly meshes: Readonly<Record<M, MeshSpec>>;
  /**
   * Whether all meshes are one job of Slurm, which gets all its nodes together, or each mesh is a job of its own.
   * Default: `"one"`.
   */
  readonly allocation?: "one" | "each";
  /** The partition. Default: that of the cluster. */
  readonly partition?: string;
  /** The account that is charged. */
  readonly account?: string;
  /** The quality of service. */
  readonly qos?: string;
  /** Features that the nodes must have, in Slurm's notation. */
  readonly constraint?: string;
  /** Whether no other job may use the nodes. Default: true. */
  readonly exclusive?: boolean;
  /** The time limit of the job. Slurm counts whole minutes. Default: that of the partition. */
  readonly timeLimit?: Duration;
  /** Further arguments of `sbatch`, such as `["--reservation=tests"]`. */
  readonly arguments?: readonly string[];
  /** The login node of the cluster as `ssh` knows it, if the commands of Slurm do not run on this machine. */
  readonly login?: string;
  /**
   * The way by which this program reaches the nodes: `"direct"` uses their names, `"ssh"` the login node, which `ssh` asks to connect to one
   * node, and that one to the others. Default: `"direct"` if the network leads to the first node, or there is no `login`, and otherwise
   * `"ssh"`.
   */
  readonly reach?: "direct" | "ssh";
  /**
   * The port at which hosts listen. On the first node, the next port is that of the process that signs certificates.
   * Default: ports from 20,000 to 31,999 that follow from the id of the job.
   */
  readonly port?: number;
}

const lastPort = 65_535;

const ownOptions = [
  "meshes",
  "allocation",
  "partition",
  "account",
  "qos",
  "constraint",
  "exclusive",
  "timeLimit",
  "arguments",
  "login",
  "reach",
  "port",
] satisfies readonly (keyof SlurmJobOptions<string>)[];

/**
 * A job whose hosts are nodes of a Slurm cluster.
 *
 * @example
 * ```ts
 * import { SlurmJob } from "viceroy/job";
 *
 * await using job = new SlurmJob({
 *   meshes: { trainers: { hosts: 4, gpus: 8 }, loaders: { hosts: 1 } },
 *   partition: "gpu",
 *   timeLimit: "4h",
 * });
 * const { trainers } = await job.state();
 * const procs = trainers.spawnProcs({ gpus: 8 });
 * ```
 */
export class SlurmJob<M extends string> extends Job<M> {
  /**
   * Describes a job. Nothing is submitted.
   *
   * @param options the meshes, and what Slurm is asked for
   * @param known used by {@link fromJSON}
   * @throws {TypeError} when an option is unknown or malformed
   * @throws {RangeError} when a number is out of range
   */
  constructor(options: SlurmJobOptions<M>, known?: JobRecord) {
    const checked = checkJobOptions(options, ownOptions);
    checkSlurmMeshes(options.meshes);
    const { setup, node, tls } = checked;
    if (tls !== null && options.port === lastPort) {
      const text = `expected port from 1 to ${lastPort - 1}, because certificates are signed at the next one, got ${lastPort}`;
      throw new RangeError(`cannot make a job: ${text}`);
    }
    super(new SlurmProvider({ ...slurmSpec(options), setup, node, tls }, reachOf(options)), checked, known);
  }

  /**
   * Makes a job of the record of one that another program has submitted.
   *
   * @param record what `toJSON` has returned
   * @throws {TypeError} when the record is malformed, or of another class
   */
  static fromJSON(record: JobRecord): SlurmJob<string> {
    return slurmJobOf(record);
  }
}

function slurmJobOf(record: JobRecord): SlurmJob<string> {
  checkRecord(record, "slurm");
  const { timeLimit, tls, ...spec } = record.spec as SlurmSpec;
  const given = Object.entries(spec).filter(([, value]) => value !== null);
  const options = { name: record.name, ...Object.fromEntries(given) } as unknown as SlurmJobOptions<string>;
  return new SlurmJob(
    { ...options, tls: tls ?? false, ...(timeLimit === null ? {} : { timeLimit: timeLimit * 60_000 }) },
    record,
  );
}

/** Returns the way to the nodes, which is no part of the specification: programs at other places can use the same run. */
function reachOf({ reach, login }: SlurmJobOptions<string>): NodeReachChoice {
  if (reach !== undefined && reach !== "direct" && reach !== "ssh")
    throw optionError('reach as "direct" or "ssh"', reach);
  if (reach === "ssh" && login === undefined) {
    throw new TypeError(
      'cannot make a job: reach "ssh" goes through the login node, and there is none; name it with the option login',
    );
  }
  return reach ?? null;
}

function slurmSpec(options: SlurmJobOptions<string>): Omit<SlurmSpec, "setup" | "node" | "tls"> {
  const { meshes, allocation = "one", exclusive = true, timeLimit, port } = options;
  const { partition, account, qos, constraint, login, arguments: further = [] } = options;
  if (allocation !== "one" && allocation !== "each") throw optionError('allocation "one" or "each"', allocation);
  if (typeof exclusive !== "boolean") throw optionError("exclusive as true or false", exclusive);
  for (const [option, value] of Object.entries({ partition, account, qos, constraint, login })) {
    if (value !== undefined) checkArgument(option, value);
  }
  if (login?.startsWith("-")) throw optionError("login as the name of a machine", login);
  if (!Array.isArray(further)) throw optionError("arguments as a list of text", further);
  for (const argument of further) {
    checkArgument("each of arguments", argument);
    if (!argument.startsWith("--")) throw optionError("each of arguments in the form --option=value", argument);
  }
  checkPort(port);
  return {
    meshes,
    allocation,
    partition: partition ?? null,
    account: account ?? null,
    qos: qos ?? null,
    constraint: constraint ?? null,
    exclusive,
    timeLimit: timeLimit === undefined ? null : Math.ceil(durationMs(timeLimit, "timeLimit") / 60_000),
    arguments: further,
    login: login ?? null,
    port: port ?? null,
  };
}
