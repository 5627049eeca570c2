/** `Compute`: what each pod of a mesh is like, in code. */
import type { PodTemplate } from "../manifest/objects.js";
import { podTemplate } from "../manifest/pod-template.js";
import { type ComputeOptions, type ComputeSpec, checkCompute } from "./compute-options.js";

/**
 * Describes the pods of a mesh of a `KubernetesJob`. It is a value that does nothing: several meshes and jobs can share it.
 */
export class Compute {
  /**
   * The options after their check, as plain JSON.
   *
   * @hidden
   */
  readonly spec: ComputeSpec;

  /**
   * Describes pods.
   *
   * @param options what the pods ask for
   * @throws {TypeError} when an option is unknown or malformed, or Kubernetes would refuse a name
   * @throws {RangeError} when a number is out of range
   */
  constructor(options: ComputeOptions | ComputeSpec) {
    this.spec = checkCompute(options);
  }

  /**
   * Returns the pod template of a mesh, merged with the template of the options, as `viceroy job manifest` prints it.
   *
   * @param job the name of the job
   * @param mesh the name of the mesh
   * @throws {TypeError} when the template of the options removes or changes what the job needs; the message has the path of the field
   */
  podTemplate(job = "viceroy", mesh = "hosts"): PodTemplate {
    return podTemplate(this.spec, { job, mesh, run: "0", setup: null, node: null, programs: 1, images: 1 });
  }

  /** Returns the options as plain JSON. */
  toJSON(): ComputeSpec {
    return this.spec;
  }
}
