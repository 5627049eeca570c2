/**
 * Gives pods of Kubernetes as hosts: those of Indexed Jobs that it makes, one for each mesh, or those that are there. The API server is the only
 * place where it keeps what it has made: one ConfigMap owns all objects of a run, whose labels tell the run.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { holding } from "../batch/batch-run.js";
import type { ClientOutcome } from "../batch/client.js";
import { hostUri } from "../credentials/credentials-folder.js";
import type { TlsSpec } from "../job-options.js";
import { formatPlace, hostPlaces } from "../mesh-spec.js";
import type {
  Delivery,
  JobLogLine,
  JobProvider,
  Json,
  LogRequest,
  ReadyHost,
  Report,
  StartTimeout,
  Submission,
} from "../provider.js";
import { openAccess } from "./api/cluster-access.js";
import { HttpApi } from "./api/http-api.js";
import type { ApiObject, KubernetesApi } from "./api/kubernetes-api.js";
import { retrying } from "./api/retry.js";
import { checkCommand, commandJobName } from "./batch/check-command.js";
import { commandOutcome, commandStart } from "./batch/command-end.js";
import { commandSecret, hasCommand, podsOfCommand } from "./batch/command-run.js";
import { CommandWatch } from "./batch/command-watch.js";
import { deliverCommand } from "./batch/deliver.js";
import { suspendHosts } from "./batch/end-hosts.js";
import { tokenName } from "./batch/private-files.js";
import { isProvisioned, type KubernetesSpec } from "./kubernetes-spec.js";
import { jobObjects } from "./manifest/job-objects.js";
import { hostPort, meshObjectName, runLabel } from "./manifest/layout.js";
import { endOf, jobsEnd, reportJobEvents } from "./pods/job-ends.js";
import { PodFeed } from "./pods/pod-feed.js";
import { readPodLogs } from "./pods/pod-logs.js";
import { PodLosses } from "./pods/pod-losses.js";
import type { PodSigner } from "./pods/pod-signer.js";
import { podSources, runSelector } from "./pods/pod-sources.js";
import { currentPods, hostsIn, type PodFacts, type PodState } from "./pods/pod-state.js";
import { HostWait } from "./pods/ready-hosts.js";
import { ReplacementDelay } from "./pods/replacement-delay.js";
import { podSigner } from "./pods/sign-pods.js";
import { applyObjects, awayLimit, jobRun, provisionedMeshes, recordForPods } from "./submission.js";

/** A submitted job, as its record contains it. */
export type KubernetesAllocation = {
  readonly applyId: string;
  /** The id of the ConfigMap that owns the objects of the run; null if the job has made none. */
  readonly owner: string | null;
  /** The folder of the run on the machine of the driver, with its credentials. */
  readonly folder: string;
  /** Whether a command runs in a pod of its own, with which the run ends. Absent: false. */
  readonly hasCommand?: boolean;
  /** Whether this program runs in that pod. Absent: false. */
  readonly isInside?: boolean;
};

/** Time in ms that hosts wait for a driver, if they are to end with it. */
const driverEndMs = 60_000;

/** Time in ms for a host that the driver has lost to be replaced by itself, and in s for the pod to end when it is not. */
const fenceMs = 3000;
const fenceGrace = 5;

/** Time in ms for the objects and pods of a job to be gone after it was deleted. */
const destroyLimit = 120_000;

/** Number of pods that are deleted at the same time. */
const parallelDeletes = 16;

export class KubernetesProvider implements JobProvider<KubernetesAllocation> {
  readonly kind = "kubernetes";
  readonly #spec: KubernetesSpec;
  #opened: Promise<KubernetesApi> | undefined;
  /** The pods of each run, by its id. */
  readonly #feeds = new Map<string, PodFeed>();

  constructor(spec: KubernetesSpec) {
    this.#spec = spec;
  }

  get spec(): Json {
    return this.#spec as unknown as Json;
  }

  get tls(): TlsSpec | null {
    return this.#makesPods ? this.#spec.tls : null;
  }

  get meshes(): Readonly<Record<string, { readonly hosts: number }>> {
    const sizes = Object.entries(this.#spec.meshes).map(([name, { hosts }]) => [name, { hosts }]);
    return Object.fromEntries(sizes);
  }

  get startTimeouts(): Readonly<Record<string, StartTimeout>> {
    const own = Object.entries(this.#spec.meshes).flatMap(([name, mesh]) => {
      const ms = isProvisioned(mesh) ? mesh.compute.launchTimeout : undefined;
      return ms === undefined ? [] : [[name, { ms, option: `launchTimeout of mesh "${name}"` }] as const];
    });
    return Object.fromEntries(own);
  }

