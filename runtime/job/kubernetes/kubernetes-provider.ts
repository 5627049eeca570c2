/**
 * Gives pods of Kubernetes as hosts: those of Indexed Jobs that it makes, one for each mesh, or those that are there. The API server is the only
 * place where it keeps what it has made: one ConfigMap owns all objects of a run, whose labels tell the run.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorMessage } from "../../../shared/text/error-message.js";
import { holding } from "../batch/batch-run.js";
import type { ClientOutcome } from "../batch/client.js";
import { hostUri } from "../credentials/credentials-folder.js";
import type { SharedWith } from "../credentials/index.js";
import type { DialHost } from "../kernel.js";
import { formatPlace, type HostPlace, hostPlaces } from "../mesh-spec.js";
import type {
  Delivery,
  GrowOptions,
  JobLogLine,
  JobProvider,
  LogRequest,
  ReadyHost,
  Report,
  Submission,
} from "../provider.js";
import type { JobRecord } from "../record/job-record.js";
import { awayLimit, retrying } from "../retry.js";
import { openAccess } from "./api/cluster-access.js";
import { HttpApi } from "./api/http-api.js";
import type { ApiObject, KubernetesApi } from "./api/kubernetes-api.js";
import { checkCommand, commandJobName } from "./batch/check-command.js";
import { commandOutcome, commandStart } from "./batch/command-end.js";
import { checkResizer, commandSecret, hasCommand, isOfCommand, podsOfCommand } from "./batch/command-run.js";
import { CommandWatch } from "./batch/command-watch.js";
import { deliverCommand } from "./batch/deliver.js";
import { suspendHosts } from "./batch/end-hosts.js";
import { tokenName } from "./batch/private-files.js";
import { DescribedJob, type KubernetesAllocation, makesPods } from "./described-job.js";
import { destroyRun } from "./destroy-run.js";
import { isProvisioned, type KubernetesSpec } from "./kubernetes-spec.js";
import { jobObjects } from "./manifest/job-objects.js";
import { commandMesh, hostPort, meshObjectName, runLabel } from "./manifest/layout.js";
import type { Labels } from "./manifest/objects.js";
import { HeldJobs, reportHolds, whyDeleted } from "./pods/held-jobs.js";
import { JobComplaints } from "./pods/job-complaints.js";
import { endOf, jobsEnd } from "./pods/job-ends.js";
import { joined } from "./pods/joined.js";
import { endLostHost } from "./pods/lost-host.js";
import { PodFeed } from "./pods/pod-feed.js";
import { readPodLogs } from "./pods/pod-logs.js";
import { PodLosses } from "./pods/pod-losses.js";
import type { PodSigner } from "./pods/pod-signer.js";
import { podSources, runSelector } from "./pods/pod-sources.js";
import { currentPods, hostsIn, type PodFacts, type PodState } from "./pods/pod-state.js";
import { HostWait } from "./pods/ready-hosts.js";
import { ReplacementDelay } from "./pods/replacement-delay.js";
import { PodReach, type ReachChoice } from "./reach/pod-reach.js";
import { signerOfRun } from "./run-signer.js";
import { sharedData, takeSharedRun } from "./shared-run.js";
import { JobSizing } from "./size/job-sizing.js";
import { applyObjects, jobRun, provisionedMeshes, recordForPods } from "./submission.js";

/** Time in ms that hosts wait for a driver, if they are to end with it. */
const driverEndMs = 60_000;

/** Time in ms for a host that the driver has lost to be replaced by itself. Its pod is ended when it is not. */
const fenceMs = 3000;

/** The additions of the controller for provisioning to the jobs that it submits. */
export interface ProviderHooks {
  /** Further peers of the NetworkPolicy, which may connect to the pods. */
  readonly peers?: readonly object[];
  /** The annotations of the owner of all objects of a run. */
  readonly annotations?: Labels;
  /** Keeps the credentials of a run elsewhere, too, after each change of them. */
  readonly saveCredentials?: () => Promise<void>;
}

