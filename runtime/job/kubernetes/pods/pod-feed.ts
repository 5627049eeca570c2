/**
 * The pods of a job in this program. All that wait for something of them share one watch for each selection, which runs while somebody waits.
 */

import { awayLimit, retrying } from "../../retry.js";
import type { KubernetesApi, Selection } from "../api/kubernetes-api.js";
import { AnsweringPods } from "./answering-pods.js";
import { observe } from "./observe.js";
import { afterMessage, noPods, type PlaceOf, type PodFacts, type PodState } from "./pod-state.js";

/** Pods that belong to the job. */
export interface PodSource {
  readonly selection: Selection;
  readonly placeOf: PlaceOf;
}

/** One wait for the pods to be as somebody wants them. */
interface Waiter {
  look(state: PodState): void;
  fail(error: unknown): void;
}

export class PodFeed {
  readonly #api: () => Promise<KubernetesApi>;
  readonly #sources: readonly PodSource[];
  readonly #waiters = new Set<Waiter>();
  readonly #answering = new AnsweringPods();
  #states: (PodState | undefined)[] = [];
  #ending: AbortController | undefined;
  #awayReason: string | undefined;

  constructor(api: () => Promise<KubernetesApi>, sources: readonly PodSource[]) {
    this.#api = api;
    this.#sources = sources;
  }

  /** Why the API server is away; undefined if it is there. */
  get awayReason(): string | undefined {
    return this.#awayReason;
  }

  /**
   * Waits until the pods are as somebody wants them.
   * @param pick returns a value when they are; it is called with each state
   * @throws what `pick` throws, KubernetesError if the pods cannot be watched, or the reason of `signal`
   */
  until<T>(pick: (state: PodState) => T | undefined, signal: AbortSignal): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const settle = (how: () => void) => {
        signal.removeEventListener("abort", aborted);
        this.#leave(waiter);
        how();
      };
      const aborted = () => settle(() => reject(signal.reason));
      const waiter: Waiter = {
        look: (state) => {
          try {
            const picked = pick(state);
            if (picked !== undefined) settle(() => resolve(picked));
          } catch (error) {
            settle(() => reject(error));
          }
        },
        fail: (error) => settle(() => reject(error)),
      };
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      signal.addEventListener("abort", aborted);
      this.#join(waiter);
    });
  }

  /** The host of a pod has answered this program, which can be earlier than the kubelet says that the pod is Ready. */
  answered(pod: PodFacts): void {
    if (this.#answering.add(pod)) this.#showAll();
  }

  /** Returns the pods as they are now, while the watch may still tell of earlier states. @throws KubernetesError if they cannot be read */
  async listed(signal: AbortSignal): Promise<PodState> {
    const api = await this.#api();
    const states = this.#sources.map(async ({ selection, placeOf }) => {
      const { items } = await retrying(() => api.list("Pod", selection), { limit: awayLimit, signal });
      return afterMessage(noPods, { kind: "listed", items }, placeOf);
    });
    return new Map((await Promise.all(states)).flatMap((state) => [...state]));
  }

  #join(waiter: Waiter): void {
    this.#waiters.add(waiter);
    if (this.#ending === undefined) this.#start();
    else this.#show(waiter);
  }

  #leave(waiter: Waiter): void {
    this.#waiters.delete(waiter);
    if (this.#waiters.size > 0) return;
    this.#ending?.abort();
    this.#ending = undefined;
    this.#states = [];
  }

  #start(): void {
    const ending = new AbortController();
    this.#ending = ending;
    this.#states = this.#sources.map(() => undefined);
    for (const [index, source] of this.#sources.entries()) {
      this.#follow(index, source, ending.signal).catch((error: unknown) => {
        if (ending.signal.aborted) return;
        for (const waiter of [...this.#waiters]) waiter.fail(error);
      });
    }
  }

  async #follow(index: number, { selection, placeOf }: PodSource, signal: AbortSignal): Promise<void> {
    for await (const seen of observe(await this.#api(), "Pod", selection, signal)) {
      if (signal.aborted) return;
      this.#awayReason = seen.kind === "away" ? seen.reason : undefined;
      if (seen.kind !== "away") this.#states[index] = afterMessage(this.#states[index] ?? noPods, seen, placeOf);
      this.#showAll();
    }
  }

  #showAll(): void {
    const state = this.#state();
    if (state !== undefined) for (const waiter of [...this.#waiters]) waiter.look(state);
  }

  #show(waiter: Waiter): void {
    const state = this.#state();
    if (state !== undefined) waiter.look(state);
  }

  /** Returns all pods; undefined until each selection was listed. */
  #state(): PodState | undefined {
    if (this.#states.some((state) => state === undefined)) return undefined;
    const [first] = this.#states;
    const all = this.#states.length === 1 ? first! : new Map(this.#states.flatMap((state) => [...state!]));
    return this.#answering.seen(all);
  }
}
