/**
 * Changes the size of one mesh by its Job. Several drivers can do so at the same time: each change names the version of the Job that it was made
 * for, and is made again for the next version if somebody else was faster.
 */
import { formatPlace } from "../../mesh-spec.js";
import { awayLimit, type RetryWorld, retrying, systemWorld } from "../../retry.js";
import type { ApiObject, KubernetesApi } from "../api/kubernetes-api.js";
import { KubernetesError } from "../api/kubernetes-error.js";
import { runLabel } from "../manifest/layout.js";
import { endOf } from "../pods/job-ends.js";
import {
  begunGrowth,
  type EndedRanks,
  endedRanks,
  failedGrowth,
  finishedGrowth,
  isSuspended,
  type MeshSize,
  shrunk,
  sizeChange,
  sizeOf,
} from "./mesh-size.js";

/** Time in ms between two looks at a Job that has not noticed a change yet. */
const lookMs = 200;

const conflict = 409;
const invalid = 422;

export interface ScalerOptions {
  readonly api: Pick<KubernetesApi, "get" | "patch">;
  /** The name of the Job. */
  readonly name: string;
  /** The id of the run to which the Job must belong. */
  readonly applyId: string;
  readonly mesh: string;
  /** The number of hosts for which the job was submitted. */
  readonly asked: number;
  /** Told of each version of the Job that was read or made. */
  readonly onSeen?: (job: ApiObject) => void;
  readonly world?: RetryWorld;
}

export class JobScaler {
  readonly #options: ScalerOptions;
  readonly #world: RetryWorld;

  constructor(options: ScalerOptions) {
    this.#options = options;
    this.#world = options.world ?? systemWorld;
  }

  /**
   * Gives the mesh more hosts, unless it has them, and notes that a driver waits for them.
   * @param id the random id of the growth
   * @param first the rank of the first host that the driver waits for
   * @param prepare called before the Job makes a pod of a rank that it did not have
   * @returns whether the Job had all the hosts before
   * @throws Error if the Job has ended, a queue or somebody holds its pods, or a host has ended by itself and others beyond it have not
   */
  async grow(
    id: string,
    first: number,
    hosts: number,
    prepare: (ranks: readonly number[]) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<boolean> {
    let isFound = true;
    await this.#change(async (job, size) => {
      if (isSuspended(job)) throw new Error(`the pods of Job ${this.#options.name} are held, because it is suspended`);
      const ended = endedRanks(job);
      // The Job forgets how hosts beyond its size have ended, and makes others if it gets larger afterwards.
      if (ended.last >= size.hosts) return undefined;
      const over = ranks(first, hosts).find((rank) => ended.has(rank));
      if (over !== undefined) return this.#withoutEnded(size, over, ended);
      const missing = ranks(size.hosts, hosts);
      if (missing.length > 0) {
        isFound = false;
        await prepare(missing);
      }
      return begunGrowth(size, id, hosts);
    }, signal);
    return isFound;
  }

  /** Notes that the hosts of a growth are up. @throws Error if the mesh has got smaller meanwhile */
  async finish(id: string, hosts: number): Promise<void> {
    await this.#change(async (_, size) => {
      const next = finishedGrowth(size, id, hosts);
      if (next === undefined) throw new Error(givenBackReason(this.#options.mesh, size.hosts));
      return next;
    });
  }

  /** Gives back the hosts of a growth that has failed, except those that other drivers use or wait for. */
  async giveBack(id: string): Promise<void> {
    await this.#change(async (_, size) => failedGrowth(size, id));
  }

  /** Gives back all hosts from a rank on. */
  async shrink(hosts: number): Promise<void> {
    await this.#change(async (_, size) => shrunk(size, hosts));
  }

  #withoutEnded(size: MeshSize, over: number, ended: EndedRanks): MeshSize {
    const { mesh } = this.#options;
    const living = ranks(over, size.hosts).find((rank) => !ended.has(rank));
    if (living !== undefined) {
      throw new Error(
        `${formatPlace({ mesh, rank: over })} has ended for good, and Kubernetes makes no other pod for it while ` +
          `${formatPlace({ mesh, rank: living })} is there; resize the mesh to ${over} hosts first, which ends all hosts beyond`,
      );
    }
    return { ...size, hosts: over, kept: Math.min(size.kept, over) };
  }

  /**
   * Changes the size, until a change was made for the latest version of the Job and nothing is left to change.
   * @param next returns the wanted size, or undefined if the Job must first notice an earlier change
   */
  async #change(
    next: (job: ApiObject, size: MeshSize) => Promise<MeshSize | undefined>,
    signal?: AbortSignal,
  ): Promise<void> {
    const { api, asked, name, onSeen } = this.#options;
    const patient = { limit: awayLimit, signal, world: this.#world };
    for (;;) {
      signal?.throwIfAborted();
      const job = await retrying(() => this.#read(), patient);
      const size = sizeOf(job, asked);
      const wanted = await next(job, size);
      if (wanted === undefined) {
        await this.#world.pause(lookMs, signal);
        continue;
      }
      if (JSON.stringify(wanted) === JSON.stringify(size)) return;
      try {
        const changed = await retrying(() => api.patch("Job", name, sizeChange(job, wanted)), patient);
        onSeen?.(changed);
      } catch (error) {
        if (!(error instanceof KubernetesError) || error.status !== conflict) throw describeRefusal(error);
      }
    }
  }

  async #read(): Promise<ApiObject> {
    const { api, name, applyId, onSeen } = this.#options;
    const job = await api.get("Job", name);
    if (job?.metadata.labels?.[runLabel] !== applyId) throw new Error(`Job ${name} of Kubernetes was deleted`);
    const end = endOf(job);
    if (end !== undefined) throw new Error(end);
    onSeen?.(job);
    return job;
  }
}

/** Says why a host is gone, or does not come. @param hosts the number of hosts that the mesh has now */
export function givenBackReason(mesh: string, hosts: number): string {
  return `job.resize has given back the hosts of mesh "${mesh}" from rank ${hosts} on`;
}

/** Before version 1.27, Kubernetes does not change the number of completions of a Job. */
function describeRefusal(error: unknown): unknown {
  if (!(error instanceof KubernetesError) || error.status !== invalid || !error.message.includes("immutable"))
    return error;
  return new Error(`${error.message}; jobs grow on Kubernetes 1.27 and later`, { cause: error });
}

function ranks(first: number, end: number): number[] {
  return Array.from({ length: Math.max(0, end - first) }, (_, i) => first + i);
}
