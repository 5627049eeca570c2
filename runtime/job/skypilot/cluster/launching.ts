/** Launches of clusters: begun so that none is lost, followed, and taken back. */
import type { Report } from "../../provider.js";
import type { LogLine } from "../api/log-line.js";
import type { FollowOptions } from "../api/requests.js";
import type { LaunchOrder, SkyPilotApi } from "../api/skypilot-api.js";
import { SkyPilotError } from "../api/skypilot-error.js";

const nameOfLaunch = "sky.launch";

/**
 * Begins a launch.
 * @returns the id of its request
 * @throws SkyPilotError if the API server has not taken it
 */
export async function beginLaunch(api: SkyPilotApi, order: LaunchOrder, options: FollowOptions): Promise<string> {
  try {
    return await api.launch(order, options);
  } catch (error) {
    if (!(error instanceof SkyPilotError) || !error.isTransient) throw error;
    // The answer may be lost, and the server may launch.
    const begun = await openLaunch(api, order.cluster, options);
    if (begun === undefined) throw error;
    return begun;
  }
}

/** Returns the id of the launch of a cluster that has not ended; undefined if there is none. */
export async function openLaunch(
  api: SkyPilotApi,
  cluster: string,
  options: FollowOptions,
): Promise<string | undefined> {
  return (await api.requests.openOf(cluster, options)).find(({ name }) => name === nameOfLaunch)?.id;
}

/**
 * Waits until a cluster is launched and its task is submitted.
 * @param request the id of the launch; empty if it has ended before
 * @returns whether the server knows how it has ended: a server that was started again has forgotten it
 * @throws SkyPilotError with SkyPilot's own words if it cannot be launched
 */
export async function followLaunch(
  api: SkyPilotApi,
  cluster: string,
  request: string,
  report: Report,
  signal: AbortSignal,
): Promise<boolean> {
  if (request === "") return true;
  const onLine = ({ text }: LogLine) => report({ kind: "pending", reason: `cluster ${cluster}: ${text}` });
  try {
    await api.requests.follow(request, `launch cluster ${JSON.stringify(cluster)}`, {
      ...reportingAway(report, signal),
      onLine,
    });
    return true;
  } catch (error) {
    if (!(error instanceof SkyPilotError) || error.kind !== "RequestForgotten") throw error;
    return false;
  }
}

/** Returns options that tell of an API server that does not answer. */
export function reportingAway(report: Report, signal: AbortSignal): FollowOptions {
  return { signal, onAway: ({ message }) => report({ kind: "pending", reason: message }) };
}

/** Ends everything of clusters: requests that have not ended, then the clusters themselves. Resolves when SkyPilot knows none of them any more. */
export async function takeDown(api: SkyPilotApi, clusters: readonly string[]): Promise<void> {
  for (const cluster of clusters) {
    // A launch that goes on would bring the cluster up again.
    await api.requests.cancel((await api.requests.openOf(cluster)).map(({ id }) => id));
  }
  await Promise.all(clusters.map((cluster) => api.down(cluster)));
}
