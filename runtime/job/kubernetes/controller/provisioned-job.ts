/**
 * The life of the hosts of one request: submitted, or found again after a restart of the controller; signed for and watched while their lease is
 * renewed; and ended with their owner.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { errorMessage } from "../../../../shared/text/error-message.js";
import { credentialsFolder } from "../../credentials/credentials-folder.js";
import { createCredentials, issueShared } from "../../credentials/index.js";
import { hostPlaces } from "../../mesh-spec.js";
import type { ReadyHost } from "../../provider.js";
import { draftRecord } from "../../record/draft-record.js";
import { formatRecord, type JobRecord } from "../../record/job-record.js";
import { awayLimit, retrying } from "../../retry.js";
import type { KubernetesApi } from "../api/kubernetes-api.js";
import { Compute } from "../compute/compute.js";
import type { KubernetesAllocation } from "../described-job.js";
import { KubernetesProvider } from "../kubernetes-provider.js";
import { checkKubernetesJob, type KubernetesSpec } from "../kubernetes-spec.js";
import { jobLabel } from "../manifest/layout.js";
import { observe } from "../pods/observe.js";
import type { LostHost, ProvisionGrant } from "../provision/protocol.js";
import type { ControllerLog } from "./controller-log.js";
import { ProvisionedState } from "./provisioned-state.js";
import { type SavedProvision, savedName, savedSecret } from "./saved-provision.js";

/** Time in ms between attempts to watch or to end hosts that have failed. */
const againMs = 5000;

/** The labels of the pod of the controller, which connects to the pods to sign their certificates. */
export const controllerLabels = { "app.kubernetes.io/name": "viceroy-controller" };

/** All provisioned jobs of a controller share these parts of it. */
export interface ControllerPlace {
  /** The API server, in the namespace of the controller, and in another one. */
  readonly api: KubernetesApi;
  apiOf(namespace: string): KubernetesApi;
  readonly kubeconfig: string | null;
  /** A private folder, which may be empty after a restart. */
  readonly folder: string;
  /** The time in ms after which hosts end whose owner has not renewed the lease. */
  readonly lease: number;
  /** The text and the first number of events that tell this start of the controller from others. */
  readonly epoch: string;
  readonly now: () => number;
  readonly log: ControllerLog;
}

export class ProvisionedJob {
  readonly saved: SavedProvision;
  readonly state: ProvisionedState;
  readonly #place: ControllerPlace;
  readonly #spec: KubernetesSpec;
  readonly #provider: KubernetesProvider;
  readonly #folder: string;
  readonly #leaving = new AbortController();
  #submitting: Promise<KubernetesAllocation> | undefined;
  #allocation: KubernetesAllocation | undefined;
  #ending: Promise<void> | undefined;
  #renewedAt: number;
  /** The time at which nothing of the hosts was left; infinity until then. */
  endedAt = Number.POSITIVE_INFINITY;

