/**
 * Follows what a container prints, also when a connection to the API server is lost: the next request asks for the lines since the last one, and those
 * that were told already are left out. They are recognized by their times, which the API server tells with at most nanoseconds.
 */

import { pauseAfter, type RetryWorld, systemWorld } from "../../retry.js";
import type { KubernetesApi } from "../api/kubernetes-api.js";
import { KubernetesError } from "../api/kubernetes-error.js";

/**
 * Each line of a container begins with its time. A node that does not find the file of a log any more says so in the log itself, in a line without a time.
 */
const timePattern = /^\d{4}-\d\d-\d\dT/;

/** Time in ms between the end of a log, whose container may go on, and the next request. */
const pauseMs = 500;

export interface FollowedLog {
  readonly pod: string;
  readonly container: string;
  /** Returns whether the container has ended, or its pod is gone. */
  readonly isOver: () => boolean;
  readonly signal: AbortSignal;
  /** The longest pause in ms before the next attempt while the API server is away. Default: that of all requests. */
  readonly longestPause?: number | undefined;
}

/**
 * @returns the lines until the container has ended, or `signal` is aborted
 * @throws KubernetesError if the API server refuses the request
 */
export async function* followLog(
  api: Pick<KubernetesApi, "logs">,
  { pod, container, isOver, signal, longestPause = Number.POSITIVE_INFINITY }: FollowedLog,
  world: RetryWorld = systemWorld,
): AsyncGenerator<string, void> {
  /** The time of the last line, and the number of lines with this time. */
  let last = "";
  let count = 0;
  let failures = 0;
  while (!signal.aborted) {
    const since = last;
    let known = count;
    let wait = pauseMs;
    const wasOver = isOver();
    try {
      const request = { container, follow: true, timestamps: true, signal, ...(since === "" ? {} : { since }) };
      for await (const line of api.logs(pod, request)) {
        if (!timePattern.test(line)) continue;
        failures = 0;
        const space = line.indexOf(" ");
        const time = space < 0 ? line : line.slice(0, space);
        if (time < since) continue;
        if (time === since && known-- > 0) continue;
        count = time === last ? count + 1 : 1;
        last = time;
        yield space < 0 ? "" : line.slice(space + 1);
      }
      if (wasOver) return;
    } catch (error) {
      if (!(error instanceof KubernetesError)) throw error;
      // A container that is being started has no log yet, and a node that does not know its pod yet has none either.
      const isEarly = !wasOver && (error.status === 400 || error.status === 404);
      if (!error.isTransient && !isEarly) throw error;
      failures++;
      wait = Math.min(longestPause, pauseAfter(failures, world, error.retryAfter));
    }
    await world.pause(wait, signal).catch(() => {});
  }
}
