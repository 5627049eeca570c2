/** Tells what happens to the clusters of a run, from what SkyPilot says about them. */
import { setTimeout as pause } from "node:timers/promises";
import type { Report } from "../../provider.js";
import type { Cluster } from "../api/clusters.js";
import type { FollowOptions } from "../api/requests.js";
import type { SkyPilotApi } from "../api/skypilot-api.js";
import { SkyPilotError } from "../api/skypilot-error.js";
import type { ClusterRun } from "./cluster-run.js";
import { openLaunch, reportingAway } from "./launching.js";

/** Time in ms between two questions. SkyPilot asks the cloud for each. */
const watchMs = 20_000;

/** Reports changes until the run has ended. @returns the reason for its end */
export async function watchClusters(
  api: SkyPilotApi,
  clusters: ReadonlyMap<string, ClusterRun>,
  report: Report,
  signal: AbortSignal,
): Promise<string> {
  const told = new Map<string, string>();
  for (;;) {
    await pause(watchMs, undefined, { signal, ref: false });
    for (const [name, cluster] of clusters) {
      const looked = await look(api, name, cluster, reportingAway(report, signal)).catch((error: unknown) => {
        // The hosts do not need the API server.
        if (error instanceof SkyPilotError && error.isTransient) return undefined;
        throw error;
      });
      if (looked === undefined) continue;
      if (typeof looked === "string") return looked;
      const text = describeCluster(looked);
      if (looked.status !== "UP" && told.get(name) !== text) report({ kind: "host-lost", reason: text });
      told.set(name, text);
    }
  }
}

/** Returns the state of a cluster; text if it has ended, and undefined while it is launched. */
async function look(
  api: SkyPilotApi,
  name: string,
  run: ClusterRun,
  options: FollowOptions,
): Promise<Cluster | string | undefined> {
  const isChanging = async () => run.isChanging || (await openLaunch(api, name, options)) !== undefined;
  if (run.isChanging) return undefined;
  const state = await api.cluster(name, true, options);
  // A launch may have begun meanwhile.
  if (await isChanging()) return undefined;
  if (state === undefined) return `cluster ${name} was taken down`;
  const [newest] = state.status === "UP" ? await api.jobs(name, options) : [];
  if (newest?.status === "SUCCEEDED" && !(await isChanging())) return `the hosts of cluster ${name} have ended`;
  return state;
}

/** Returns the state of a cluster in SkyPilot's words. */
function describeCluster({ name, status, reason }: Cluster): string {
  return `cluster ${name} is ${status}${reason === undefined ? "" : `: ${reason}`}`;
}
