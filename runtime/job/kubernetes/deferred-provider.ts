/**
 * The provider of jobs of Kubernetes as `viceroy/job` contains it: what talks to the API server is in a part of its own, which the first call loads.
 * Programs with other jobs do not load it.
 */
import type { ClientOutcome } from "../batch/client.js";
import type { SharedWith } from "../credentials/index.js";
import type { Json } from "../json.js";
import type { DialHost } from "../kernel.js";
import type { HostPlace } from "../mesh-spec.js";
import type { Delivery, GrowOptions, JobLogLine, LogRequest, ReadyHost, Report, Submission } from "../provider.js";
import type { JobRecord } from "../record/job-record.js";
import { DescribedJob, type KubernetesAllocation } from "./described-job.js";
import type { KubernetesProvider } from "./kubernetes-provider.js";
import type { KubernetesSpec } from "./kubernetes-spec.js";
import type { ReachChoice } from "./reach/pod-reach.js";

/** The interface of the provider for jobs. A method that is missing here is an error of types. */
type Members<T> = { [Name in Exclude<keyof T, "follow">]: T[Name] };

export class DeferredProvider extends DescribedJob implements Members<KubernetesProvider> {
  readonly #spec: KubernetesSpec;
  #loading: Promise<KubernetesProvider> | undefined;

  constructor(spec: KubernetesSpec, reach: ReachChoice) {
    super(spec, reach);
    this.#spec = spec;
  }

  async submit(submission: Submission): Promise<KubernetesAllocation> {
    return (await this.#loaded()).submit(submission);
  }

  async find(applyId: string, folder: string): Promise<KubernetesAllocation | undefined> {
    return (await this.#loaded()).find(applyId, folder);
  }

  async findShared(folderOf: (applyId: string) => string, who: SharedWith): Promise<JobRecord | undefined> {
    return this.#spec.share ? (await this.#loaded()).findShared(folderOf, who) : undefined;
  }

  async deliver(allocation: KubernetesAllocation, delivery: Delivery): Promise<void> {
    await (await this.#loaded()).deliver(allocation, delivery);
  }

  async outcome(allocation: KubernetesAllocation): Promise<ClientOutcome | undefined> {
    return (await this.#loaded()).outcome(allocation);
  }

  async startOf(allocation: KubernetesAllocation): Promise<number | undefined> {
    return (await this.#loaded()).startOf(allocation);
  }

  async dialPort(allocation: KubernetesAllocation, place: HostPlace, port: number): Promise<DialHost | undefined> {
    return (await this.#loaded()).dialPort(allocation, place, port);
  }

  async isAlive(allocation: KubernetesAllocation): Promise<boolean> {
    return (await this.#loaded()).isAlive(allocation);
  }

  async hosts(
    allocation: KubernetesAllocation,
    report: Report,
    signal: AbortSignal,
    isAgain?: boolean,
  ): Promise<readonly ReadyHost[]> {
    return (await this.#loaded()).hosts(allocation, report, signal, isAgain);
  }

  async returned(
    allocation: KubernetesAllocation,
    lost: ReadyHost,
    report: Report,
    signal: AbortSignal,
  ): Promise<ReadyHost> {
    return (await this.#loaded()).returned(allocation, lost, report, signal);
  }

  async grow(
    allocation: KubernetesAllocation,
    places: readonly HostPlace[],
    options: GrowOptions,
    report: Report,
    signal: AbortSignal,
  ): Promise<readonly ReadyHost[]> {
    return (await this.#loaded()).grow(allocation, places, options, report, signal);
  }

  async shrink(allocation: KubernetesAllocation, mesh: string, hosts: number): Promise<() => Promise<void>> {
    return (await this.#loaded()).shrink(allocation, mesh, hosts);
  }

  async sizes(allocation: KubernetesAllocation): Promise<Readonly<Record<string, number>>> {
    return (await this.#loaded()).sizes(allocation);
  }

  async watch(allocation: KubernetesAllocation, report: Report, signal: AbortSignal): Promise<string> {
    return (await this.#loaded()).watch(allocation, report, signal);
  }

  async destroy(allocation: KubernetesAllocation): Promise<void> {
    await (await this.#loaded()).destroy(allocation);
  }

  async *logs(allocation: KubernetesAllocation, request: LogRequest): AsyncGenerator<JobLogLine, void> {
    yield* (await this.#loaded()).logs(allocation, request);
  }

  #loaded(): Promise<KubernetesProvider> {
    this.#loading ??= import("./kubernetes-provider.js").then(
      (part) => new part.KubernetesProvider(this.#spec, this.reach),
    );
    return this.#loading;
  }
}

/** Makes the provider again from what a record contains. */
export function kubernetesProvider(spec: Json): DeferredProvider {
  return new DeferredProvider(spec as unknown as KubernetesSpec, null);
}
