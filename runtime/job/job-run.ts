/** One run of a job, as the program sees it that has submitted or found it. */
import type { DriverCredentials } from "./credentials/index.js";
import type { HostMesh } from "./kernel.js";
import type { ReadyHost } from "./provider.js";
import type { SubmittedJob } from "./submitted-job.js";

/** The meshes of hosts of a run by their names. */
export type HostMeshes = Readonly<Record<string, HostMesh<"hosts">>>;

/** One run of a job, from its submission or its discovery in the cache. */
export interface JobRun extends SubmittedJob {
  /** Aborted when this program ends its interest in the run. */
  readonly leaving: AbortController;
  /** Aborted when a host is lost. */
  losing: AbortController;
  /** Resolves with the host meshes; undefined until they are asked for. */
  meshes?: Promise<HostMeshes>;
  /** The hosts as this program knows them, by their places in text. */
  readonly hosts: Map<string, ReadyHost>;
  /** Why the last host that was lost has ended. */
  lostReason?: string;
  /** Resolves with the reason when the run has ended. */
  readonly ended: Promise<string>;
  readonly resolveEnded: (reason: string) => void;
  /** Why the run has ended; undefined while it runs. */
  endReason?: string;
  /** Whether the program has left the run because it could not be watched any more, so that it may go on. */
  mayGoOn?: boolean;
  /** The certificate of this program as a driver of the run; undefined if its hosts have none, or it is not needed yet. */
  certificate?: DriverCredentials | undefined;
  /** The meshes that have been attached, to be left at the end. */
  attached?: readonly HostMesh<"hosts">[];
}
