/** The options of `Job.provision`, and what it returns. */
import type { Duration } from "../../duration.js";
import type { JobAttachOptions, JobSyncOptions } from "../../job-options.js";
import type { JobState } from "../../job-state.js";
import type { ComputeOptions } from "../compute/compute-options.js";

/** One mesh of hosts that a program asks the controller for. Each host is a pod. */
export interface ProvisionMesh
  extends Omit<ComputeOptions, "hosts" | "image" | "imageCache" | "idle" | "launchTimeout"> {
  /** The number of hosts. */
  readonly hosts: number;
  /** The name of the container image, which needs Node.js alone. Default: `node:` and the major version of this program. */
  readonly image?: string;
}

/** The options of {@link Job.provision}. */
export interface ProvisionOptions {
  /** The namespace of the pods. Default: that of this program, or the first one that the rule of the controller allows. */
  readonly namespace?: string;
  /** The times in which all hosts must be up, and in which a lost one must be up again. Default: `"2m"`. */
  readonly hostTimeout?: Duration | { readonly start?: Duration; readonly lost?: Duration };
  /** The limits with which this program connects to the hosts. */
  readonly attach?: JobAttachOptions;
  /** Whether the code of the program is brought to the hosts, and how. Default: true. */
  readonly sync?: boolean | JobSyncOptions;
  /** Ends the waiting. What was made meanwhile ends, too. */
  readonly signal?: AbortSignal;
}

/** Hosts that the controller has given to this program: their meshes by name, until they are released. */
export type Provisioned<M extends string> = JobState<M> & ProvisionHandle;

/** Ends the hosts of {@link Provisioned}. */
export interface ProvisionHandle extends AsyncDisposable {
  /**
   * Ends the hosts and everything that runs on them.
   *
   * @returns a promise that resolves when nothing of them is left
   */
  release(): Promise<void>;
}
