/** `KubernetesJob`: the hosts of a job are pods of a cluster of Kubernetes. */
import { Job } from "../job.js";
import { checkRecord, type JobRecord } from "../record/job-record.js";
import { DeferredProvider } from "./deferred-provider.js";
import {
  checkKubernetesJob,
  isProvisioned,
  type KubernetesJobOptions,
  type KubernetesSpec,
  optionsOf,
} from "./kubernetes-spec.js";

/**
 * A job whose hosts are pods of a cluster of Kubernetes. They need an image with Node.js alone: the job brings the program there.
 *
 * @example
 * ```ts
 * import { KubernetesJob } from "viceroy/job";
 *
 * await using job = new KubernetesJob({
 *   namespace: "research",
 *   meshes: { trainers: { hosts: 4, cpus: 2, memory: "4GiB", image: "node:22" } },
 * });
 * const { trainers } = await job.state();
 * ```
 */
export class KubernetesJob<M extends string> extends Job<M> {
  /**
   * Describes a job. Nothing is submitted.
   *
   * @param options the meshes, and where their pods are
   * @param known used by {@link fromJSON}
   * @throws {TypeError} when an option is unknown or malformed, or Kubernetes would refuse a name
   * @throws {RangeError} when a number is out of range
   */
  constructor(options: KubernetesJobOptions<M>, known?: JobRecord) {
    const { options: checked, spec, reach } = checkKubernetesJob(options);
    const meshes = Object.entries(spec.meshes);
    const [made, found] = [true, false].map((own) => meshes.find(([, mesh]) => isProvisioned(mesh) === own)?.[0]);
    if (made !== undefined && found !== undefined) {
      throw new TypeError(
        `cannot make a job: it makes the pods of mesh "${made}" and takes pods of mesh "${found}" that are there; use two jobs`,
      );
    }
    if (spec.share && made === undefined) {
      throw new TypeError(
        `cannot make a job with share: it takes pods of mesh "${found}" that are there, which any program finds by the same options; leave share out`,
      );
    }
    if (spec.ingress !== undefined && made === undefined) {
      throw new TypeError(
        `cannot make a job with ingress: it takes pods of mesh "${found}" that are there, whose ingress is not its own; leave ingress out`,
      );
    }
    super(new DeferredProvider(spec, reach), checked, known);
  }

  /**
   * Makes a job of the record of one that another program has submitted.
   *
   * @param record what `toJSON` has returned
   * @throws {TypeError} when the record is malformed, or of another class
   */
  static fromJSON(record: JobRecord): KubernetesJob<string> {
    checkRecord(record, "kubernetes");
    return new KubernetesJob(optionsOf(record.spec as unknown as KubernetesSpec), record);
  }
}
