/**
 * The provider of jobs of SkyPilot as `viceroy/job` contains it: what talks to the API server is in a part of its own, which the first call loads.
 * Programs with other jobs do not load it.
 */
import type { Json } from "../json.js";
import type { DialHost } from "../kernel.js";
import type { HostPlace } from "../mesh-spec.js";
import type { JobLogLine, LogRequest, ReadyHost, Report, Submission } from "../provider.js";
import { DescribedJob, type SkyPilotAccess, type SkyPilotAllocation } from "./described-job.js";
import type { SkyPilotProvider } from "./skypilot-provider.js";
import type { SkyPilotSpec } from "./skypilot-spec.js";

/** The interface of the provider for jobs. A method that is missing here is an error of types. */
type Members<T> = { [Name in keyof T]: T[Name] };

export class DeferredProvider extends DescribedJob implements Members<SkyPilotProvider> {
  readonly #spec: SkyPilotSpec;
  #loading: Promise<SkyPilotProvider> | undefined;

  constructor(spec: SkyPilotSpec, access: SkyPilotAccess) {
    super(spec, access);
    this.#spec = spec;
  }

  async submit(submission: Submission): Promise<SkyPilotAllocation> {
    return (await this.#loaded()).submit(submission);
  }

  async find(applyId: string, folder: string): Promise<SkyPilotAllocation | undefined> {
    return (await this.#loaded()).find(applyId, folder);
  }

  async isAlive(allocation: SkyPilotAllocation): Promise<boolean> {
    return (await this.#loaded()).isAlive(allocation);
  }

  async hosts(allocation: SkyPilotAllocation, report: Report, signal: AbortSignal): Promise<readonly ReadyHost[]> {
    return (await this.#loaded()).hosts(allocation, report, signal);
  }

  async returned(
    allocation: SkyPilotAllocation,
    lost: ReadyHost,
    report: Report,
    signal: AbortSignal,
  ): Promise<ReadyHost> {
    return (await this.#loaded()).returned(allocation, lost, report, signal);
  }

  async dialPort(allocation: SkyPilotAllocation, place: HostPlace, port: number): Promise<DialHost | undefined> {
    return (await this.#loaded()).dialPort(allocation, place, port);
  }

  async watch(allocation: SkyPilotAllocation, report: Report, signal: AbortSignal): Promise<string> {
    return (await this.#loaded()).watch(allocation, report, signal);
  }

  async stop(allocation: SkyPilotAllocation): Promise<void> {
    await (await this.#loaded()).stop(allocation);
  }

  async facts(allocation: SkyPilotAllocation): Promise<readonly string[]> {
    return (await this.#loaded()).facts(allocation);
  }

  async destroy(allocation: SkyPilotAllocation): Promise<void> {
    await (await this.#loaded()).destroy(allocation);
  }

  async *logs(allocation: SkyPilotAllocation, request: LogRequest): AsyncGenerator<JobLogLine, void> {
    yield* (await this.#loaded()).logs(allocation, request);
  }

  #loaded(): Promise<SkyPilotProvider> {
    this.#loading ??= import("./skypilot-provider.js").then(
      (part) => new part.SkyPilotProvider(this.#spec, this.access),
    );
    return this.#loading;
  }
}

/** Makes the provider again from what a record contains. */
export function skyPilotProvider(spec: Json): DeferredProvider {
  const access = { secrets: undefined, reach: null, login: undefined };
  return new DeferredProvider(spec as unknown as SkyPilotSpec, access);
}
