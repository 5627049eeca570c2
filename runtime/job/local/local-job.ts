/** `LocalJob`: the only host of each mesh is the machine on which the program runs. */
import { describeValue } from "../../../shared/text/describe-value.js";
import { Job } from "../job.js";
import { checkJobOptions, type JobOptions } from "../job-options.js";
import { checkMeshes, type MeshSpec } from "../mesh-spec.js";
import { checkRecord, type JobRecord } from "../record/job-record.js";
import { LocalProvider, type LocalSpec } from "./local-provider.js";

/** The options of {@link LocalJob}. */
export interface LocalJobOptions<M extends string> extends JobOptions {
  /**
   * The meshes by name, each with one host: this machine. `cpus`, `gpus` and `memory` say what a program may expect, and
   * are not enforced.
   */
  readonly meshes: Readonly<Record<M, MeshSpec>>;
}

/**
 * A job whose hosts are the machine on which the program runs. Its processes are children of the program, and end with it.
 * With {@link run}, it runs a command in the background, which survives the program that has started it.
 *
 * @example
 * ```ts
 * import { LocalJob } from "viceroy/job";
 *
 * await using job = new LocalJob({ meshes: { trainers: { hosts: 1 } } });
 * const { trainers } = await job.state();
 * const procs = trainers.spawnProcs({ gpus: 2 });
 * ```
 */
export class LocalJob<M extends string> extends Job<M> {
  /**
   * Describes a job. Nothing is started.
   *
   * @param options the meshes, and the options of all jobs
   * @param known used by {@link fromJSON}
   * @throws {TypeError} when an option is unknown or malformed
   * @throws {RangeError} when a mesh has another number of hosts than 1
   */
  constructor(options: LocalJobOptions<M>, known?: JobRecord) {
    const checked = checkJobOptions(options, ["meshes"]);
    const { meshes } = options;
    checkMeshes(meshes, ["hosts", "cpus", "gpus", "memory"]);
    for (const [name, { hosts }] of Object.entries<MeshSpec>(meshes)) {
      if (hosts === 1) continue;
      throw new RangeError(
        `cannot make a job: expected hosts of mesh "${name}" as 1, because a LocalJob has this machine only, got ` +
          `${describeValue(hosts)}; a ProcessJob has several hosts on this machine`,
      );
    }
    super(new LocalProvider({ meshes, setup: checked.setup }), checked, known);
  }

  /**
   * Makes a job of the record of one that runs a command.
   *
   * @param record what `toJSON` has returned
   * @throws {TypeError} when the record is malformed, or of another class
   */
  static fromJSON(record: JobRecord): LocalJob<string> {
    checkRecord(record, "local");
    const { meshes, setup } = record.spec as LocalSpec;
    return new LocalJob({ name: record.name, meshes, ...(setup === null ? {} : { setup }) }, record);
  }
}
