/**
 * Tells why the Jobs of a run cannot make pods: a quota, a policy of the cluster, a service account that is missing. All that wait for pods share one
 * watch of the events of Kubernetes, which runs while somebody waits.
 */
import type { Report } from "../../provider.js";
import { awayLimit, retrying } from "../../retry.js";
import type { KubernetesApi } from "../api/kubernetes-api.js";
import { KubernetesError } from "../api/kubernetes-error.js";
import { meshLabel } from "../manifest/layout.js";
import { observe } from "./observe.js";
import type { EventObject } from "./pod-object.js";

/** One wait for pods. */
export interface ComplaintListener {
  readonly report: Report;
  /** Called when this program turns out to have no permission to read events. */
  readonly onDenied: (reason: string) => void;
}

export class JobComplaints {
  readonly #api: () => Promise<KubernetesApi>;
  readonly #labelSelector: string;
  readonly #listeners = new Set<ComplaintListener>();
  #ending: AbortController | undefined;
  #denied: string | undefined;

  /** @param labelSelector finds the Jobs of the run */
  constructor(api: () => Promise<KubernetesApi>, labelSelector: string) {
    this.#api = api;
    this.#labelSelector = labelSelector;
  }

  /** Tells a listener of complaints until the function is called that is returned. */
  listen(listener: ComplaintListener): () => void {
    this.#listeners.add(listener);
    if (this.#denied !== undefined) listener.onDenied(this.#denied);
    else if (this.#ending === undefined) this.#start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#ending?.abort();
      this.#ending = undefined;
    };
  }

  #start(): void {
    const ending = new AbortController();
    this.#ending = ending;
    this.#follow(ending.signal).catch((error: unknown) => {
      if (ending.signal.aborted) return;
      this.#ending = undefined;
      // The words are a help, and nothing depends on them.
      if (!(error instanceof KubernetesError) || error.status !== 403) return;
      this.#denied = error.message;
      for (const { onDenied } of this.#listeners) onDenied(error.message);
    });
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const api = await this.#api();
    const told = new Set<string>();
    /** The meshes of the Jobs that events have named; undefined for Jobs of others. */
    const meshes = new Map<string, string | undefined>();
    const selection = { fieldSelector: "involvedObject.kind=Job,type=Warning" };
    for await (const seen of observe(api, "Event", selection, signal)) {
      const events = seen.kind === "listed" ? seen.items : seen.kind === "changed" ? [seen.object] : [];
      for (const { metadata, reason = "", message = "", involvedObject = {} } of events as readonly EventObject[]) {
        const { uid: id = message } = metadata;
        const { uid: job = "" } = involvedObject;
        if (reason !== "FailedCreate" || told.has(id)) continue;
        if (!meshes.has(job)) meshes.set(job, await this.#meshOf(api, job, signal));
        const mesh = meshes.get(job);
        if (mesh === undefined) continue;
        told.add(id);
        const text = `Job ${involvedObject.name} cannot make a pod: ${message}`;
        for (const { report } of this.#listeners) report({ kind: "pending", mesh, reason: text });
      }
    }
  }

  /** Returns the mesh of a Job; undefined if it is none of this run. The events of an earlier run with the same names stay for an hour. */
  async #meshOf(api: KubernetesApi, uid: string, signal: AbortSignal): Promise<string | undefined> {
    const list = () => api.list("Job", { labelSelector: this.#labelSelector });
    const { items } = await retrying(list, { limit: awayLimit, signal });
    return items.find(({ metadata }) => metadata.uid === uid)?.metadata.labels?.[meshLabel];
  }
}
