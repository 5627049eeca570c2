/**
 * Answers what follows from the options of a job of Kubernetes alone, before anything is submitted. The rest of its provider,
 * with the client of the API server, is loaded on first use (deferred-provider.ts).
 */
import type { TlsSpec } from "../job-options.js";
import type { Json } from "../json.js";
import type { JobProvider, StartTimeout } from "../provider.js";
import { isProvisioned, type KubernetesSpec } from "./kubernetes-spec.js";
import type { ReachChoice } from "./reach/pod-reach.js";

/** A submitted job, as its record contains it. */
export type KubernetesAllocation = {
  readonly applyId: string;
  /** The id of the ConfigMap that owns the objects of the run; null if the job has made none. */
  readonly owner: string | null;
  /** The folder of the run on the machine of the driver, with its credentials. */
  readonly folder: string;
  /** Whether a command runs in a pod of its own, with which the run ends. Absent: false. */
  readonly hasCommand?: boolean;
  /** Whether this program runs in that pod. Absent: false. */
  readonly isInside?: boolean;
  /** Whether the run was submitted on another machine, which signs for its hosts. Absent: false. */
  readonly isShared?: boolean;
  /** Whether this program only looks at the run. Absent: false. */
  readonly isReadOnly?: boolean;
};

type Described = "kind" | "spec" | "tls" | "meshes" | "startTimeouts" | "ownAllocation" | "lookOnly" | "choosesWay";

export abstract class DescribedJob implements Pick<JobProvider<KubernetesAllocation>, Described> {
  readonly kind = "kubernetes";
  readonly reach: ReachChoice;
  readonly #spec: KubernetesSpec;

  constructor(spec: KubernetesSpec, reach: ReachChoice) {
    this.#spec = spec;
    this.reach = reach;
  }

  get choosesWay(): boolean {
    return this.reach !== null;
  }

  get spec(): Json {
    return this.#spec as unknown as Json;
  }

  get tls(): TlsSpec | null {
    return makesPods(this.#spec) ? this.#spec.tls : null;
  }

  get meshes(): Readonly<Record<string, { readonly hosts: number }>> {
    const sizes = Object.entries(this.#spec.meshes).map(([name, { hosts }]) => [name, { hosts }]);
    return Object.fromEntries(sizes);
  }

  get startTimeouts(): Readonly<Record<string, StartTimeout>> {
    const own = Object.entries(this.#spec.meshes).flatMap(([name, mesh]) => {
      const ms = isProvisioned(mesh) ? mesh.compute.launchTimeout : undefined;
      return ms === undefined ? [] : [[name, { ms, option: `launchTimeout of mesh "${name}"` }] as const];
    });
    return Object.fromEntries(own);
  }

  ownAllocation(applyId: string, folder: string): KubernetesAllocation {
    return { applyId, owner: null, folder, isInside: true };
  }

  lookOnly(allocation: KubernetesAllocation): KubernetesAllocation {
    return { ...allocation, isReadOnly: true };
  }
}

/** Returns whether a job makes the pods of its meshes. Otherwise it takes pods that are there. */
export function makesPods({ meshes }: KubernetesSpec): boolean {
  return Object.values(meshes).some(isProvisioned);
}
