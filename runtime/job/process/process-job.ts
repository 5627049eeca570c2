/** `ProcessJob`: the hosts of a job are processes on this machine. */

import { optionError } from "../check-option.js";
import { Job } from "../job.js";
import { checkJobOptions, type JobOptions } from "../job-options.js";
import { checkHostCount, checkMeshes, type MeshSpec } from "../mesh-spec.js";
import { checkRecord, type JobRecord } from "../record/job-record.js";
import { ProcessProvider, type ProcessSpec } from "./process-provider.js";

/** The options of {@link ProcessJob}. */
export interface ProcessJobOptions<M extends string> extends JobOptions {
  /**
   * The meshes by name. All hosts share this machine: `cpus`, `gpus` and `memory` say what a program may expect, and are
   * not enforced.
   */
  readonly meshes: Readonly<Record<M, MeshSpec>>;
  /** Environment variables of the hosts, in addition to those of the driver. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * A job whose hosts are daemons on this machine, each in a session of its own: a way to try a program for several hosts
 * on one.
 *
 * @example
 * ```ts
 * import { ProcessJob } from "viceroy/job";
 *
 * await using job = new ProcessJob({ meshes: { trainers: { hosts: 2 }, loaders: { hosts: 1 } } });
 * const { trainers } = await job.state();
 * const procs = trainers.spawnProcs({ gpus: 4 });
 * ```
 */
export class ProcessJob<M extends string> extends Job<M> {
  /**
   * Describes a job. Nothing is started.
   *
   * @param options the meshes, and where they run
   * @param known used by {@link fromJSON}
   * @throws {TypeError} when an option is unknown or malformed
   * @throws {RangeError} when a number is out of range
   */
  constructor(options: ProcessJobOptions<M>, known?: JobRecord) {
    const checked = checkJobOptions(options, ["meshes", "env"]);
    const { meshes, env = {} } = options;
    checkMeshes(meshes, ["hosts", "cpus", "gpus", "memory"]);
    for (const [name, { hosts }] of Object.entries<MeshSpec>(meshes)) checkHostCount(name, hosts);
    checkEnv(env);
    const spec: ProcessSpec = { meshes, env, setup: checked.setup, node: checked.node };
    super(new ProcessProvider(spec), checked, known);
  }

  /**
   * Makes a job of the record of one that another program has submitted.
   *
   * @param record what `toJSON` has returned
   * @throws {TypeError} when the record is malformed, or of another class
   */
  static fromJSON(record: JobRecord): ProcessJob<string> {
    return processJobOf(record);
  }
}

function processJobOf(record: JobRecord): ProcessJob<string> {
  checkRecord(record, "process");
  const { meshes, env, setup, node } = record.spec as ProcessSpec;
  const own = { ...(setup === null ? {} : { setup }), ...(node === null ? {} : { node }) };
  return new ProcessJob({ name: record.name, meshes, env, ...own }, record);
}

function checkEnv(env: unknown): void {
  if (typeof env !== "object" || env === null) throw optionError("env as an object of text", env);
  for (const [name, value] of Object.entries(env)) {
    if (typeof value !== "string" || name === "" || name.includes("="))
      throw optionError("env as an object of text", { [name]: value });
  }
}