  /** @throws KubernetesError, Error if the cluster cannot be reached, refuses an object, or has a job of this name already */
  async submit(submission: Submission): Promise<KubernetesAllocation> {
    const { applyId, folder, credentials, idle = driverEndMs, lostTimeout, client, record, signal } = submission;
    const hasCommand = client !== undefined;
    if (hasCommand) checkCommand(this.#spec);
    const api = await this.#api();
    if (!this.#makesPods) return { applyId, owner: null, folder };
    await this.#clear(api);
    const token = randomBytes(32).toString("base64url");
    if (credentials === undefined) writeFileSync(join(folder, tokenName), token, { mode: 0o600 });
    const places = hostPlaces(provisionedMeshes(this.#spec));
    const tokens = () => Object.fromEntries(places.map((place) => [hostUri(applyId, place), token]));
    const own = credentials?.secrets ?? tokens();
    const secrets = hasCommand ? { ...own, ...(await commandSecret(submission, token)) } : own;
    const holder = hasCommand ? commandJobName(this.#spec) : undefined;
    const run = jobRun(this.#spec, {
      applyId,
      lostTimeout,
      idle,
      secrets,
      record: recordForPods(record, holder),
      hasCommand,
    });
    const owner = await applyObjects(api, jobObjects(this.#spec, run), signal);
    return { applyId, owner, folder, ...(hasCommand ? { hasCommand } : {}) };
  }

  async deliver(allocation: KubernetesAllocation, delivery: Delivery): Promise<void> {
    const api = await this.#api();
    const signer = await this.#signer(api, allocation);
    const hostOf = (pod: PodFacts) => this.#readyHost(allocation, pod);
    const run = { spec: this.#spec, api, feed: this.#feed(allocation), folder: allocation.folder, signer, hostOf };
    await deliverCommand(run, delivery);
  }

  async find(applyId: string, folder: string): Promise<KubernetesAllocation | undefined> {
    if (!this.#makesPods) return undefined;
    const owner = await this.#owner(await this.#api());
    if (owner?.metadata.labels?.[runLabel] !== applyId) return undefined;
    return { applyId, owner: owner.metadata.uid!, folder, ...(hasCommand(owner) ? { hasCommand: true } : {}) };
  }

  ownAllocation(applyId: string, folder: string): KubernetesAllocation {
    return { applyId, owner: null, folder, isInside: true };
  }

  async outcome(allocation: KubernetesAllocation): Promise<ClientOutcome | undefined> {
    return allocation.hasCommand ? commandOutcome(await this.#commandPods(allocation.applyId)) : undefined;
  }

  async startOf(allocation: KubernetesAllocation): Promise<number | undefined> {
    return allocation.hasCommand ? commandStart(await this.#commandPods(allocation.applyId)) : undefined;
  }

  async isAlive({ applyId, owner, isInside }: KubernetesAllocation): Promise<boolean> {
    const api = await this.#api(isInside);
    if (owner === null) return true;
    const found = await this.#owner(api);
    if (found?.metadata.uid !== owner) return false;
    return this.#jobsLive(api, applyId, this.#jobNames(hasCommand(found)));
  }

  async hosts(
    allocation: KubernetesAllocation,
    report: Report,
    signal: AbortSignal,
    isAgain = false,
  ): Promise<readonly ReadyHost[]> {
    const wait = new HostWait(this.#spec, isAgain, report);
    const telling = new AbortController();
    if (this.#makesPods) {
      const either = AbortSignal.any([signal, telling.signal]);
      reportJobEvents(await this.#api(allocation.isInside), this.#jobNames(false), report, either).catch(() => {});
    }
    try {
      const pods = await holding(this.#feed(allocation).until((state) => wait.look(state), signal));
      return pods.map((pod) => this.#readyHost(allocation, pod));
    } catch (cause) {
      const why = [this.#feed(allocation).awayReason, wait.reason].filter((text) => text).join("; ");
      if (!signal.aborted || why === "") throw cause;
      throw new Error(why, { cause });
    } finally {
      telling.abort();
    }
  }

  async returned(
    allocation: KubernetesAllocation,
    lost: ReadyHost,
    _report: Report,
    signal: AbortSignal,
  ): Promise<ReadyHost> {
    const key = formatPlace(lost);
    const isBack = (state: PodState) => {
      const pod = currentPods(state).get(key);
      if (!pod?.isReady) return undefined;
      const host = this.#readyHost(allocation, pod);
      return host.address !== lost.address || pod.startedAt > (lost.incarnation ?? 0) ? host : undefined;
    };
    const feed = this.#feed(allocation);
    const fence = setTimeout(() => void this.#fence(allocation, lost, signal), fenceMs);
    try {
      return await holding(feed.until(isBack, signal));
    } finally {
      clearTimeout(fence);
    }
  }

  async watch(allocation: KubernetesAllocation, report: Report, signal: AbortSignal): Promise<string> {
    const ending = new AbortController();
    const either = AbortSignal.any([signal, ending.signal]);
    const { hasCommand = false, isInside = false } = allocation;
    const api = await this.#api(isInside);
    // The pod of a command signs for the hosts.
    const signer = hasCommand || isInside ? undefined : await this.#signer(api, allocation);
    const losses = new PodLosses(report);
    const delay = new ReplacementDelay({ api, isReplaced: () => this.#replaces(api, allocation), now: Date.now });
    const command = new CommandWatch();
    const seen = this.#feed(allocation).until<never>((state) => {
      const hosts = hostsIn(state);
      signer?.see(hosts);
      losses.see(hosts);
      if (this.#makesPods) delay.see(hosts);
      command.see(state);
      return undefined;
    }, either);
    const selector = runSelector(this.#spec.name, allocation.applyId);
    const ended = this.#makesPods ? [jobsEnd(api, selector, this.#jobNames(hasCommand), either)] : [];
    try {
      const reason = await Promise.race([seen, ...ended]);
      // The pod of the command has ended them, unless it was killed. They end by themselves if this program may not do it.
      if (hasCommand) await suspendHosts(api, allocation.applyId).catch(() => {});
      return command.explain(reason);
    } finally {
      ending.abort();
      signer?.close();
    }
  }

  /** Deletes the owner, and with it all that the job has made. Pods that were there before stay. */
  async destroy({ applyId, owner }: KubernetesAllocation): Promise<void> {
    if (owner !== null) await this.#destroy(await this.#api(), applyId, owner);
  }

  async *logs(allocation: KubernetesAllocation, request: LogRequest): AsyncGenerator<JobLogLine, void> {
    const { hasCommand = false, isInside } = allocation;
    const api = await this.#api(isInside);
    const selector = runSelector(this.#spec.name, allocation.applyId);
    const ended = (signal: AbortSignal) =>
      this.#makesPods ? jobsEnd(api, selector, this.#jobNames(hasCommand), signal) : new Promise<never>(() => {});
    yield* readPodLogs(api, this.#feed(allocation), request, request.follow ? ended : undefined);
  }

  get #makesPods(): boolean {
    return Object.values(this.#spec.meshes).some(isProvisioned);
  }

  /** Returns the names of the Jobs with whose end a run ends: those of its hosts, or that of its command. */
  #jobNames(hasCommand: boolean): string[] {
    if (hasCommand) return [commandJobName(this.#spec)];
    return Object.keys(provisionedMeshes(this.#spec)).map((mesh) => meshObjectName(this.#spec.name, mesh));
  }

  /**
   * Returns the API server. A failed attempt to find it is made again.
   * @param isInside whether this program runs in the pod of the command, which has no kubeconfig file
   */
  #api(isInside = false): Promise<KubernetesApi> {
    const options = isInside ? { kubeconfig: null, context: null } : this.#spec;
    this.#opened ??= openAccess(options).then((access) => new HttpApi(access, this.#spec.namespace));
    this.#opened.catch(() => {
      this.#opened = undefined;
    });
    return this.#opened;
  }

  #feed({ applyId, isInside }: KubernetesAllocation): PodFeed {
    const known = this.#feeds.get(applyId) ?? new PodFeed(() => this.#api(isInside), podSources(this.#spec, applyId));
    this.#feeds.set(applyId, known);
    return known;
  }

  #owner(api: KubernetesApi): Promise<ApiObject | undefined> {
    return retrying(() => api.get("ConfigMap", this.#spec.name), { limit: awayLimit });
  }

  async #commandPods(applyId: string): Promise<readonly ApiObject[]> {
    return podsOfCommand(await this.#api(), this.#spec.name, applyId);
  }

  /** @param names the Jobs with whose end the run ends */
  async #jobsLive(api: KubernetesApi, applyId: string, names: readonly string[]): Promise<boolean> {
    const labelSelector = runSelector(this.#spec.name, applyId);
    const { items } = await retrying(() => api.list("Job", { labelSelector }), { limit: awayLimit });
    const found = items.filter(({ metadata }) => names.includes(metadata.name!));
    return found.length === names.length && found.every((job) => endOf(job) === undefined);
  }

  /** Removes what an earlier run of the same name has left. @throws Error if that run goes on */
  async #clear(api: KubernetesApi): Promise<void> {
    const { name, namespace } = this.#spec;
    const owner = await this.#owner(api);
    if (owner === undefined) return;
    const { uid = "", labels = {} } = owner.metadata;
    const run = labels[runLabel];
    const whose = `namespace "${namespace}" has a ConfigMap "${name}" already`;
    if (run === undefined) throw new Error(`${whose}, which no job has made; give the job another name`);
    if (await this.#jobsLive(api, run, this.#jobNames(hasCommand(owner)))) {
      throw new Error(
        `${whose}, of a job of this name that runs as ${run}; kill that job, or give this one another name`,
      );
    }
    await this.#destroy(api, run, uid);
  }

  async #destroy(api: KubernetesApi, applyId: string, owner: string): Promise<void> {
    await retrying(() => api.delete("ConfigMap", this.#spec.name, { uid: owner }), { limit: awayLimit });
    const labelSelector = runSelector(this.#spec.name, applyId);
    const signal = AbortSignal.timeout(destroyLimit);
    try {
      // A Job that is not gone yet makes other pods.
      for (;;) {
        const { items } = await retrying(() => api.list("Job", { labelSelector }), { limit: awayLimit, signal });
        if (items.every(({ metadata }) => metadata.deletionTimestamp !== undefined)) break;
        await new Promise((resolve) => setTimeout(resolve, 200));
        signal.throwIfAborted();
      }
      const { items: pods } = await retrying(() => api.list("Pod", { labelSelector }), { limit: awayLimit, signal });
      const left = pods.map(({ metadata }) => metadata);
      const deleteNext = async (): Promise<void> => {
        for (let pod = left.pop(); pod !== undefined; pod = left.pop()) {
          await api.delete("Pod", pod.name!, { uid: pod.uid!, gracePeriodSeconds: fenceGrace });
        }
      };
      await Promise.all(Array.from({ length: parallelDeletes }, deleteNext));
      const feed = new PodFeed(async () => api, podSources(this.#spec, applyId).slice(0, 1));
      await holding(feed.until((state) => (state.size === 0 ? true : undefined), signal));
    } catch (cause) {
      if (!signal.aborted) throw cause;
      const { items } = await api.list("Pod", { labelSelector });
      const names = items.map(({ metadata }) => metadata.name).slice(0, 5);
      const text = `pods of the job are still there after ${destroyLimit} ms: ${names.join(", ")}; look with kubectl describe pod`;
      throw new Error(text, { cause });
    }
  }

  /** Ends the pod of a host that the driver has lost, and that goes on: what it runs belongs to nobody. */
  async #fence(allocation: KubernetesAllocation, lost: ReadyHost, signal: AbortSignal): Promise<void> {
    if (!isProvisioned(this.#spec.meshes[lost.mesh]!)) return;
    const find = (state: PodState) => currentPods(state).get(formatPlace(lost)) ?? null;
    const pod = await this.#feed(allocation)
      .until(find, signal)
      .catch(() => null);
    if (!pod?.isReady || pod.startedAt > (lost.incarnation ?? 0)) return;
    const api = await this.#api(allocation.isInside);
    await api.delete("Pod", pod.name, { uid: pod.uid, gracePeriodSeconds: fenceGrace }).catch(() => {});
  }

  async #signer(api: KubernetesApi, { applyId, folder }: KubernetesAllocation): Promise<PodSigner | undefined> {
    const { tls } = this;
    if (tls === null) return undefined;
    const credentials = await import("../credentials/index.js");
    return podSigner(api, { job: this.#spec.name, applyId, folder, lifetime: tls.lifetime }, credentials);
  }

  #readyHost({ applyId, folder }: KubernetesAllocation, { place, ip = "", port, startedAt }: PodFacts): ReadyHost {
    const at = `${ip.includes(":") ? `[${ip}]` : ip}:${port ?? hostPort}`;
    const known = { ...place, incarnation: startedAt };
    if (this.tls !== null) return { ...known, address: `tls://${at}#${hostUri(applyId, place)}` };
    const token = this.#makesPods ? readFileSync(join(folder, tokenName), "utf8") : process.env["VICEROY_TOKEN"];
    return { ...known, address: `tcp://${at}`, ...(token === undefined ? {} : { token }) };
  }
}

/** Makes the provider again from what a record contains. */
export function kubernetesProvider(spec: Json): KubernetesProvider {
  return new KubernetesProvider(spec as unknown as KubernetesSpec);
}
