/**
 * The common part of providers whose hosts are started by a keeper on this machine: everything but the orders for the
 * hosts.
 */
import { mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
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
import type { TlsSpec } from "../job-options.js";
import { formatPlace, type HostPlace, hostPlaces } from "../mesh-spec.js";
import type { JobLogLine, JobProvider, Json, LogRequest, ReadyHost, Report, Submission } from "../provider.js";
import { readLogs } from "./job-logs.js";
import { endKeeper, keeperEvents, keeperState, startKeeper } from "./keeper-client.js";
import { allHostsEnded, type HostOrder, type KeptHostInfo } from "./keeper-order.js";
import { clientLogOf } from "./kept-client.js";
import { logFileOf } from "./kept-host.js";
import { endMarkedProcesses, keeperVariable, markVariable } from "./marked-processes.js";

/** What is known of hosts that a keeper holds. */
export type KeptAllocation = {
  readonly applyId: string;
  /** The directory of the sockets. */
  readonly directory: string;
  /** The folder of the log files. */
  readonly logs: string;
};

export abstract class KeptProvider implements JobProvider<KeptAllocation> {
  abstract readonly kind: string;
  abstract readonly spec: Json;
  abstract readonly tls: TlsSpec | null;
  abstract readonly meshes: Readonly<Record<string, { readonly hosts: number }>>;
  readonly isOwnHost: boolean = false;

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
      const hosts = this.orders(allocation, mark, submission);
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

  async hosts({ directory }: KeptAllocation, report: Report, signal: AbortSignal): Promise<readonly ReadyHost[]> {
    const leaving = new AbortController();
    const token = this.tokenOf(directory);
    const up = new Map<string, ReadyHost>();
    const wanted = hostPlaces(this.meshes).length;
    try {
      for await (const { host, ended } of keeperEvents(directory, AbortSignal.any([signal, leaving.signal]))) {
        if (ended !== undefined) throw new Error(ended);
        const { mesh, rank, state, address, route, took } = host!;
        if (state === "ended") throw new Error(this.describeEnd(host!));
        if (state !== "up" || address === undefined || up.has(formatPlace({ mesh, rank }))) continue;
        up.set(formatPlace({ mesh, rank }), {
          mesh,
          rank,
          address,
          ...(route === undefined ? {} : { route }),
          ...token,
        });
        report({ kind: "running", mesh, rank, reason: `it listens at ${address}, ${took} ms after its start` });
        if (up.size === wanted) return hostPlaces(this.meshes).map((place) => up.get(formatPlace(place))!);
      }
    } finally {
      leaving.abort();
    }
    signal.throwIfAborted();
    throw new Error("its keeper has ended");
  }

  async watch({ directory }: KeptAllocation, report: Report, signal: AbortSignal): Promise<string> {
    const lost = new Map<string, string>();
    for await (const { host, ended } of keeperEvents(directory, signal)) {
      // A start that fails says the same of a job with one host, whichever it learns first: the end of the host or of the job.
      if (ended === allHostsEnded) return `${lost.size > 1 ? `${ended}; ` : ""}${this.#firstOf(lost)}`;
      if (ended !== undefined) return ended;
      if (host?.state !== "ended") continue;
      lost.set(formatPlace(host), this.describeEnd(host));
      report({ kind: "host-lost", mesh: host.mesh, rank: host.rank, reason: this.describeEnd(host) });
    }
    return "its keeper has ended";
  }

  /** Returns why the first host has ended, in the order of the ranks. */
  #firstOf(lost: ReadonlyMap<string, string>): string {
    return hostPlaces(this.meshes)
      .map((place) => lost.get(formatPlace(place)))
      .find((reason) => reason !== undefined)!;
  }

  async destroy({ applyId, directory }: KeptAllocation): Promise<void> {
    // A keeper that does not answer may be about to start the hosts, or may have been killed.
    if (!(await endKeeper(directory))) await endMarkedProcesses(applyId, keeperVariable);
    const isGone = await endMarkedProcesses(applyId);
    rmSync(directory, { recursive: true, force: true });
    if (!isGone) throw new Error(`processes with ${markVariable}=${applyId} do not end after SIGKILL`);
  }

  logs({ directory, logs }: KeptAllocation, { follow, signal }: LogRequest): AsyncIterable<JobLogLine> {
    const hosts = hostPlaces(this.meshes).map((place) => ({ ...place, file: logFileOf(logs, place) }));
    const files = [{ file: clientLogOf(logs) }, ...hosts];
    const isOver = async () => (await keeperState(directory)) === undefined;
    return readLogs(files, follow ? isOver : undefined, signal);
  }
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
