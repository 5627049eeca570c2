/** One cluster of a run in this program: its launches, the hosts that announce themselves in its log, and those that are lost. */
import { setTimeout as pause } from "node:timers/promises";
import { errorMessage } from "../../../../shared/text/error-message.js";
import { abortable } from "../../../link/abortable.js";
import { formatPlace, type HostPlace } from "../../mesh-spec.js";
import type { Report } from "../../provider.js";
import { type Cluster, hasEnded } from "../api/clusters.js";
import type { SkyPilotApi } from "../api/skypilot-api.js";
import type { Announcement } from "../machine/host-lines.js";
import type { ClusterPlan } from "../task/plan-clusters.js";
import { ClusterLog } from "./cluster-log.js";
import { CrashPauses } from "./crash-pauses.js";
import { KnownHosts } from "./known-hosts.js";
import { beginLaunch, followLaunch, openLaunch, reportingAway } from "./launching.js";

/** Time in ms between the loss of a host and the repair of its cluster: machines are often taken away together, and are replaced together. */
const gatherMs = 2000;

/** The hosts that a launch keeps, and those that it replaces. */
export interface RelaunchedHosts {
  /** The indexes of the hosts that run, by the addresses of their machines. */
  readonly held: Readonly<Record<string, number>>;
  /** The ids of hosts that were lost. */
  readonly replaced: readonly string[];
}

export interface ClusterRunOptions {
  readonly api: SkyPilotApi;
  readonly plan: ClusterPlan;
  readonly applyId: string;
  readonly retryUntilUp: boolean;
  /** The file to which the log is added. */
  readonly logFile: string;
  /** Returns the task of a launch, as YAML. @throws Error if this program cannot launch */
  readonly taskOf: (hosts: RelaunchedHosts) => Promise<string>;
  /** Told of the hosts whenever one has announced itself. */
  readonly onHosts: () => void;
}

export class ClusterRun {
  readonly hosts = new KnownHosts();
  readonly #options: ClusterRunOptions;
  #log: ClusterLog | undefined;
  /** The fault of the job of the cluster; undefined while the job runs. */
  #fault: string | undefined;
  #launching = 0;
  /** The number of those who wait for hosts. */
  #waiting = 0;
  /** The hosts that are replaced. */
  readonly #lost = new Map<string, Announcement>();
  #repairing: Promise<void> | undefined;
  readonly #crashes = new CrashPauses(() => performance.now());
  readonly #leaving = new AbortController();

  constructor(options: ClusterRunOptions) {
    this.#options = options;
  }

  /** Whether this program launches the cluster, or replaces hosts of it. */
  get isChanging(): boolean {
    return this.#launching > 0 || this.#repairing !== undefined;
  }

  /** Begins the first launch. @returns the id of its request */
  async begin(signal: AbortSignal): Promise<string> {
    const { api, plan, retryUntilUp, taskOf } = this.#options;
    const task = await taskOf({ held: {}, replaced: [] });
    return beginLaunch(api, { cluster: plan.name, task, retryUntilUp }, { signal });
  }

