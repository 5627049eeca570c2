/** The API of SkyPilot, as far as jobs use it: clusters are launched, observed, stopped and taken down. */
import { type RetryWorld, systemWorld } from "../../retry.js";
import type { ApiAccess } from "./access.js";
import type { ServerVersion } from "./api-version.js";
import { type Cluster, type ClusterJob, parseClusters, parseCost, parseJobs } from "./clusters.js";
import { Exchange } from "./exchange.js";
import type { LogLine } from "./log-line.js";
import { isObject, parseJson } from "./plain-json.js";
import { type FollowOptions, Requests } from "./requests.js";
import { SkyPilotError, strangeError } from "./skypilot-error.js";

/** Time in ms for the answer about the health of an API server. */
const healthMs = 10_000;

/** The answer of an API server to the question for its health. */
export interface ServerHealth extends ServerVersion {
  /** The name of the user that the credentials are of; undefined if the server knows no users. */
  readonly user: string | undefined;
}

/** The body of a request for a launch. */
export interface LaunchOrder {
  /** The name of the cluster. */
  readonly cluster: string;
  /** The task, as YAML. */
  readonly task: string;
  /** Whether to try all places again and again until there are machines. */
  readonly retryUntilUp: boolean;
}

export class SkyPilotApi {
  /** The requests that the API server works on by itself. */
  readonly requests: Requests;
  readonly #exchange: Exchange;

