/**
 * The common part of providers whose hosts are started by a keeper on this machine: everything but the orders for the
 * hosts.
 */
import { mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatPlace, type HostPlace, hostPlaces } from "../mesh-spec.js";
import type { JobLogLine, JobProvider, Json, LogRequest, ReadyHost, Report, Submission } from "../provider.js";
import { readLogs } from "./job-logs.js";
import { endKeeper, keeperEvents, keptHosts, startKeeper } from "./keeper-client.js";
import { allHostsEnded, type HostOrder, type KeptHostInfo } from "./keeper-order.js";
import { logFileOf } from "./kept-host.js";
import { endMarkedProcesses, markVariable } from "./marked-processes.js";

/** What is known of hosts that a keeper holds. */
export type KeptAllocation = {
  readonly applyId: string;
  /** The directory of the sockets. */
  readonly directory: string;
  /** The folder of the log files. */
  readonly logs: string;
};

/** Maximum number of hosts that start at the same time. */
const parallel = 16;

export abstract class KeptProvider implements JobProvider<KeptAllocation> {
  abstract readonly kind: string;
  abstract readonly spec: Json;
  abstract readonly meshes: Readonly<Record<string, { readonly hosts: number }>>;

  /**
   * Returns the orders for all hosts, in the order of `hostPlaces`.
   * @param mark the environment variable that marks the processes of the job
   */
  protected abstract orders(allocation: KeptAllocation, mark: Readonly<Record<string, string>>): HostOrder[];

  /** Returns the token of the hosts, if they ask for one. @param directory that of the allocation */
  protected credentials(_directory: string): { readonly token?: string } {
    return {};
  }

  /** Returns why a host has ended, for the user. */
  protected describeEnd({ reason = "" }: KeptHostInfo): string {
    return reason;
  }

  async submit({ applyId, folder, idle }: Submission): Promise<KeptAllocation> {
    const allocation = allocationOf(applyId, folder);
    const { directory, logs } = allocation;
    mkdirSync(directory, { mode: 0o700 });
    try {
      mkdirSync(logs, { recursive: true, mode: 0o700 });
      const hosts = this.orders(allocation, { [markVariable]: applyId });
      const order = { applyId, directory, logs, idle: idle ?? null, parallel, hosts };
      await startKeeper(order, join(logs, "keeper.log"));
    } catch (error) {
      await this.destroy(allocation);
      throw error;
    }
    return allocation;
  }

  async find(applyId: string, folder: string): Promise<KeptAllocation | undefined> {
    const allocation = allocationOf(applyId, folder);
    if ((await keptHosts(allocation.directory)) !== undefined) return allocation;
    // The driver, or the keeper, was killed while the keeper started.
    await this.destroy(allocation);
    return undefined;
  }

  async isAlive({ directory }: KeptAllocation): Promise<boolean> {
    const hosts = await keptHosts(directory);
    return hosts?.every(({ state }) => state !== "ended") ?? false;
  }

  async hosts({ directory }: KeptAllocation, report: Report, signal: AbortSignal): Promise<readonly ReadyHost[]> {
    const leaving = new AbortController();
    const token = this.credentials(directory);
    const up = new Map<string, ReadyHost>();
    const wanted = hostPlaces(this.meshes).length;
    try {
      for await (const { host, ended } of keeperEvents(directory, AbortSignal.any([signal, leaving.signal]))) {
        if (ended !== undefined) throw new Error(ended);
        const { mesh, rank, state, address, route } = host!;
        if (state === "ended") throw new Error(this.describeEnd(host!));
        if (state !== "up" || address === undefined || up.has(formatPlace({ mesh, rank }))) continue;
        up.set(formatPlace({ mesh, rank }), {
          mesh,
          rank,
          address,
          ...(route === undefined ? {} : { route }),
          ...token,
        });
        report({ kind: "running", mesh, rank, reason: `it listens at ${address}` });
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
      if (ended === allHostsEnded) return `${ended}; ${this.#firstOf(lost)}`;
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
    await endKeeper(directory);
    // The keeper may have been killed before.
    const isGone = await endMarkedProcesses(applyId);
    rmSync(directory, { recursive: true, force: true });
    if (!isGone) throw new Error(`processes with ${markVariable}=${applyId} do not end after SIGKILL`);
  }

  logs({ directory, logs }: KeptAllocation, { follow, signal }: LogRequest): AsyncIterable<JobLogLine> {
    const files = hostPlaces(this.meshes).map((place) => ({ ...place, file: logFileOf(logs, place) }));
    const isOver = async () => (await keptHosts(directory)) === undefined;
    return readLogs(files, follow ? isOver : undefined, signal);
  }
}

/** The paths of sockets are short, so the directory is not in the folder of the run. */
function allocationOf(applyId: string, folder: string): KeptAllocation {
  return { applyId, directory: join(tmpdir(), `vj-${applyId.slice(0, 13)}`), logs: join(folder, "logs") };
}

/** Returns the environment variables that tell a host which one it is. */
export function placeVariables({ mesh, rank }: HostPlace): Record<string, string> {
  return { VICEROY_JOB_MESH: mesh, VICEROY_JOB_RANK: String(rank) };
}

/** Returns an environment as an order can contain it. */
export function definedVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
