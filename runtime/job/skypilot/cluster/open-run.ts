/** One run of a job in this program: its clusters, the secrets of its hosts, and the way to them. */
import { readFileSync } from "node:fs";
import { isIPv6 } from "node:net";
import type { PausablePipe } from "../../../link/transport/pipe.js";
import { connectTcp } from "../../../link/transport/tcp/connect.js";
import { hostUri } from "../../credentials/credentials-folder.js";
import { formatPlace, type HostPlace, hostPlaces } from "../../mesh-spec.js";
import type { ReadyHost, Report } from "../../provider.js";
import { LoginCommands } from "../../reach/login-commands.js";
import { NodeReach } from "../../reach/node-reach.js";
import { makeDaemonArchive } from "../../ssh/daemon-archive.js";
import type { SkyPilotApi } from "../api/skypilot-api.js";
import type { SkyPilotAccess, SkyPilotAllocation } from "../described-job.js";
import type { Announcement } from "../machine/host-lines.js";
import type { MachineOrder } from "../machine/machine-order.js";
import type { SkyPilotSpec } from "../skypilot-spec.js";
import { type ClusterPlan, planClusters } from "../task/plan-clusters.js";
import { skyPilotTask } from "../task/task.js";
import { ClusterRun, type RelaunchedHosts } from "./cluster-run.js";
import { clusterLogFile } from "./run-logs.js";
import { openSecrets, type RunSecrets } from "./run-secrets.js";
import { savedHosts, saveHosts } from "./saved-hosts.js";

/** The folder of the built files. */
const dist = new URL("./", import.meta.url);
const program = new URL("job-skypilot-host.cjs", dist);

/** Time in ms for a host that an earlier program has found to answer. */
const savedMs = 3000;

/** The number of hosts that can be the driver gateway. */
const candidateCount = 4;

/** The job whose run is opened. */
export interface OpenedJob {
  readonly api: SkyPilotApi;
  readonly spec: SkyPilotSpec;
  readonly access: SkyPilotAccess;
  readonly allocation: SkyPilotAllocation;
  /** Returns the record of the run, for its hosts. */
  readonly record: () => string;
}

export class OpenRun {
  readonly clusters: ReadonlyMap<string, ClusterRun>;
  readonly reach: NodeReach;
  readonly #job: OpenedJob;
  /** Undefined if this program only looks. */
  #secrets: RunSecrets | undefined;

  private constructor(job: OpenedJob) {
    this.#job = job;
    const { api, spec, access, allocation } = job;
    const { applyId, folder } = allocation;
    const plans = planClusters(spec, applyId);
    const login = access.login ?? plans[0]!.name;
    this.reach = new NodeReach(login, access.reach, new LoginCommands(login));
    const onHosts = () => this.#see();
    this.clusters = new Map(
      plans.map((plan) => {
        const taskOf = async (hosts: RelaunchedHosts) => this.#taskOf(plan, hosts);
        const common = { api, plan, applyId, retryUntilUp: spec.retryUntilUp, onHosts, taskOf };
        return [plan.name, new ClusterRun({ ...common, logFile: clusterLogFile(folder, plan.name) })];
      }),
    );
  }

  static async open(job: OpenedJob): Promise<OpenRun> {
    const run = new OpenRun(job);
    const { applyId, folder, isReadOnly = false } = job.allocation;
    if (isReadOnly) return run;
    run.#secrets = await openSecrets(applyId, folder, job.spec.tls, (...host) => run.#connect(...host));
    return run;
  }

  /** Returns the cluster of a host. */
  clusterOf(place: HostPlace): ClusterRun {
    const { spec, allocation } = this.#job;
    const isHere = (each: HostPlace) => formatPlace(each) === formatPlace(place);
    const plan = planClusters(spec, allocation.applyId).find(({ places }) => places.some(isHere))!;
    return this.clusters.get(plan.name)!;
  }

