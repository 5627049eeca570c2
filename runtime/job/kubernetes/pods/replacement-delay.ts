/**
 * Lets the Job controller replace a lost host at once. By itself it waits for 10 s after the end of a pod, and twice as long after each further one of
 * the same rank: it reads the delay from the failed pod, which it keeps by a finalizer until then. Without the finalizer there is no delay, and the
 * failure does not count. A pod that ends before it was ever Ready keeps its delay, and so does one that ends soon after the pod before it, so that a
 * program that always crashes is not started again and again.
 */
import { formatPlace } from "../../mesh-spec.js";
import type { Report } from "../../provider.js";
import type { KubernetesApi } from "../api/kubernetes-api.js";
import { KubernetesError } from "../api/kubernetes-error.js";
import { trackingFinalizer } from "../manifest/layout.js";
import type { PodFacts, PodState } from "./pod-state.js";

/** Time in ms after a loss in which a further loss of the same rank has the delay of the controller. */
const calmMs = 60_000;

export interface ReplacementDelayOptions {
  readonly api: Pick<KubernetesApi, "patch">;
  /** Returns whether the Jobs replace failed pods. Otherwise the failure must count. */
  readonly isReplaced: () => Promise<boolean>;
  /** Returns the time in ms. */
  readonly now: () => number;
  /** Told once, if this program may not end the delay. */
  readonly report: Report;
}

export class ReplacementDelay {
  readonly #options: ReplacementDelayOptions;
  /** The ids of the pods that have been Ready. */
  readonly #hosts = new Set<string>();
  /** The pod of each rank whose delay was ended last, and when. */
  readonly #ended = new Map<string, { readonly uid: string; readonly at: number }>();
  readonly #underWay = new Set<string>();
  #isReplaced: Promise<boolean> | undefined;
  #isDenied = false;

  constructor(options: ReplacementDelayOptions) {
    this.#options = options;
  }

  /** Takes the pods as they are now. */
  see(pods: PodState): void {
    for (const uid of this.#hosts) if (!pods.has(uid)) this.#hosts.delete(uid);
    for (const pod of pods.values()) {
      if (pod.isReady) this.#hosts.add(pod.uid);
      else if (this.#isDelayed(pod)) void this.#end(pod).catch((error: unknown) => this.#refused(pod, error));
    }
  }

  #isDelayed({ uid, place, hasFailed, finalizers }: PodFacts): boolean {
    if (!hasFailed || !this.#hosts.has(uid) || !finalizers.includes(trackingFinalizer)) return false;
    const last = this.#ended.get(formatPlace(place));
    return last === undefined || last.uid === uid || this.#options.now() - last.at >= calmMs;
  }

  async #end({ uid, name, place, finalizers, version }: PodFacts): Promise<void> {
    if (this.#underWay.has(uid)) return;
    this.#underWay.add(uid);
    try {
      this.#isReplaced ??= this.#options.isReplaced();
      if (!(await this.#isReplaced)) return;
      this.#ended.set(formatPlace(place), { uid, at: this.#options.now() });
      const others = finalizers.filter((finalizer) => finalizer !== trackingFinalizer);
      // The version refuses the change if somebody else has changed the pod, whose next state is seen then.
      const metadata = { uid, resourceVersion: version, finalizers: others };
      await this.#options.api.patch("Pod", name, { metadata });
    } finally {
      this.#underWay.delete(uid);
    }
  }

  /** A driver without the permission, or one that comes too late, waits for the delay. */
  #refused({ name, place }: PodFacts, error: unknown): void {
    if (!(error instanceof KubernetesError)) throw error;
    if (error.status !== 403 || this.#isDenied) return;
    this.#isDenied = true;
    const reason = `the pod after ${name} of ${formatPlace(place)} is made after a delay of 10 s or more: ${error.message}`;
    this.#options.report({ kind: "pending", ...place, reason });
  }
}