  constructor(access: ApiAccess, world: RetryWorld = systemWorld) {
    this.#exchange = new Exchange(access);
    this.requests = new Requests(this.#exchange, world);
  }

  /** The URL of the API server. */
  get server(): string {
    return this.#exchange.access.server;
  }

  /**
   * Asks the API server for its version. It is not asked again while it is away, so that a program that has none learns it at once.
   * @throws SkyPilotError if no API server answers, its version does not fit, or it does not accept the credentials
   */
  async health(signal?: AbortSignal): Promise<ServerHealth> {
    const what = "use SkyPilot";
    const { text, version } = await this.#exchange.ask({
      method: "GET",
      path: "/api/health",
      what,
      silence: healthMs,
      signal,
    });
    const body = parseJson(text);
    if (!isObject(body) || typeof body["status"] !== "string") {
      throw strangeError("as another kind of server", what, this.#exchange.access);
    }
    if (body["status"] !== "healthy") {
      throw strangeError(`that it is ${JSON.stringify(body["status"])}`, what, this.#exchange.access);
    }
    // Servers of SkyPilot 0.10 and older do not name their version in headers.
    if (version === undefined) {
      throw strangeError(
        `as SkyPilot ${String(body["version"])}, which is too old: upgrade it`,
        what,
        this.#exchange.access,
      );
    }
    const user = isObject(body["user"]) ? body["user"]["name"] : undefined;
    return { ...version, user: typeof user === "string" ? user : undefined };
  }

  /**
   * Has the API server check a task, without looking for machines.
   * @param task the task, as YAML
   * @throws SkyPilotError with SkyPilot's own words if the task is not valid
   */
  async validate(task: string, signal?: AbortSignal): Promise<void> {
    const body = { dag: task, request_options: null };
    await this.#exchange.ask({ method: "POST", path: "/validate", body, what: "validate a task of SkyPilot", signal });
  }

  /**
   * Returns the clouds that SkyPilot can use, by workspaces, after a check of their credentials.
   * @param clouds the names of the clouds that are checked: `["kubernetes"]`
   * @param options `onLine` is told why a cloud cannot be used
   */
  async check(
    clouds: readonly string[],
    options: FollowOptions = {},
  ): Promise<Readonly<Record<string, readonly string[]>>> {
    const what = `check whether SkyPilot can use ${clouds.join(", ")}`;
    const value = await this.requests.run("/check", { clouds }, what, options);
    if (!isObject(value)) throw strangeError("with no list of clouds", what, this.#exchange.access);
    // Each cloud has the list of what it is enabled for.
    return Object.fromEntries(
      Object.entries(value).map(([workspace, usable]) => [workspace, isObject(usable) ? Object.keys(usable) : []]),
    );
  }

  /**
   * Begins to launch a cluster, which runs the task.
   * @returns the id of the request, which `requests` follows and cancels
   * @throws SkyPilotError if the API server has not taken the request, or has not answered: it may have taken it then
   */
  launch({ cluster, task, retryUntilUp }: LaunchOrder, options: FollowOptions = {}): Promise<string> {
    const body = { task, cluster_name: cluster, retry_until_up: retryUntilUp };
    return this.requests.begin("/launch", body, `launch cluster ${JSON.stringify(cluster)}`, {
      ...options,
      isRepeatable: false,
    });
  }

  /**
   * Returns what SkyPilot knows of a cluster; undefined if there is none of the name.
   * @param isFresh whether SkyPilot asks the cloud first, which takes seconds
   */
  async cluster(name: string, isFresh: boolean, options: FollowOptions = {}): Promise<Cluster | undefined> {
    const what = `ask for the state of cluster ${JSON.stringify(name)}`;
    const body = {
      cluster_names: [name],
      refresh: isFresh ? "FORCE" : "NONE",
      all_users: true,
      include_credentials: false,
      include_handle: false,
    };
    const clusters = parseClusters(await this.requests.run("/status", body, what, options));
    if (clusters === undefined) throw strangeError("with no list of clusters", what, this.#exchange.access);
    return clusters.find((cluster) => cluster.name === name);
  }

  /** Returns the runs of the task on a cluster, the newest first. A cluster that was launched once has one. */
  async jobs(cluster: string, options: FollowOptions = {}): Promise<ClusterJob[]> {
    const what = `list the jobs of cluster ${JSON.stringify(cluster)}`;
    const body = { cluster_name: cluster, skip_finished: false, all_users: true };
    const jobs = parseJobs(await this.requests.run("/queue", body, what, options));
    if (jobs === undefined) throw strangeError("with no list of jobs", what, this.#exchange.access);
    return jobs;
  }

  /**
   * Yields what the task has printed on all machines of a cluster.
   * @param follow whether to wait for further lines until the task has ended
   */
  jobLog(cluster: string, follow: boolean, options: FollowOptions = {}): AsyncGenerator<LogLine, void> {
    const what = `read the log of cluster ${JSON.stringify(cluster)}`;
    const body = { ...this.requests.user, cluster_name: cluster, job_id: null, follow, tail: 0 };
    return this.requests.stream({ method: "POST", path: "/logs", body, what }, options);
  }

  /** Ends all runs of tasks on a cluster. Those on a cluster of which machines are missing end by themselves. */
  async cancelJobs(cluster: string, options: FollowOptions = {}): Promise<void> {
    const what = `end the jobs of cluster ${JSON.stringify(cluster)}`;
    const body = { cluster_name: cluster, job_ids: null, all: true, all_users: true };
    try {
      await this.requests.run("/cancel", body, what, options);
    } catch (error) {
      if (!(error instanceof SkyPilotError) || error.kind !== "ClusterNotUpError") throw error;
    }
  }

  /** Returns the estimated cost of a cluster since its launch in US dollars, also after its end; undefined if SkyPilot does not tell it. */
  async cost(cluster: string, options: FollowOptions = {}): Promise<number | undefined> {
    const what = `ask for the cost of cluster ${JSON.stringify(cluster)}`;
    const value = await this.requests.run("/cost_report", { cluster_names: [cluster] }, what, options);
    return parseCost(value, cluster);
  }

  /** Has SkyPilot take a cluster down, or only stop it, after some minutes without work; never with undefined. */
  async autostop(
    cluster: string,
    minutes: number | undefined,
    down: boolean,
    options: FollowOptions = {},
  ): Promise<void> {
    const body = { cluster_name: cluster, idle_minutes: minutes ?? -1, down };
    await this.requests.run("/autostop", body, `set the autostop of cluster ${JSON.stringify(cluster)}`, options);
  }

  /** Stops the machines of a cluster. Their disks stay, and cost money. */
  async stop(cluster: string, options: FollowOptions = {}): Promise<void> {
    await this.requests.run("/stop", { cluster_name: cluster }, `stop cluster ${JSON.stringify(cluster)}`, options);
  }

  /** Takes a cluster down, with everything that costs money. Nothing happens if there is none. */
  async down(cluster: string, options: FollowOptions = {}): Promise<void> {
    const what = `take cluster ${JSON.stringify(cluster)} down`;
    try {
      await this.requests.run("/down", { cluster_name: cluster }, what, options);
    } catch (error) {
      if (!(error instanceof SkyPilotError) || error.kind !== "ClusterDoesNotExist") throw error;
    }
  }
}
