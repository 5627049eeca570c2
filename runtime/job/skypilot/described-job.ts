/**
 * Answers what follows from the options of a job of SkyPilot alone, before anything is submitted. The rest of its provider, with the client of the API
 * server, is loaded on first use (deferred-provider.ts).
 */
import type { ClientOutcome } from "../batch/client.js";
import type { TlsSpec } from "../job-options.js";
import type { Json } from "../json.js";
import type { JobProvider } from "../provider.js";
import type { SkyPilotSpec } from "./skypilot-spec.js";

/** A submitted job, as its record contains it. */
export type SkyPilotAllocation = {
  readonly applyId: string;
  /** The folder of the run on the machine of the driver. */
  readonly folder: string;
  /** The clusters, and the ids of their first launches. */
  readonly clusters: readonly { readonly name: string; readonly request: string }[];
  /** The time in ms for which the hosts stay without a driver. */
  readonly idle: number;
  /** Whether this program only looks at the run. Absent: false. */
  readonly isReadOnly?: boolean;
};

/** The options that are not part of the specification, because programs at other places can use the same run with others. */
export interface SkyPilotAccess {
  /** The values of the secrets; undefined where the job was made of a record. */
  readonly secrets: Readonly<Record<string, string>> | undefined;
  readonly reach: "direct" | "ssh" | null;
  /** The machine through which `ssh` reaches the hosts; undefined for the first one. */
  readonly login: string | undefined;
}

type Described =
  | "kind"
  | "spec"
  | "tls"
  | "meshes"
  | "choosesWay"
  | "ownAllocation"
  | "lookOnly"
  | "outcome"
  | "startOf";

export abstract class DescribedJob implements Pick<JobProvider<SkyPilotAllocation>, Described> {
  readonly kind = "skypilot";
  readonly access: SkyPilotAccess;
  readonly #spec: SkyPilotSpec;

  constructor(spec: SkyPilotSpec, access: SkyPilotAccess) {
    this.#spec = spec;
    this.access = access;
  }

  get choosesWay(): boolean {
    return this.access.reach !== null;
  }

  get spec(): Json {
    return this.#spec as unknown as Json;
  }

  get tls(): TlsSpec | null {
    return this.#spec.tls;
  }

  get meshes(): Readonly<Record<string, { readonly hosts: number }>> {
    return Object.fromEntries(Object.entries(this.#spec.meshes).map(([name, { hosts }]) => [name, { hosts }]));
  }

  /** A job of SkyPilot runs no command, so no program is inside of it. */
  ownAllocation(applyId: string, folder: string): SkyPilotAllocation {
    return { applyId, folder, clusters: [], idle: 0 };
  }

  lookOnly(allocation: SkyPilotAllocation): SkyPilotAllocation {
    return { ...allocation, isReadOnly: true };
  }

  outcome(): Promise<ClientOutcome | undefined> {
    return Promise.resolve(undefined);
  }

  startOf(): Promise<number | undefined> {
    return Promise.resolve(undefined);
  }
}
