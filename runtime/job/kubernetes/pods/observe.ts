/**
 * Tells of the objects of a kind as they are, and then of each change, for as long as somebody listens. It goes on when the API server ends a
 * watch, was away, does not know the version any more (410), or gets a new token, and asks at most once a second when nothing changes. A watch does
 * not keep the program alive.
 */

import { pauseAfter, type RetryWorld, systemWorld } from "../../retry.js";
import type { ApiObject, KubernetesApi, ResourceKind, Selection } from "../api/kubernetes-api.js";
import { KubernetesError } from "../api/kubernetes-error.js";

/** One piece of news about the objects of a kind. */
export type Observation =
  | { readonly kind: "listed"; readonly items: readonly ApiObject[] }
  | { readonly kind: "changed" | "removed"; readonly object: ApiObject }
  /** The API server is away. What was told may be old until `listed` or a change. */
  | { readonly kind: "away"; readonly reason: string };

/** The shortest time in ms between two beginnings of a watch. */
const shortestWatchMs = 1000;

/** The status of an answer that a version is too old. */
const gone = 410;

/**
 * @returns the observations; ends when `signal` is aborted
 * @throws KubernetesError if the API server refuses, such as for a permission that was always missing, or credentials that it has never accepted
 */
export async function* observe(
  api: KubernetesApi,
  kind: ResourceKind,
  selection: Selection,
  signal: AbortSignal,
  world: RetryWorld = systemWorld,
): AsyncGenerator<Observation, void> {
  let version: string | undefined;
  let failures = 0;
  let wasAccepted = false;
  while (!signal.aborted) {
    const begin = world.now();
    let wait = 0;
    try {
      if (version === undefined) {
        const list = await api.list(kind, selection);
        version = list.resourceVersion;
        failures = 0;
        wasAccepted = true;
        yield { kind: "listed", items: list.items };
      }
      for await (const { type, object } of api.watch(kind, selection, version, signal)) {
        version = object.metadata.resourceVersion ?? version;
        failures = 0;
        if (type !== "BOOKMARK") yield { kind: type === "DELETED" ? "removed" : "changed", object };
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof KubernetesError)) throw error;
      if (error.status === gone) {
        version = undefined;
      } else if (error.isTransient || (wasAccepted && error.isLoginFailure)) {
        // Credentials that were accepted before have expired. They are read again with each attempt.
        failures++;
        yield { kind: "away", reason: error.message };
        wait = pauseAfter(failures, world, error.retryAfter);
      } else {
        throw error;
      }
    }
    await quietPause(Math.max(wait, begin + shortestWatchMs - world.now()), signal, world);
  }
}

/**
 * Calls a function with each object that is there, changes, or is gone. Ends early if this program may not read the objects: whoever calls this
 * tells more by them, and depends on nothing in them.
 */
export async function seeEach(
  observations: AsyncIterable<Observation>,
  see: (object: ApiObject, isGone: boolean) => void,
): Promise<void> {
  try {
    for await (const seen of observations) {
      if (seen.kind === "away") continue;
      for (const object of seen.kind === "listed" ? seen.items : [seen.object]) see(object, seen.kind === "removed");
    }
  } catch (error) {
    if (!(error instanceof KubernetesError) || error.status !== 403) throw error;
  }
}

/** Waits, which does not keep the program alive. An abort ends the wait, and is no error. */
async function quietPause(ms: number, signal: AbortSignal, world: RetryWorld): Promise<void> {
  if (ms > 0 && !signal.aborted) await world.pause(ms, signal, true).catch(() => {});
}