  /**
   * Resolves with all hosts when they have announced themselves. A cluster that was stopped, or whose hosts have ended, is launched again.
   * @param request the id of the launch that was begun last
   * @throws Error with the reason if they do not
   */
  async announced(
    request: string,
    mayLaunch: boolean,
    report: Report,
    signal: AbortSignal,
  ): Promise<readonly Announcement[]> {
    const { plan } = this.#options;
    report({ kind: "pending", reason: `cluster ${plan.name} is launched` });
    const isKnown = await this.#launched(() => this.#follow(request, report, signal));
    const why = await this.#whyAgain(isKnown, report, signal);
    if (mayLaunch && why !== undefined) {
      report({ kind: "pending", reason: `cluster ${plan.name} is launched again: ${why}` });
      await this.#launchAgain({ held: {}, replaced: [] }, report, signal);
    }
    report({ kind: "starting", reason: `cluster ${plan.name} is up, and its hosts start` });
    return this.#untilAnnounced(() => {
      const found = plan.places.map((place) => this.hosts.get(place));
      return found.every((host) => host !== undefined) ? found : undefined;
    }, signal);
  }

  /**
   * Resolves with a host that was lost when another one of its place has announced itself.
   * @throws Error with the reason if there will be none
   */
  async replaced(place: HostPlace, incarnation: number, report: Report, signal: AbortSignal): Promise<Announcement> {
    const newer = () => {
      const host = this.hosts.get(place);
      return host !== undefined && host.incarnation > incarnation ? host : undefined;
    };
    const key = formatPlace(place);
    const lost = this.hosts.get(place);
    if (newer() === undefined && lost !== undefined) this.#lost.set(key, lost);
    // A repair that has begun may not know of this loss.
    while (this.#lost.has(key)) {
      this.#repairing ??= this.#repair(report).finally(() => {
        this.#repairing = undefined;
      });
      await abortable(this.#repairing, signal);
    }
    return this.#untilAnnounced(newer, signal);
  }

  /**
   * Waits for hosts, and reads the log meanwhile. A stream that is open for longer would keep this program from its end.
   * @throws Error with the last words of the job if it ends before
   */
  async #untilAnnounced<T>(find: () => T | undefined, signal: AbortSignal): Promise<T> {
    this.#waiting++;
    if (this.#log === undefined && this.#launching === 0) this.#readLog();
    try {
      return await this.hosts.until(() => {
        const found = find();
        if (found === undefined && this.#fault !== undefined) throw new Error(this.#fault);
        return found;
      }, signal);
    } finally {
      this.#waiting--;
      if (this.#waiting === 0) this.#closeLog();
    }
  }

  /** Takes a host that is known from elsewhere. */
  add(host: Announcement): void {
    this.hosts.add(host);
    this.#options.onHosts();
  }

  /** Makes this program forget the cluster, which goes on. */
  leave(): void {
    this.#leaving.abort();
    this.#closeLog();
  }

  /** Returns why a cluster has to be launched again; undefined if its job runs. @param isKnown whether the last launch has not ended with its server */
  async #whyAgain(isKnown: boolean, report: Report, signal: AbortSignal): Promise<string | undefined> {
    const { api, plan } = this.#options;
    const ended = "the API server was started again during the launch";
    if (!isKnown && (await api.cluster(plan.name, false, { signal })) === undefined) return ended;
    const { status } = await this.#found(false, report, signal);
    if (status !== "UP") return isKnown ? `it is ${status}` : ended;
    const [newest] = await api.jobs(plan.name, reportingAway(report, signal));
    // The words of a setup that has failed are in the log of the job, which is read next.
    const isOver = newest === undefined || (hasEnded(newest) && newest.status !== "FAILED_SETUP");
    return isOver ? "its hosts have ended" : undefined;
  }

  async #repair(report: Report): Promise<void> {
    const { signal } = this.#leaving;
    await pause(gatherMs, undefined, { signal });
    const { plan } = this.#options;
    const lost = this.#takeLost();
    // SkyPilot asks the cloud which machines are left, so that it replaces the others.
    const cluster = await this.#found(true, report, signal);
    if (cluster.status === "STOPPED") {
      throw new Error(`cluster ${plan.name} was stopped${reasonOf(cluster)}; apply the job again to start it`);
    }
    const ms = this.#crashes.next(cluster.status !== "UP");
    if (ms > 0) {
      const why = "hosts have ended by themselves again within 10 minutes";
      report({ kind: "pending", reason: `cluster ${plan.name} is launched again in ${ms / 1000} s: ${why}` });
      await pause(ms, undefined, { signal });
    }
    lost.push(...this.#takeLost());
    const boots = new Set(lost.map(({ boot }) => boot));
    const held = Object.fromEntries(
      this.hosts.all
        .filter(({ boot }) => !boots.has(boot))
        .map((host) => [host.ip, plan.places.findIndex((place) => formatPlace(place) === formatPlace(host))]),
    );
    const names = lost.map(formatPlace).join(", ");
    report({
      kind: "pending",
      reason: `cluster ${plan.name} is launched again to replace ${names}${reasonOf(cluster)}`,
    });
    await this.#launchAgain({ held, replaced: [...boots] }, report, signal);
    this.#crashes.launched();
  }

  #takeLost(): Announcement[] {
    const lost = [...this.#lost.values()];
    this.#lost.clear();
    return lost;
  }

  async #launchAgain(hosts: RelaunchedHosts, report: Report, signal: AbortSignal): Promise<void> {
    const { api, plan, retryUntilUp, taskOf } = this.#options;
    await this.#launched(async () => {
      this.#closeLog();
      // Its processors and accelerators belong to the job before, as long as that runs. The hosts are no part of it.
      await api.cancelJobs(plan.name, reportingAway(report, signal)).catch((error: unknown) => {
        report({ kind: "pending", reason: errorMessage(error) });
      });
      const order = { cluster: plan.name, task: await taskOf(hosts), retryUntilUp };
      await this.#follow(await beginLaunch(api, order, reportingAway(report, signal)), report, signal);
    });
    if (this.#waiting > 0) this.#readLog();
  }

  #follow(request: string, report: Report, signal: AbortSignal): Promise<boolean> {
    return followLaunch(this.#options.api, this.#options.plan.name, request, report, signal);
  }

  async #launched<T>(launch: () => Promise<T>): Promise<T> {
    this.#launching++;
    try {
      return await launch();
    } finally {
      this.#launching--;
    }
  }

  /**
   * Returns the cluster after its launch, if one is under way.
   * @param isFresh whether SkyPilot asks the cloud first, which takes seconds
   * @throws Error if there is no such cluster any more
   */
  async #found(isFresh: boolean, report: Report, signal: AbortSignal): Promise<Cluster> {
    const { api, plan } = this.#options;
    const options = reportingAway(report, signal);
    const open = await openLaunch(api, plan.name, options);
    if (open !== undefined) await this.#follow(open, report, signal);
    const cluster = await api.cluster(plan.name, isFresh, options);
    if (cluster !== undefined) return cluster;
    throw new Error(`cluster ${plan.name} does not exist any more: it was taken down, or all its machines were lost`);
  }

  /** Reads the log of the job that was submitted last. */
  #readLog(): void {
    const { api, plan, logFile, applyId } = this.#options;
    this.#closeLog();
    const log: ClusterLog = new ClusterLog(api, plan.name, logFile, {
      announced: (announcement) => {
        if (
          announcement.applyId !== applyId ||
          !plan.places.some((place) => formatPlace(place) === formatPlace(announcement))
        )
          return;
        this.add(announcement);
      },
      ended: () => {
        if (this.#log !== log) return;
        const words = log.lastWords;
        const output = words === "" ? "it has printed nothing" : `its output ends with: ${words}`;
        this.#fault = `the job of SkyPilot on cluster ${plan.name} has ended; ${output}`;
        this.hosts.wake();
      },
    });
    this.#log = log;
  }

  #closeLog(): void {
    this.#log?.close();
    this.#log = undefined;
    this.#fault = undefined;
  }
}

function reasonOf({ reason }: Cluster): string {
  return reason === undefined ? "" : `: ${reason}`;
}
