/** Changes how many hosts the meshes of a run have, and knows how many there are. */
import { checkFirstHosts } from "../../first-hosts.js";
import type { TlsSpec } from "../../job-options.js";
import type { HostPlace } from "../../mesh-spec.js";
import type { Report } from "../../provider.js";
import type { ApiObject, KubernetesApi } from "../api/kubernetes-api.js";
import { isProvisioned, type KubernetesSpec } from "../kubernetes-spec.js";
import { meshLabel, meshObjectName } from "../manifest/layout.js";
import type { JobComplaints } from "../pods/job-complaints.js";
import type { PodFeed } from "../pods/pod-feed.js";
import type { PodFacts } from "../pods/pod-state.js";
import { writeHostSecrets } from "./host-secrets.js";
import { JobScaler } from "./job-scaler.js";
import { JobSizes } from "./job-sizes.js";
import { growMeshes } from "./mesh-growth.js";
import { shrinkMesh } from "./mesh-shrinking.js";
import { sizeOf } from "./mesh-size.js";

export interface JobSizingOptions {
  readonly spec: KubernetesSpec;
  readonly applyId: string;
  /** The folder of the run on the machine of the driver. */
  readonly folder: string;
  /** The file with the token of hosts that have no certificates. */
  readonly tokenFile: string;
  readonly tls: TlsSpec | null;
  readonly api: () => Promise<KubernetesApi>;
  readonly feed: PodFeed;
  readonly complaints: JobComplaints;
}

export class JobSizing {
  readonly #options: JobSizingOptions;
  /** The sizes that the Jobs of the run have had last. */
  readonly known = new JobSizes();

  constructor(options: JobSizingOptions) {
    this.#options = options;
  }

  /** As `grow` of `JobProvider`. @returns the pods at the places */
  async grow(places: readonly HostPlace[], report: Report, signal: AbortSignal): Promise<readonly PodFacts[]> {
    const { spec, feed, complaints, applyId, folder, tls, tokenFile } = this.#options;
    const api = await this.#options.api();
    const secrets = { api, job: spec.name, applyId, folder, tls, tokenFile };
    const options = {
      spec,
      api,
      feed,
      complaints,
      sizes: this.known,
      scalerOf: (mesh: string) => this.#scaler(api, mesh),
      writeSecrets: (further: readonly HostPlace[]) => writeHostSecrets(secrets, further),
      report,
    };
    return growMeshes(options, places, signal);
  }

  /** As `shrink` of `JobProvider`. */
  async shrink(mesh: string, hosts: number): Promise<() => Promise<void>> {
    const { spec, feed } = this.#options;
    const size = spec.meshes[mesh]!;
    checkFirstHosts(mesh, size.hosts, hosts);
    // Pods that a selector has found stay.
    if (!isProvisioned(size)) return async () => {};
    const scaler = this.#scaler(await this.#options.api(), mesh);
    return () => shrinkMesh(scaler, feed, mesh, hosts);
  }

  /** Returns the sizes of the meshes. @param jobs the Jobs of the run */
  sizesOf(jobs: readonly ApiObject[]): Readonly<Record<string, number>> {
    const sizes = Object.entries(this.#options.spec.meshes).map(([mesh, { hosts }]) => {
      const job = jobs.find(({ metadata }) => metadata.labels?.[meshLabel] === mesh);
      return [mesh, job === undefined ? hosts : sizeOf(job, hosts).hosts] as const;
    });
    return Object.fromEntries(sizes);
  }

  #scaler(api: KubernetesApi, mesh: string): JobScaler {
    const { spec, applyId } = this.#options;
    const asked = spec.meshes[mesh]!.hosts;
    const name = meshObjectName(spec.name, mesh);
    return new JobScaler({ api, name, applyId, mesh, asked, onSeen: (job) => this.known.see(job) });
  }
}
