/** `SSHJob`: the hosts of a job are machines that `ssh` reaches. */
import { checkPort } from "../check-option.js";
import { Job } from "../job.js";
import { checkJobOptions, type JobOptions } from "../job-options.js";
import { checkRecord, type JobRecord } from "../record/job-record.js";
import { SshProvider } from "./ssh-provider.js";
import { checkSshMeshes, checkSshOptions, type SshMeshSpec, type SshSpec } from "./ssh-spec.js";

/** The options of {@link SSHJob}. */
export interface SSHJobOptions<M extends string> extends JobOptions {
  /**
   * The meshes by name, each with the names of its hosts. `cpus`, `gpus` and `memory` say what a program may expect, and
   * are not enforced.
   */
  readonly meshes: Readonly<Record<M, SshMeshSpec>>;
  /** Further arguments of `ssh`, such as `["-J", "bastion"]` or `["-F", "cluster.conf"]`. */
  readonly sshOptions?: readonly string[];
  /** The port at which hosts listen for each other. Default: a free one on each host. */
  readonly port?: number;
}

/**
 * A job whose hosts are machines that the user's own `ssh` reaches without a question: its configuration, its agent and
 * its jump hosts are used. The hosts need Node.js alone: the job brings the program there.
 *
 * @example
 * ```ts
 * import { SSHJob } from "viceroy/job";
 *
 * await using job = new SSHJob({ meshes: { trainers: { hosts: ["node1", "node2"] } } });
 * const { trainers } = await job.state();
 * const procs = trainers.spawnProcs({ gpus: 8 });
 * ```
 */
export class SSHJob<M extends string> extends Job<M> {
  /**
   * Describes a job. Nothing is started.
   *
   * @param options the meshes, and how `ssh` reaches their hosts
   * @param known used by {@link fromJSON}
   * @throws {TypeError} when an option is unknown or malformed, or a host is named twice
   * @throws {RangeError} when a number is out of range
   */
  constructor(options: SSHJobOptions<M>, known?: JobRecord) {
    const checked = checkJobOptions(options, ["meshes", "sshOptions", "port"]);
    const { meshes, sshOptions = [], port } = options;
    checkSshMeshes(meshes);
    checkSshOptions(sshOptions);
    checkPort(port);
    const { setup, node, tls } = checked;
    super(new SshProvider({ meshes, sshOptions, port: port ?? null, setup, node, tls }), checked, known);
  }

  /**
   * Makes a job of the record of one that another program on this machine has submitted.
   *
   * @param record what `toJSON` has returned
   * @throws {TypeError} when the record is malformed, or of another class
   */
  static fromJSON(record: JobRecord): SSHJob<string> {
    checkRecord(record, "ssh");
    const { meshes, sshOptions, port, setup, node, tls } = record.spec as SshSpec;
    const given = Object.fromEntries(Object.entries({ port, setup, node }).filter(([, value]) => value !== null));
    return new SSHJob({ name: record.name, meshes, sshOptions, tls: tls ?? false, ...given }, record);
  }
}
