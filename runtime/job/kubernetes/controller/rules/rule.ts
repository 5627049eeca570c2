/** The rules of the controller for provisioning: who may have which hosts. */
import type { ComputeOptions } from "../../compute/compute-options.js";

/** One rule of the allow-list. What no rule allows is refused. */
export interface Rule {
  /** The name, by which denials and the log call the rule. */
  readonly name: string;
  readonly who: RuleSubjects;
  readonly allow: RuleLimits;
}

/** The pods to which a rule applies. */
export interface RuleSubjects {
  /** Namespaces by their names: the permissions of the controller name them, too. */
  readonly namespaces: readonly string[];
  /** Patterns of the names of service accounts. */
  readonly serviceAccounts: readonly string[];
  /** Patterns of the names of jobs. */
  readonly jobs: readonly string[];
}

/** A rule allows this much. Numbers are the sums of all that one job has at the same time by this rule. */
export interface RuleLimits {
  /** Namespaces of the hosts by their names; undefined: that of the pod that asks. */
  readonly namespaces: readonly string[] | undefined;
  /** Patterns of images. */
  readonly images: readonly string[];
  /** Maximum number of hosts. */
  readonly hosts: number;
  /** Maximum number of requests whose hosts have not ended; undefined: no limit. */
  readonly jobs: number | undefined;
  /** Maximum number of GPUs or other accelerators. */
  readonly gpus: number;
  /** Maximum number of processors; undefined: no limit. */
  readonly cpus: number | undefined;
  /** Maximum memory in bytes; undefined: no limit. */
  readonly memory: number | undefined;
  /** Further options of the pods that a request may set. */
  readonly options: readonly (keyof ComputeOptions)[];
}

/** The options of pods that every rule allows, within its limits. */
export const plainOptions = ["hosts", "image", "cpus", "memory", "gpus", "sharedMemory"] as const;

/** The options of pods that a rule can allow in addition. The others have another meaning for each machine, or belong to the job. */
export const furtherOptions = [
  "gpuResource",
  "nodeSelector",
  "priorityClass",
  "queue",
  "secrets",
  "template",
  "tolerations",
  "volumes",
] as const satisfies readonly (keyof ComputeOptions)[];
