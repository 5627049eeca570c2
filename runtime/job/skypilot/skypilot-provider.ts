/**
 * Gives machines that SkyPilot launches as hosts. The API server of SkyPilot is the only place where it keeps what it has launched: the names of the
 * clusters follow from the id of the run.
 */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { errorMessage } from "../../../shared/text/error-message.js";
import { recordFileOf } from "../batch/client.js";
import type { DialHost } from "../kernel.js";
import { formatPlace, type HostPlace, hostPlaces } from "../mesh-spec.js";
import type { JobLogLine, JobProvider, LogRequest, ReadyHost, Report, Submission } from "../provider.js";
import { findAccess } from "./api/access.js";
import { SkyPilotApi } from "./api/skypilot-api.js";
import { undoneWhenInterrupted } from "./cluster/interruption.js";
import { openLaunch, takeDown } from "./cluster/launching.js";
import { OpenRun } from "./cluster/open-run.js";
import { keepClusterLog, readClusterLog } from "./cluster/run-logs.js";
import { makeToken } from "./cluster/run-secrets.js";
import { watchClusters } from "./cluster/watch-clusters.js";
import { DescribedJob, type SkyPilotAccess, type SkyPilotAllocation } from "./described-job.js";
import type { SkyPilotSpec } from "./skypilot-spec.js";
import { planClusters } from "./task/plan-clusters.js";

/** Time in ms that the hosts wait for a driver, if they are to end with it. */
const driverEndMs = 60_000;

/** A cluster that was launched. */
type LaunchedCluster = SkyPilotAllocation["clusters"][number];

export class SkyPilotProvider extends DescribedJob implements JobProvider<SkyPilotAllocation> {
  readonly #spec: SkyPilotSpec;
  #opened: Promise<SkyPilotApi> | undefined;
  readonly #runs = new Map<string, Promise<OpenRun>>();
  /** The ids of the runs that this program has submitted, and whose hosts are not up yet. */
  readonly #starting = new Set<string>();
  /** The records of the runs that this program has submitted, by their ids. They may have no file. */
  readonly #records = new Map<string, string>();

  constructor(spec: SkyPilotSpec, access: SkyPilotAccess) {
    super(spec, access);
    this.#spec = spec;
  }

