/**
 * The common part of providers whose hosts are started by a keeper on this machine: everything but the orders for the
 * hosts.
 */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { taskMarkVariable } from "../../process-table.js";
import {
  batchVariable,
  type ClientOrder,
  type ClientOutcome,
  readOutcome,
  readStart,
  recordFileOf,
  recordVariable,
} from "../batch/client.js";
import { checkFirstHosts } from "../first-hosts.js";
import type { TlsSpec } from "../job-options.js";
import type { Json } from "../json.js";
import { formatPlace, type HostPlace, hostPlaces } from "../mesh-spec.js";
import type { JobLogLine, JobProvider, LogRequest, ReadyHost, Report, Submission } from "../provider.js";
import { readLogs } from "./job-logs.js";
import {
  addHosts,
  endKeeper,
  giveBackHosts,
  keeperEvents,
  keeperState,
  reportLostHost,
  startKeeper,
} from "./keeper-client.js";
import { allHostsEnded, givenBack, type HostOrder, type KeptHostInfo } from "./keeper-order.js";
import { clientLogOf } from "./kept-client.js";
import { logFileOf } from "./kept-host.js";
import { endMarkedProcesses, hostVariable, keeperVariable, markVariable } from "./marked-processes.js";

/** The hosts that a keeper holds, as the record of a job has them. */
export type KeptAllocation = {
  readonly applyId: string;
  /** The directory of the sockets. */
  readonly directory: string;
  /** The folder of the log files. */
  readonly logs: string;
};

/** The parameters of `JobProvider.grow`. */
export type GrowParameters = Parameters<NonNullable<JobProvider<KeptAllocation>["grow"]>>;

/** The parameters of `JobProvider.shrink`. */
export type ShrinkParameters = Parameters<NonNullable<JobProvider<KeptAllocation>["shrink"]>>;

/** The reason if nothing else is known of the end of a keeper. */
const keeperEnded = "its keeper has ended";
/** The time in ms in which `watch` must have found out the reason. */
const reasonMs = 1000;

export abstract class KeptProvider implements JobProvider<KeptAllocation> {
  abstract readonly kind: string;
  abstract readonly spec: Json;
  abstract readonly tls: TlsSpec | null;
  abstract readonly meshes: Readonly<Record<string, { readonly hosts: number }>>;
  readonly isOwnHost: boolean = false;
  /** The reasons for the ends of keepers, by their directories, as far as `watch` finds them out. */
  readonly #watched = new Map<string, Promise<string>>();

  /** Maximum number of hosts that start at the same time, and have printed nothing yet. */
  protected readonly parallel: number = 16;

  /**
   * Returns the orders for all hosts, in the order of `hostPlaces`.
   * @param mark the environment variable that marks the processes of the job
   * @param submission the record of the job, and the credentials of the hosts, if they need some
   */
  protected abstract orders(
    allocation: KeptAllocation,
    mark: Readonly<Record<string, string>>,
    submission: Pick<Submission, "record" | "credentials">,
  ): HostOrder[];

  /** Returns the token of the hosts, if they ask for one. @param directory that of the allocation */
  protected tokenOf(_directory: string): { readonly token?: string } {
    return {};
  }

  /** Lines of the shell that run before the command of a batch job; null for none. */
  protected get setup(): string | null {
    return null;
  }

  /** The environment variables of the command of a batch job, in addition to those of the program that submits it. */
  protected get clientEnv(): Readonly<Record<string, string>> {
    return {};
  }

  /** Returns why a host has ended, for the user. */
  protected describeEnd({ reason = "" }: KeptHostInfo): string {
    return reason;
  }

