/** The sizes of the meshes of a run, as its Jobs have told them last, for those who wait for a host that another program can give back. */
import { formatPlace, type HostPlace } from "../../mesh-spec.js";
import type { ApiObject } from "../api/kubernetes-api.js";
import { meshLabel } from "../manifest/layout.js";
import { givenBackReason } from "./job-scaler.js";
import { sizeOf } from "./mesh-size.js";

interface KnownSize {
  readonly hosts: number;
  /** The number of the change of the Job, which the API server counts. */
  readonly generation: number;
}

export class JobSizes {
  readonly #sizes = new Map<string, KnownSize>();
  readonly #waiters = new Set<() => void>();

  /** Takes a Job as it is, or was before one that was taken earlier. */
  see(job: ApiObject): void {
    const mesh = job.metadata.labels?.[meshLabel];
    const generation = Number(job.metadata["generation"] ?? 0);
    if (mesh === undefined || generation < (this.#sizes.get(mesh)?.generation ?? 0)) return;
    this.#sizes.set(mesh, { hosts: sizeOf(job, 0).hosts, generation });
    for (const look of [...this.#waiters]) look();
  }

  /** Returns why there is no host at a place any more; undefined if nothing is known of its end. */
  whyGone({ mesh, rank }: HostPlace): string | undefined {
    const known = this.#sizes.get(mesh);
    return known === undefined || rank < known.hosts ? undefined : givenBackReason(mesh, known.hosts);
  }

  /** Rejects when a mesh has got so small that one of the places has no host any more. @throws Error with the reason, or that of `signal` */
  untilGone(places: readonly HostPlace[], signal: AbortSignal): Promise<never> {
    return new Promise((_, reject) => {
      const settle = (error: unknown) => {
        signal.removeEventListener("abort", aborted);
        this.#waiters.delete(look);
        reject(error);
      };
      const aborted = () => settle(signal.reason);
      const look = () => {
        const place = places.find((each) => this.whyGone(each) !== undefined);
        if (place !== undefined) settle(new Error(`host ${formatPlace(place)} is gone: ${this.whyGone(place)}`));
      };
      signal.addEventListener("abort", aborted);
      this.#waiters.add(look);
      if (signal.aborted) aborted();
      else look();
    });
  }
}
