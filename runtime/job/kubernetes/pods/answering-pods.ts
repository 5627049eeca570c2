/**
 * The pods whose hosts have answered this program before the kubelet has said that they are Ready, which it does up to a second later: with its
 * next probe. They count as Ready meanwhile. Afterwards, the word of the kubelet counts.
 */
import type { PodFacts, PodState } from "./pod-state.js";

export class AnsweringPods {
  /** The pods whose hosts have answered. The value says whether the kubelet has said since that the pod is Ready. */
  readonly #confirmed = new Map<string, boolean>();

  /** The host of a pod has answered. @returns whether the pod counts as Ready by that */
  add(pod: PodFacts): boolean {
    const key = keyOf(pod);
    if (this.#confirmed.has(key)) return false;
    this.#confirmed.set(key, pod.isReady);
    return !pod.isReady && canAnswer(pod);
  }

  /** Returns the pods with those as Ready whose hosts have answered. */
  seen(state: PodState): PodState {
    if (this.#confirmed.size === 0) return state;
    const there = new Set([...state.values()].map(keyOf));
    for (const key of this.#confirmed.keys()) if (!there.has(key)) this.#confirmed.delete(key);
    return new Map([...state].map(([uid, pod]) => [uid, this.#seen(pod)]));
  }

  #seen(pod: PodFacts): PodFacts {
    const key = keyOf(pod);
    if (pod.isReady && this.#confirmed.has(key)) this.#confirmed.set(key, true);
    return this.#confirmed.get(key) === false && canAnswer(pod) ? { ...pod, isReady: true } : pod;
  }
}

/** A container that was started again is another host. */
function keyOf({ uid, startedAt }: PodFacts): string {
  return `${uid} ${startedAt}`;
}

/** Returns whether a pod that is not Ready yet can be a host already. */
function canAnswer({ isReadyWithDaemon, isRunning, isEnding, isOver, ip }: PodFacts): boolean {
  return isReadyWithDaemon && isRunning && !isEnding && !isOver && ip !== undefined;
}