  async submit(submission: Submission): Promise<KeptAllocation> {
    const { applyId, folder, credentials, idle, client } = submission;
    const allocation = allocationOf(applyId, folder);
    const { directory, logs } = allocation;
    mkdirSync(directory, { mode: 0o700 });
    try {
      mkdirSync(logs, { recursive: true, mode: 0o700 });
      const record = idle === undefined ? {} : { [recordVariable]: recordFileOf(folder) };
      const mark = { [markVariable]: applyId, ...record };
      const hosts = this.#replaceable(this.orders(allocation, mark, submission), submission);
      const command = client === undefined ? {} : { client: this.#clientOrder(client, mark, folder) };
      const { tls } = this;
      const certificates =
        tls === null || credentials === undefined ? {} : { certificates: { ...tls, credentials: credentials.folder } };
      const order = {
        applyId,
        directory,
        logs,
        idle: idle ?? null,
        parallel: this.parallel,
        hosts,
        ...command,
        ...certificates,
      };
      await startKeeper(order, join(logs, "keeper.log"));
    } catch (error) {
      await this.destroy(allocation);
      throw error;
    }
    return allocation;
  }

  /** Adds to orders how the hosts are replaced. */
  #replaceable(
    orders: readonly HostOrder[],
    { applyId, lostTimeout }: Pick<Submission, "applyId" | "lostTimeout">,
  ): readonly HostOrder[] {
    if (lostTimeout === 0) return orders;
    return orders.map((order) => {
      const mark = `${applyId}/${formatPlace(order)}`;
      return { ...order, env: { ...order.env, [hostVariable]: mark }, replace: { limit: lostTimeout, mark } };
    });
  }