  /** Returns the hosts that an earlier program has found; undefined if one of them does not answer, and may have been replaced. */
  async saved(signal: AbortSignal): Promise<readonly Announcement[] | undefined> {
    const { spec, allocation } = this.#job;
    const saved = savedHosts(allocation.folder, allocation.applyId, hostPlaces(spec.meshes));
    if (saved === undefined) return undefined;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), savedMs);
    const limit = AbortSignal.any([signal, late.signal]);
    try {
      await Promise.all(saved.map(({ ip, port }) => this.reach.waitForAnswer({ node: ip, port }, limit)));
    } catch {
      signal.throwIfAborted();
      return undefined;
    } finally {
      clearTimeout(timer);
    }
    for (const host of saved) this.clusterOf(host).add(host);
    return saved;
  }

  /** Resolves when a host accepts connections. */
  async ready(
    { mesh, rank, ip, port, incarnation }: Announcement,
    report: Report,
    signal: AbortSignal,
  ): Promise<ReadyHost> {
    const { spec, allocation } = this.#job;
    const place = { mesh, rank };
    const asked = { node: ip, port };
    await this.reach.waitForAnswer(asked, signal);
    const at = `${isIPv6(ip) ? `[${ip}]` : ip}:${port}`;
    report({ kind: "running", mesh, rank, reason: `it listens at ${at}` });
    const address = spec.tls === null ? `tcp://${at}` : `tls://${at}#${hostUri(allocation.applyId, place)}`;
    const token = this.#secrets?.token;
    const dial = this.#isCandidate(place) ? this.reach.dialOf(asked) : undefined;
    return {
      mesh,
      rank,
      address,
      incarnation,
      ...(token === undefined ? {} : { token }),
      ...(dial === undefined ? {} : { dial }),
    };
  }

  /** Leaves the run, which goes on. */
  leave(): void {
    for (const cluster of this.clusters.values()) cluster.leave();
    this.#secrets?.signer?.close();
  }

  /** Takes the hosts as they are known now. */
  #see(): void {
    const known = [...this.clusters.values()].flatMap(({ hosts }) => hosts.all);
    if (this.#secrets === undefined) return;
    saveHosts(this.#job.allocation.folder, known);
    this.#secrets.signer?.see(known.map((host) => ({ ...host, uid: host.boot, isReady: false })));
  }

  #isCandidate(place: HostPlace): boolean {
    return hostPlaces(this.#job.spec.meshes).slice(0, candidateCount).map(formatPlace).includes(formatPlace(place));
  }

  async #connect({ ip }: Announcement, port: number, signal: AbortSignal): Promise<PausablePipe> {
    const asked = { node: ip, port };
    await this.reach.decide(asked);
    return this.reach.dialOf(asked)?.(signal) ?? connectTcp({ kind: "tcp", host: ip, port }, signal);
  }

  /** Returns the task of a launch. @throws Error if this program does not know the secrets of the user */
  #taskOf(plan: ClusterPlan, { held, replaced }: RelaunchedHosts): string {
    const { spec, allocation, record } = this.#job;
    const { applyId, idle } = allocation;
    const { bytes, order: archive } = makeDaemonArchive(dist);
    const order: MachineOrder = {
      applyId,
      archive,
      places: plan.places,
      held,
      replaced,
      launch: Date.now(),
      port: spec.port,
      hasCertificate: spec.tls !== null,
      idle,
      record: record(),
    };
    const files = { program: readFileSync(program), archive: bytes, order: Buffer.from(JSON.stringify(order)) };
    const hostSecrets = JSON.stringify(this.#secrets!.secretsOf(plan.places));
    return JSON.stringify(skyPilotTask(spec, plan, { applyId, files, secrets: this.#userSecrets(), hostSecrets }));
  }

  #userSecrets(): Readonly<Record<string, string>> {
    const { access, spec } = this.#job;
    if (access.secrets !== undefined || spec.secrets.length === 0) return access.secrets ?? {};
    const names = spec.secrets.join(", ");
    throw new Error(
      `cannot launch a cluster of job "${spec.name}": this program does not know its secrets ${names}, which are not recorded; ` +
        "use the program that has them in the options of the job",
    );
  }
}