  /** @throws SkyPilotError, Error if there is no API server, it refuses the task, or a cluster of a name is there already */
  async submit({
    applyId,
    folder,
    credentials,
    idle = driverEndMs,
    client,
    record,
    signal,
  }: Submission): Promise<SkyPilotAllocation> {
    if (client !== undefined) {
      throw new Error(
        "a job of SkyPilot runs no command by itself; run the program here, or on a machine that SkyPilot has launched for it",
      );
    }
    const api = await this.#api();
    await api.health(signal);
    const plans = planClusters(this.#spec, applyId);
    for (const { name } of plans) {
      if ((await api.cluster(name, false, { signal })) === undefined) continue;
      throw new Error(`there is a cluster ${name} of SkyPilot already; take it down with "sky down ${name}"`);
    }
    if (credentials === undefined) makeToken(folder);
    this.#records.set(applyId, record);
    const draft = { applyId, folder, idle, clusters: plans.map(({ name }) => ({ name, request: "" })) };
    const run = await this.#run(draft);
    const clusters: LaunchedCluster[] = [];
    try {
      for (const [name, cluster] of run.clusters) clusters.push({ name, request: await cluster.begin(signal) });
    } catch (error) {
      await this.#undo(draft, error);
      throw error;
    }
    this.#starting.add(applyId);
    return { ...draft, clusters };
  }

  async find(applyId: string, folder: string): Promise<SkyPilotAllocation | undefined> {
    const api = await this.#api();
    // A user who waits learns at once that there is no API server.
    await api.health();
    const plans = planClusters(this.#spec, applyId);
    const clusters: LaunchedCluster[] = [];
    for (const { name } of plans) {
      const request = await openLaunch(api, name, {});
      const isThere = request !== undefined || (await api.cluster(name, false)) !== undefined;
      if (isThere) clusters.push({ name, request: request ?? "" });
    }
    const found = { applyId, folder, clusters, idle: driverEndMs };
    if (clusters.length === plans.length) return found;
    // The driver was killed between two of several launches.
    if (clusters.length > 0) await this.destroy(found);
    return undefined;
  }

  async isAlive(allocation: SkyPilotAllocation): Promise<boolean> {
    const api = await this.#api();
    await api.health();
    for (const name of namesOf(allocation)) {
      const isThere = (await api.cluster(name, false)) !== undefined;
      if (!isThere && (await openLaunch(api, name, {})) === undefined) return false;
    }
    return true;
  }

  async hosts(allocation: SkyPilotAllocation, report: Report, signal: AbortSignal): Promise<readonly ReadyHost[]> {
    const { applyId, clusters, isReadOnly = false } = allocation;
    const run = await this.#run(allocation);
    const launched = async () => {
      const parts = clusters.map(({ name, request }) =>
        run.clusters.get(name)!.announced(request, !isReadOnly, report, signal),
      );
      return (await Promise.all(parts)).flat();
    };
    const announced = this.#starting.has(applyId)
      ? await undoneWhenInterrupted(launched, (by) => this.#interrupted(allocation, by))
      : ((await run.saved(signal)) ?? (await launched()));
    this.#starting.delete(applyId);
    const hosts = await Promise.all(announced.map((host) => run.ready(host, report, signal)));
    const order = hostPlaces(this.meshes).map(formatPlace);
    return hosts.sort((left, right) => order.indexOf(formatPlace(left)) - order.indexOf(formatPlace(right)));
  }

  async returned(
    allocation: SkyPilotAllocation,
    { mesh, rank, address, incarnation = 0 }: ReadyHost,
    report: Report,
    signal: AbortSignal,
  ): Promise<ReadyHost> {
    const place = { mesh, rank };
    const reason = `host ${formatPlace(place)} at ${address} does not answer any more`;
    report({ kind: "host-lost", mesh, rank, reason });
    const run = await this.#run(allocation);
    return run.ready(await run.clusterOf(place).replaced(place, incarnation, report, signal), report, signal);
  }

  async dialPort(allocation: SkyPilotAllocation, place: HostPlace, port: number): Promise<DialHost | undefined> {
    const run = await this.#run(allocation);
    const host = run.clusterOf(place).hosts.get(place);
    if (host === undefined) throw new Error(`host ${formatPlace(place)} is not up`);
    await run.reach.decide({ node: host.ip, port: host.port });
    return run.reach.dialOf({ node: host.ip, port });
  }

  async watch(allocation: SkyPilotAllocation, report: Report, signal: AbortSignal): Promise<string> {
    const { clusters } = await this.#run(allocation);
    return watchClusters(await this.#api(), clusters, report, signal);
  }

  async stop(allocation: SkyPilotAllocation): Promise<void> {
    const api = await this.#api();
    await this.#leave(allocation);
    for (const name of namesOf(allocation)) await api.stop(name);
  }

  async facts(allocation: SkyPilotAllocation): Promise<readonly string[]> {
    const api = await this.#api();
    const facts = namesOf(allocation).map(async (name) => {
      const [state, cost] = await Promise.all([api.cluster(name, false), api.cost(name)]);
      const region = state?.region === undefined ? "" : ` (${state.region})`;
      const where = state?.cloud === undefined ? "" : ` on ${state.cloud}${region}`;
      const price = cost === undefined ? "" : `, $${cost.toFixed(2)} until now by the prices of SkyPilot's catalog`;
      return `cluster ${name} is ${state?.status ?? "launched"}${where}${price}`;
    });
    return Promise.all(facts);
  }

  async destroy(allocation: SkyPilotAllocation): Promise<void> {
    const api = await this.#api();
    const { applyId, folder } = allocation;
    await this.#leave(allocation);
    await Promise.all(namesOf(allocation).map((name) => keepClusterLog(api, folder, name)));
    await takeDown(api, namesOf(allocation));
    this.#records.delete(applyId);
    this.#starting.delete(applyId);
  }

  async *logs(allocation: SkyPilotAllocation, request: LogRequest): AsyncGenerator<JobLogLine, void> {
    const api = await this.#api();
    for (const name of namesOf(allocation)) yield* readClusterLog(api, allocation.folder, name, request);
  }

  /** Returns what this program has of a run. */
  #run(allocation: SkyPilotAllocation): Promise<OpenRun> {
    const { applyId, folder } = allocation;
    const known = this.#runs.get(applyId);
    if (known !== undefined) return known;
    const record = () => this.#records.get(applyId) ?? readFileSync(recordFileOf(folder), "utf8");
    const opened = this.#api().then((api) =>
      OpenRun.open({ api, spec: this.#spec, access: this.access, allocation, record }),
    );
    this.#runs.set(applyId, opened);
    opened.catch(() => this.#runs.delete(applyId));
    return opened;
  }

  async #leave({ applyId }: SkyPilotAllocation): Promise<void> {
    const run = await this.#runs.get(applyId)?.catch(() => undefined);
    this.#runs.delete(applyId);
    run?.leave();
  }

  /** Takes down what a submission that has failed has left. @throws Error with both reasons if that fails, too */
  async #undo(allocation: SkyPilotAllocation, why: unknown): Promise<void> {
    try {
      await this.destroy(allocation);
    } catch (error) {
      const left = `what was launched is left, because it cannot be ended: ${errorMessage(error)}`;
      throw new Error(`${errorMessage(why)}; ${left}`, { cause: why });
    }
  }

  /** Takes a launch down before a signal ends this program, and says so. */
  async #interrupted(allocation: SkyPilotAllocation, signal: string): Promise<void> {
    const job = `job "${this.#spec.name}"`;
    console.error(`viceroy: interrupted by ${signal}; takes down what ${job} has launched`);
    try {
      await takeDown(await this.#api(), namesOf(allocation));
      console.error(`viceroy: nothing of ${job} is left`);
    } catch (error) {
      const names = namesOf(allocation).join(" ");
      console.error(`viceroy: ${errorMessage(error)}; end what is left with "sky down ${names}"`);
    }
  }

  #api(): Promise<SkyPilotApi> {
    const surroundings = { env: process.env, home: homedir(), cwd: process.cwd(), now: Date.now() };
    this.#opened ??= findAccess(this.#spec.endpoint ?? undefined, surroundings).then(
      (access) => new SkyPilotApi(access),
    );
    return this.#opened;
  }
}

function namesOf({ clusters }: SkyPilotAllocation): string[] {
  return clusters.map(({ name }) => name);
}