  /** @throws TypeError, RangeError if Kubernetes would refuse a name */
  constructor(place: ControllerPlace, saved: SavedProvision) {
    this.#place = place;
    this.saved = saved;
    this.#folder = runFolder(place.folder, saved);
    this.#spec = specOf(place, saved);
    this.state = new ProvisionedState(place.epoch, place.now());
    this.#renewedAt = place.now();
    const { id, asker } = saved;
    this.#provider = new KubernetesProvider(this.#spec, "direct", {
      peers: [
        {
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": place.api.namespace } },
          podSelector: { matchLabels: controllerLabels },
        },
      ],
      annotations: {
        "viceroy/owner": `${asker.namespace}/${asker.pod}`,
        "viceroy/owner-uid": asker.uid,
        "viceroy/rule": saved.rule,
        "viceroy/provision": id,
      },
      saveCredentials: () => this.#save(),
    });
  }

  /** Whether nothing of the hosts is left. */
  get isOver(): boolean {
    return this.endedAt !== Number.POSITIVE_INFINITY;
  }

  get isEnding(): boolean {
    return this.#ending !== undefined;
  }

  /** Whether nobody has renewed the lease in time. */
  get isExpired(): boolean {
    return this.#place.now() - this.#renewedAt > this.#place.lease;
  }

  renew(): void {
    this.#renewedAt = this.#place.now();
  }

  /**
   * Makes the credentials and the objects of the hosts, and begins to watch them.
   * @throws KubernetesError, Error if the API server refuses; nothing is left then
   */
  async submit(): Promise<ProvisionGrant> {
    const { id, applyId, name, namespace } = this.saved;
    try {
      this.#submitting = this.#submit();
      this.#allocation = await this.#submitting;
      const credentials = issueShared(credentialsFolder(this.#folder), "drivers");
      this.#begin();
      this.#place.log("submitted", { id, name, namespace });
      return { id, name, namespace, applyId, credentials };
    } catch (error) {
      await this.end(errorMessage(error));
      throw error;
    }
  }

  async #submit(): Promise<KubernetesAllocation> {
    const { applyId, name, request } = this.saved;
    const folder = credentialsFolder(this.#folder);
    const secrets = createCredentials(folder, applyId, hostPlaces(sizes(this.#spec)), this.#spec.tls!.lifetime);
    await this.#save();
    return this.#provider.submit({
      name,
      applyId,
      folder: this.#folder,
      credentials: { folder, secrets },
      idle: this.#place.lease,
      lostTimeout: request.lostTimeout,
      record: formatRecord(this.#record()),
      signal: this.#leaving.signal,
    });
  }

  /** Goes on with hosts that an earlier controller has submitted. @returns false if it has made none */
  async restore(): Promise<boolean> {
    this.#allocation = await this.#provider.find(this.saved.applyId, this.#folder);
    if (this.#allocation === undefined) return false;
    this.#begin();
    return true;
  }

  /**
   * Ends a host that the owner does not reach, unless Kubernetes replaces it first.
   * @param told the body of a request, which names one of the hosts; what it says more is not believed
   */
  lost(told: unknown): void {
    const { mesh, rank, incarnation } = (told ?? {}) as Partial<LostHost>;
    const host = this.state.lastUp(mesh, rank, incarnation);
    const { lostTimeout } = this.saved.request;
    // A host that was replaced meanwhile is none of those that run.
    if (host === undefined || this.#allocation === undefined || lostTimeout === 0) return;
    const signal = AbortSignal.any([this.#leaving.signal, AbortSignal.timeout(lostTimeout)]);
    // The state tells when it is back.
    this.#provider.returned(this.#allocation, host, this.state.report, signal).catch(() => {});
  }

  /** Ends the hosts, and resolves when nothing of them is left. Idempotent; the first reason stays. */
  end(reason: string): Promise<void> {
    this.#ending ??= this.#end(reason);
    return this.#ending;
  }

  /** Leaves the hosts running, because the controller ends. */
  leave(): void {
    this.#leaving.abort();
  }

  async #end(reason: string): Promise<void> {
    const { id, name, namespace } = this.saved;
    this.#place.log("ends", { id, name, namespace, reason });
    this.state.end(reason);
    this.#leaving.abort();
    this.#allocation ??= await this.#submitting?.catch(() => undefined);
    await this.#persist("ended", async () => {
      // A submission that was interrupted may have made its objects.
      const made = this.#allocation ?? (await this.#provider.find(this.saved.applyId, this.#folder));
      if (made !== undefined) await this.#provider.destroy(made);
      await this.#place.api.delete("Secret", savedName(id));
    });
    this.endedAt = this.#place.now();
    rmSync(this.#folder, { recursive: true, force: true });
    this.#place.log("ended", { id, name, namespace });
  }

  #begin(): void {
    const allocation = this.#allocation!;
    const { signal } = this.#leaving;
    const see = (hosts: readonly ReadyHost[]) => this.state.see(hosts);
    void this.#persist("watched", async () => {
      const watched = this.#provider.watch(allocation, this.state.report, signal).then((reason) => this.end(reason));
      await Promise.race([watched, this.#provider.follow(allocation, see, signal)]);
    });
    this.#provider.hosts(allocation, this.state.report, signal).catch((error: unknown) => {
      if (!signal.aborted) void this.end(errorMessage(error));
    });
    void this.#persist("watched", () => this.#watchOwner());
  }

  /** Ends the hosts when the pod that has asked for them is gone. */
  async #watchOwner(): Promise<void> {
    const { namespace, pod, uid } = this.saved.asker;
    const selection = { fieldSelector: `metadata.name=${pod}` };
    const gone = `the pod "${pod}" in namespace "${namespace}", which has asked for it, has ended`;
    for await (const seen of observe(this.#place.apiOf(namespace), "Pod", selection, this.#leaving.signal)) {
      if (seen.kind === "away") continue;
      const objects = seen.kind === "listed" ? seen.items : [seen.object];
      const own = objects.find(({ metadata }) => metadata.uid === uid);
      const phase = (own?.["status"] as { readonly phase?: string } | undefined)?.phase;
      const isGone = seen.kind === "listed" ? own === undefined : own !== undefined && seen.kind === "removed";
      if (isGone || phase === "Succeeded" || phase === "Failed") return void this.end(gone);
    }
  }

  /** Does something until it succeeds, or the hosts have ended otherwise. */
  async #persist(what: "watched" | "ended", act: () => Promise<void>): Promise<void> {
    const { id, name, namespace } = this.saved;
    for (;;) {
      try {
        return await act();
      } catch (error) {
        if (what === "watched" && this.#leaving.signal.aborted) return;
        this.#place.log("failed", { id, name, namespace, what, reason: errorMessage(error) });
        await pause(againMs, undefined, { ref: false });
      }
    }
  }

  async #save(): Promise<void> {
    const { api } = this.#place;
    const secret = savedSecret(api.namespace, this.saved, credentialsFolder(this.#folder));
    await retrying(() => api.apply(secret), { limit: awayLimit, signal: this.#leaving.signal });
  }

  #record(): JobRecord {
    const { applyId, name, submittedAt } = this.saved;
    return draftRecord(this.#provider, { name, applyId, submittedAt, folder: this.#folder });
  }
}

/** Returns the folder of a run. */
export function runFolder(folder: string, { id }: Pick<SavedProvision, "id">): string {
  return join(folder, id);
}

function sizes({ meshes }: KubernetesSpec): Readonly<Record<string, { readonly hosts: number }>> {
  return meshes;
}

function specOf({ kubeconfig }: ControllerPlace, { name, namespace, asker, request }: SavedProvision): KubernetesSpec {
  const meshes = Object.entries(request.meshes).map(([mesh, { hosts, ...spec }]) => {
    return [mesh, { hosts: hosts!, compute: Compute.fromJSON(spec) }] as const;
  });
  const drivers = {
    pods: { [jobLabel]: asker.job },
    namespaces: { "kubernetes.io/metadata.name": asker.namespace },
  };
  const options = { name, namespace, meshes: Object.fromEntries(meshes), drivers, cache: null, tls: true };
  const { spec } = checkKubernetesJob(kubeconfig === null ? options : { ...options, kubeconfig });
  return spec;
}