export class KubernetesProvider extends DescribedJob implements JobProvider<KubernetesAllocation> {
  readonly #spec: KubernetesSpec;
  readonly #reach: PodReach;
  readonly #hooks: ProviderHooks;
  #opened: Promise<KubernetesApi> | undefined;
  /** The pods of each run, by its id. */
  readonly #feeds = new Map<string, PodFeed>();
  readonly #sizings = new Map<string, JobSizing>();
  /** The watch of what the Jobs of each run report, by its id. */
  readonly #complaints = new Map<string, JobComplaints>();

  constructor(spec: KubernetesSpec, reach: ReachChoice, hooks: ProviderHooks = {}) {
    super(spec, reach);
    this.#spec = spec;
    this.#hooks = hooks;
    this.#reach = new PodReach(() => this.#api(), reach);
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
      shared: this.#spec.share ? await sharedData(record, credentials, token, "drivers") : undefined,
      // A token gives all rights.
      viewed:
        this.#spec.share && credentials !== undefined
          ? await sharedData(record, credentials, token, "viewers")
          : undefined,
      hasCommand,
      peers: this.#hooks.peers,
      annotations: this.#hooks.annotations,
    });
    const owner = await applyObjects(api, jobObjects(this.#spec, run), signal);
    return { applyId, owner, folder, ...(hasCommand ? { hasCommand } : {}) };
  }

  async deliver(allocation: KubernetesAllocation, delivery: Delivery): Promise<void> {
    const api = await this.#api();
    const signer = await this.#signer(api, allocation);
    const hostOf = async (pod: PodFacts) => {
      await this.#decideReach(pod);
      return this.#readyHost(allocation, pod);
    };
    const shared = { feed: this.#feed(allocation), complaints: this.#complaintsOf(allocation) };
    const run = { spec: this.#spec, api, ...shared, folder: allocation.folder, signer, hostOf };
    await deliverCommand(run, delivery);
  }

  async find(applyId: string, folder: string): Promise<KubernetesAllocation | undefined> {
    if (!this.#makesPods) return undefined;
    const owner = await this.#owner(await this.#api());
    if (owner?.metadata.labels?.[runLabel] !== applyId) return undefined;
    return { applyId, owner: owner.metadata.uid!, folder, ...(hasCommand(owner) ? { hasCommand: true } : {}) };
  }

  async findShared(folderOf: (applyId: string) => string, who: SharedWith): Promise<JobRecord | undefined> {
    const record = await takeSharedRun(await this.#api(), this.#spec, folderOf, who);
    const allocation = record && (await this.find(record.applyId, record.folder));
    return allocation && { ...record!, allocation: { ...allocation, isShared: true } };
  }

  async outcome(allocation: KubernetesAllocation): Promise<ClientOutcome | undefined> {
    return allocation.hasCommand ? commandOutcome(await this.#commandPods(allocation.applyId)) : undefined;
  }

  async startOf(allocation: KubernetesAllocation): Promise<number | undefined> {
    return allocation.hasCommand ? commandStart(await this.#commandPods(allocation.applyId)) : undefined;
  }

  async dialPort(allocation: KubernetesAllocation, place: HostPlace, port: number): Promise<DialHost | undefined> {
    const key = formatPlace(place);
    const pod = await holding(
      this.#feed(allocation).until((state) => currentPods(state).get(key), AbortSignal.timeout(awayLimit)),
    );
    await this.#decideReach(pod);
    return this.#reach.dialOf(pod.name, port);
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
    const held = new HeldJobs(this.#jobNames(false), () => wait.lookAgain());
    const wait = new HostWait(this.#spec, isAgain, report, { heldBy: (job) => held.reasonOf(job) });
    const leave = this.#tellComplaints(allocation, report, wait);
    const telling = new AbortController();
    if (this.#makesPods) {
      const either = AbortSignal.any([signal, telling.signal]);
      const selector = runSelector(this.#spec.name, allocation.applyId);
      held.follow(await this.#api(allocation.isInside), selector, this.#hasQueue, either).catch(() => {});
    }
    try {
      const pods = await holding(this.#feed(allocation).until((state) => wait.look(state), signal));
      await this.#decideReach(pods[0]!);
      return pods.map((pod) => this.#readyHost(allocation, pod));
    } catch (cause) {
      const why = [this.#feed(allocation).awayReason, wait.reason].filter((text) => text).join("; ");
      if (!signal.aborted || why === "") throw cause;
      throw new Error(why, { cause });
    } finally {
      telling.abort();
      leave();
    }
  }

  /** Tells of the hosts that are up, now and after each change. @throws the reason of `signal`; KubernetesError if the pods cannot be watched */
  follow(
    allocation: KubernetesAllocation,
    see: (hosts: readonly ReadyHost[]) => void,
    signal: AbortSignal,
  ): Promise<never> {
    return this.#feed(allocation).until<never>((state) => {
      const up = [...currentPods(hostsIn(state)).values()].filter(({ isReady }) => isReady);
      see(up.map((pod) => this.#readyHost(allocation, pod)));
      return undefined;
    }, signal);
  }

  async returned(
    allocation: KubernetesAllocation,
    lost: ReadyHost,
    report: Report,
    signal: AbortSignal,
  ): Promise<ReadyHost> {
    const { mesh, rank } = lost;
    const key = formatPlace(lost);
    const feed = this.#feed(allocation);
    const wait = new HostWait(this.#spec, true, report);
    const tell = (reason: string) => report({ kind: "pending", mesh, rank, reason });
    const isBack = (state: PodState) => {
      const pod = currentPods(state).get(key);
      const host = pod && this.#readyHost(allocation, pod);
      const isSame = host?.address === lost.address && pod!.startedAt <= (lost.incarnation ?? 0);
      if (pod?.isReady && !isSame) return host;
      if (feed.awayReason !== undefined) tell(feed.awayReason);
      // A pod that is Ready, and that the driver does not reach, is ended below.
      else if (!pod?.isReady) wait.explain(lost, isSame && (pod?.isOver || pod?.isEnding) ? undefined : pod);
      return undefined;
    };
    const leave = this.#tellComplaints(allocation, report, wait);
    const end = async () => {
      const isOwn = isProvisioned(this.#spec.meshes[mesh]!);
      if (isOwn) await endLostHost(await this.#api(allocation.isInside), feed, lost, { signal, tell });
    };
    const fence = setTimeout(() => void end().catch((error: unknown) => tell(errorMessage(error))), fenceMs);
    const ending = new AbortController();
    const either = AbortSignal.any([signal, ending.signal]);
    try {
      const gone = this.#sizing(allocation).known.untilGone([lost], either);
      return await holding(Promise.race([gone, feed.until(isBack, either)]));
    } finally {
      ending.abort();
      leave();
      clearTimeout(fence);
    }
  }

  async grow(
    allocation: KubernetesAllocation,
    places: readonly HostPlace[],
    _options: GrowOptions,
    report: Report,
    signal: AbortSignal,
  ): Promise<readonly ReadyHost[]> {
    checkResizer(allocation);
    const pods = await this.#sizing(allocation).grow(places, report, signal);
    return pods.map((pod) => this.#readyHost(allocation, pod));
  }

  async shrink(allocation: KubernetesAllocation, mesh: string, hosts: number): Promise<() => Promise<void>> {
    checkResizer(allocation);
    return this.#sizing(allocation).shrink(mesh, hosts);
  }

  async sizes(allocation: KubernetesAllocation): Promise<Readonly<Record<string, number>>> {
    const jobs = this.#makesPods ? await this.#jobs(await this.#api(allocation.isInside), allocation.applyId) : [];
    return this.#sizing(allocation).sizesOf(jobs);
  }

  async watch(allocation: KubernetesAllocation, report: Report, signal: AbortSignal): Promise<string> {
    const ending = new AbortController();
    const either = AbortSignal.any([signal, ending.signal]);
    const { hasCommand = false, isInside = false, isShared = false, isReadOnly = false } = allocation;
    const api = await this.#api(isInside);
    // The pod of a command, or the machine that has submitted the run, signs for the hosts.
    const signer =
      hasCommand || isInside || isShared || isReadOnly ? undefined : await this.#signer(api, allocation, either);
    const reasons = Object.fromEntries(
      Object.keys(this.meshes).map((mesh) => [mesh, joined(() => this.#whyDeleted(api, mesh))]),
    );
    const sizes = this.#sizing(allocation).known;
    const losses = new PodLosses(report, {
      whyDeleted: (mesh) => reasons[mesh]!(),
      whyGone: (place) => sizes.whyGone(place),
    });
    const isReplaced = () => this.#replaces(api, allocation);
    const delay = new ReplacementDelay({ api, isReplaced, now: Date.now, report });
    const command = new CommandWatch();
    const seen = this.#feed(allocation).until<never>((state) => {
      const hosts = hostsIn(state);
      signer?.seePods(hosts);
      losses.see(hosts);
      if (this.#makesPods && !isReadOnly) delay.see(hosts);
      command.see(state);
      return undefined;
    }, either);
    const selector = runSelector(this.#spec.name, allocation.applyId);
    const holds = reportHolds(report);
    const see = (job: ApiObject) => {
      if (isOfCommand(job)) return;
      holds(job);
      sizes.see(job);
    };
    const ended = this.#makesPods ? [jobsEnd(api, selector, this.#jobNames(hasCommand), either, see)] : [];
    try {
      const reason = await Promise.race([seen, ...ended]);
      // The pod of the command has ended them, unless it was killed. They end by themselves if this program may not do it.
      if (hasCommand && !isReadOnly) await suspendHosts(api, allocation.applyId).catch(() => {});
      return command.explain(reason);
    } finally {
      ending.abort();
      signer?.close();
    }
  }

  /** Deletes the owner, and with it all that the job has made. Pods that were there before stay. */
  async destroy({ applyId, owner }: KubernetesAllocation): Promise<void> {
    if (owner !== null) await destroyRun(await this.#api(), this.#spec, applyId, owner);
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
    return makesPods(this.#spec);
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

  /** Reports why the Jobs of hosts cannot make pods. @returns a function that ends it */
  #tellComplaints(allocation: KubernetesAllocation, report: Report, wait: HostWait): () => void {
    if (!this.#makesPods) return () => {};
    const ofHosts: Report = (event) => event.mesh !== commandMesh && report(event);
    return this.#complaintsOf(allocation).listen({ report: ofHosts, onDenied: (reason) => wait.denied(reason) });
  }

  #complaintsOf({ applyId, isInside }: KubernetesAllocation): JobComplaints {
    const selector = runSelector(this.#spec.name, applyId);
    const known = this.#complaints.get(applyId) ?? new JobComplaints(() => this.#api(isInside), selector);
    this.#complaints.set(applyId, known);
    return known;
  }

  #feed({ applyId, isInside }: KubernetesAllocation): PodFeed {
    const known = this.#feeds.get(applyId) ?? new PodFeed(() => this.#api(isInside), podSources(this.#spec, applyId));
    this.#feeds.set(applyId, known);
    return known;
  }

  get #hasQueue(): boolean {
    const { queue, meshes } = this.#spec;
    const own = Object.values(meshes).some((mesh) => isProvisioned(mesh) && mesh.compute.queue !== undefined);
    return queue !== null || own;
  }

  /** Returns why the pods of a mesh are deleted, if its Job was suspended. Pods of others can be deleted for any reason. */
  async #whyDeleted(api: KubernetesApi, mesh: string): Promise<string | undefined> {
    if (!isProvisioned(this.#spec.meshes[mesh]!)) return undefined;
    const job = await api.get("Job", meshObjectName(this.#spec.name, mesh));
    return job && whyDeleted(job);
  }

  #sizing(allocation: KubernetesAllocation): JobSizing {
    const { applyId, folder, isInside } = allocation;
    const own = { spec: this.#spec, applyId, folder, tokenFile: join(folder, tokenName), tls: this.tls };
    const shared = { feed: this.#feed(allocation), complaints: this.#complaintsOf(allocation) };
    const known = this.#sizings.get(applyId) ?? new JobSizing({ ...own, ...shared, api: () => this.#api(isInside) });
    this.#sizings.set(applyId, known);
    return known;
  }

  #owner(api: KubernetesApi): Promise<ApiObject | undefined> {
    return retrying(() => api.get("ConfigMap", this.#spec.name), { limit: awayLimit });
  }

  async #commandPods(applyId: string): Promise<readonly ApiObject[]> {
    return podsOfCommand(await this.#api(), this.#spec.name, applyId);
  }

  /** Returns the Jobs of a run, also that of its command. */
  async #jobs(api: KubernetesApi, applyId: string): Promise<readonly ApiObject[]> {
    const labelSelector = runSelector(this.#spec.name, applyId);
    return (await retrying(() => api.list("Job", { labelSelector }), { limit: awayLimit })).items;
  }

  /** @param names the Jobs with whose end the run ends */
  async #jobsLive(api: KubernetesApi, applyId: string, names: readonly string[]): Promise<boolean> {
    const found = (await this.#jobs(api, applyId)).filter(({ metadata }) => names.includes(metadata.name!));
    return found.length === names.length && found.every((job) => endOf(job) === undefined);
  }

  /** Returns whether the Jobs of the hosts of a run replace failed pods. */
  async #replaces(api: KubernetesApi, { applyId }: KubernetesAllocation): Promise<boolean> {
    const hosts = (await this.#jobs(api, applyId)).filter((job) => !isOfCommand(job));
    return hosts.every(({ spec }) => (spec as { backoffLimitPerIndex?: number }).backoffLimitPerIndex !== 0);
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
    await destroyRun(api, this.#spec, run, uid);
  }

  /** @param signal ends the questions whether pods with new certificates listen; without it, none are asked */
  async #signer(
    api: KubernetesApi,
    allocation: KubernetesAllocation,
    signal?: AbortSignal,
  ): Promise<PodSigner | undefined> {
    if (this.tls === null) return undefined;
    const run = {
      spec: this.#spec,
      allocation,
      lifetime: this.tls.lifetime,
      reach: this.#reach,
      save: this.#hooks.saveCredentials,
      addressOf: (pod: PodFacts) => this.#readyHost(allocation, pod).address,
      answered: (pod: PodFacts) => this.#feed(allocation).answered(pod),
    };
    return signerOfRun(api, run, signal);
  }

  async #decideReach({ name, ip = "", port = hostPort }: PodFacts): Promise<void> {
    await this.#reach.decide({ name, ip }, port);
  }

  #readyHost({ applyId, folder }: KubernetesAllocation, pod: PodFacts): ReadyHost {
    const { place, ip = "", port = hostPort, startedAt } = pod;
    const at = `${ip.includes(":") ? `[${ip}]` : ip}:${port}`;
    const dial = this.#reach.dialOf(pod.name, port);
    const known = { ...place, incarnation: startedAt, ...(dial === undefined ? {} : { dial }) };
    if (this.tls !== null) return { ...known, address: `tls://${at}#${hostUri(applyId, place)}` };
    const token = this.#makesPods ? readFileSync(join(folder, tokenName), "utf8") : process.env["VICEROY_TOKEN"];
    return { ...known, address: `tcp://${at}`, ...(token === undefined ? {} : { token }) };
  }
}