  /** Returns the order for the command of a batch job, with its whole environment. */
  #clientOrder(client: ClientOrder, mark: Readonly<Record<string, string>>, folder: string): ClientOrder {
    const own = { ...mark, ...this.clientEnv, ...client.env, [batchVariable]: recordFileOf(folder) };
    const command = withSetup(this.setup, client.command);
    return { ...client, command, env: { ...definedVariables(process.env), ...own } };
  }

  async find(applyId: string, folder: string): Promise<KeptAllocation | undefined> {
    const allocation = allocationOf(applyId, folder);
    if ((await keeperState(allocation.directory)) !== undefined) return allocation;
    // The driver, or the keeper, was killed while the keeper started.
    await this.destroy(allocation);
    return undefined;
  }

  ownAllocation(applyId: string, folder: string): KeptAllocation {
    return allocationOf(applyId, folder);
  }

  async outcome({ logs }: KeptAllocation): Promise<ClientOutcome | undefined> {
    return readOutcome(dirname(logs));
  }

  async startOf({ logs }: KeptAllocation): Promise<number | undefined> {
    return readStart(dirname(logs));
  }

  async isAlive({ directory }: KeptAllocation): Promise<boolean> {
    const state = await keeperState(directory);
    return state !== undefined && (state.isBatch || state.hosts.every((host) => host.state !== "ended"));
  }

  hosts(allocation: KeptAllocation, report: Report, signal: AbortSignal): Promise<readonly ReadyHost[]> {
    return this.#hostsAt(hostPlaces(this.meshes), allocation, report, signal);
  }

  /**
   * Adds hosts to the keeper of a job, and resolves with them when they are up.
   * @param orderAt returns the order for the host at a place. The first argument is that of `orders`
   */
  protected async growBy(
    orderAt: (mark: Readonly<Record<string, string>>, place: HostPlace) => HostOrder,
    ...[allocation, places, { lostTimeout }, report, signal]: GrowParameters
  ): Promise<readonly ReadyHost[]> {
    const { applyId, directory, logs } = allocation;
    const recordFile = recordFileOf(dirname(logs));
    const mark = { [markVariable]: applyId, ...(existsSync(recordFile) ? { [recordVariable]: recordFile } : {}) };
    const orders = places.map((place) => orderAt(mark, place));
    const add = () => addHosts(directory, this.#replaceable(orders, { applyId, lostTimeout }));
    return this.#hostsAt(places, allocation, report, signal, add);
  }

  /** As `shrink` of `JobProvider`. Each host that a mesh has got later can end. */
  protected async shrinkTo(...[{ directory }, mesh, hosts]: ShrinkParameters): Promise<() => Promise<void>> {
    checkFirstHosts(mesh, this.meshes[mesh]!.hosts, hosts);
    return () => giveBackHosts(directory, { mesh, rank: hosts });
  }

  async sizes({ directory }: KeptAllocation): Promise<Readonly<Record<string, number>>> {
    const { hosts = [] } = (await keeperState(directory)) ?? {};
    const sizes = Object.entries(this.meshes).map(([name, { hosts: asked }]) => {
      const own = hosts.filter(({ mesh, isGivenBack }) => mesh === name && isGivenBack !== true);
      return [name, Math.max(asked, ...own.map(({ rank }) => rank + 1))] as const;
    });
    return Object.fromEntries(sizes);
  }

  /**
   * Resolves with the hosts at some places when they are up.
   * @param begin called as soon as no event can be missed
   */
  async #hostsAt(
    places: readonly HostPlace[],
    { directory }: KeptAllocation,
    report: Report,
    signal: AbortSignal,
    begin?: () => Promise<void>,
  ): Promise<readonly ReadyHost[]> {
    let hasBegun = begin === undefined;
    const leaving = new AbortController();
    const token = this.tokenOf(directory);
    const up = new Map<string, ReadyHost>();
    const wanted = new Set(places.map(formatPlace));
    try {
      for await (const { host, ended } of keeperEvents(directory, AbortSignal.any([signal, leaving.signal]))) {
        if (ended !== undefined) throw new Error(ended);
        // A keeper first tells of the hosts that it has.
        if (!hasBegun) {
          hasBegun = true;
          await begin!();
        }
        const { mesh, rank, state, address, took } = host!;
        if (!wanted.has(formatPlace({ mesh, rank }))) continue;
        // The next host of the place follows.
        if (host!.isGivenBack) continue;
        if (state === "ended") throw new Error(this.describeEnd(host!));
        if (state !== "up" || address === undefined) {
          up.delete(formatPlace({ mesh, rank }));
          continue;
        }
        if (up.has(formatPlace({ mesh, rank }))) continue;
        up.set(formatPlace({ mesh, rank }), { ...readyHost(host!), ...token });
        report({ kind: "running", mesh, rank, reason: `it listens at ${address}, ${took} ms after its start` });
        if (up.size === wanted.size) return places.map((place) => up.get(formatPlace(place))!);
      }
    } finally {
      leaving.abort();
    }
    signal.throwIfAborted();
    throw new Error(await this.#endOf(directory));
  }

  async returned(
    { directory }: KeptAllocation,
    lost: ReadyHost,
    _report: Report,
    signal: AbortSignal,
  ): Promise<ReadyHost> {
    const { mesh, rank, incarnation = 0 } = lost;
    if (!(await reportLostHost(directory, { mesh, rank, incarnation }))) {
      throw new Error(`host ${formatPlace(lost)} is gone: ${givenBack}`);
    }
    const leaving = new AbortController();
    try {
      for await (const { host, ended } of keeperEvents(directory, AbortSignal.any([signal, leaving.signal]))) {
        if (ended !== undefined) throw new Error(ended);
        if (host === undefined || host.mesh !== mesh || host.rank !== rank) continue;
        if (host.state === "ended") throw new Error(this.describeEnd(host));
        if (host.state === "up" && host.incarnation > incarnation) {
          return { ...readyHost(host), ...this.tokenOf(directory) };
        }
      }
    } finally {
      leaving.abort();
    }
    signal.throwIfAborted();
    throw new Error(await this.#endOf(directory));
  }

  watch({ directory }: KeptAllocation, report: Report, signal: AbortSignal): Promise<string> {
    const reason = this.#watch(directory, report, signal);
    this.#watched.set(
      directory,
      reason.catch(() => keeperEnded),
    );
    return reason;
  }

  /** Returns the reason for the end of a keeper. It has told those that were connected, as `watch` may have been. */
  #endOf(directory: string): Promise<string> {
    const unknown = pause(reasonMs, keeperEnded, { ref: false });
    return Promise.race([this.#watched.get(directory) ?? unknown, unknown]);
  }

  async #watch(directory: string, report: Report, signal: AbortSignal): Promise<string> {
    const lost = new Map<string, string>();
    for await (const { host, ended } of keeperEvents(directory, signal)) {
      // A start that fails says the same of a job with one host, whichever it learns first: the end of the host or of the job.
      if (ended === allHostsEnded) return `${lost.size > 1 ? `${ended}; ` : ""}${this.#firstOf(lost)}`;
      if (ended !== undefined) return ended;
      if (host === undefined || host.isGivenBack) continue;
      const { mesh, rank, state } = host;
      const name = formatPlace(host);
      if (state === "up" && lost.delete(name)) {
        report({ kind: "host-replaced", mesh, rank, reason: `it listens at ${host.address}` });
      }
      const reason = this.describeEnd(host);
      if ((state !== "lost" && state !== "ended") || lost.get(name) === reason) continue;
      lost.set(name, reason);
      report({ kind: "host-lost", mesh, rank, reason });
    }
    return keeperEnded;
  }

  /** Returns why the first host has ended, in the order of the ranks. */
  #firstOf(lost: ReadonlyMap<string, string>): string {
    const reasons = hostPlaces(this.meshes).map((place) => lost.get(formatPlace(place)));
    return reasons.find((reason) => reason !== undefined) ?? [...lost.values()][0]!;
  }

  async destroy({ applyId, directory }: KeptAllocation): Promise<void> {
    // A keeper that does not answer may be about to start the hosts, or may have been killed.
    if (!(await endKeeper(directory))) await endMarkedProcesses(applyId, keeperVariable);
    const isGone = await endMarkedProcesses(applyId);
    rmSync(directory, { recursive: true, force: true });
    if (!isGone) throw new Error(`processes with ${markVariable}=${applyId} do not end after SIGKILL`);
  }

  logs({ directory, logs }: KeptAllocation, { follow, signal }: LogRequest): AsyncIterable<JobLogLine> {
    const hosts = this.#loggedPlaces(logs).map((place) => ({ ...place, file: logFileOf(logs, place) }));
    const files = [{ file: clientLogOf(logs) }, ...hosts];
    const isOver = async () => (await keeperState(directory)) === undefined;
    return readLogs(files, follow ? isOver : undefined, signal);
  }

  /** Returns the places of all hosts that the job has, or has had. */
  #loggedPlaces(logs: string): HostPlace[] {
    const asked = hostPlaces(this.meshes);
    const known = new Set(asked.map(formatPlace));
    const further = (existsSync(logs) ? readdirSync(logs) : []).flatMap((name) => {
      const [, mesh, rank] = /^(\w+)-(\d+)\.log$/.exec(name) ?? [];
      return mesh === undefined ? [] : [{ mesh, rank: Number(rank) }];
    });
    return [...asked, ...further.filter((place) => !known.has(formatPlace(place)))];
  }
}

function readyHost({ mesh, rank, address, route, incarnation }: KeptHostInfo): ReadyHost {
  return { mesh, rank, address: address!, incarnation, ...(route === undefined ? {} : { route }) };
}

/** The paths of sockets are short, so the directory is not in the folder of the run. */
function allocationOf(applyId: string, folder: string): KeptAllocation {
  return { applyId, directory: join(tmpdir(), `vj-${applyId.slice(0, 13)}`), logs: join(folder, "logs") };
}

/** Returns a command that first runs lines of the shell. */
export function withSetup(setup: string | null, command: readonly string[]): readonly string[] {
  return setup === null ? command : ["/bin/sh", "-c", `set -e\n${setup}\nexec "$@"`, "sh", ...command];
}

/** Returns the environment variables that tell a host which one it is. */
export function placeVariables({ mesh, rank }: HostPlace): Record<string, string> {
  return { VICEROY_JOB_MESH: mesh, VICEROY_JOB_RANK: String(rank) };
}

/** Returns an environment as an order can contain it. */
export function definedVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      // A job that a task submits outlives the processes of tasks.
      (entry): entry is [string, string] => entry[1] !== undefined && entry[0] !== taskMarkVariable,
    ),
  );
}
