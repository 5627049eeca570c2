/**
 * Gives hosts that are processes on this machine: each is a daemon of its own, `viceroy host`, in a session of its own,
 * at a Unix socket. A keeper holds them, so that they can outlive the driver.
 */
import { mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readLogs } from "../keeper/job-logs.js";
import { endKeeper, keeperEvents, keptHosts, startKeeper } from "../keeper/keeper-client.js";
import { logFileOf } from "../keeper/kept-host.js";
import { endMarkedProcesses, markVariable } from "../keeper/marked-processes.js";
import { formatPlace, hostPlaces } from "../mesh-spec.js";
import type { JobLogLine, JobProvider, Json, LogRequest, ReadyHost, Report, Submission } from "../provider.js";

/** What a job of processes asks for. */
export type ProcessSpec = {
  readonly meshes: Readonly<Record<string, { readonly hosts: number }>>;
  /** Environment variables in addition to those of the driver. */
  readonly env: Readonly<Record<string, string>>;
  /** Shell lines that run on each host first. */
  readonly setup: string | null;
  /** The Node.js that runs the hosts; null for that of the driver. */
  readonly node: string | null;
};

/** What is known of submitted processes. */
export type ProcessAllocation = {
  readonly applyId: string;
  /** The directory of the sockets. */
  readonly directory: string;
  /** The folder of the log files. */
  readonly logs: string;
};

const commandLine = fileURLToPath(new URL("./cli/viceroy.js", import.meta.url));

/** Maximum number of hosts that start at the same time. */
const parallel = 16;

export class ProcessProvider implements JobProvider<ProcessAllocation> {
  readonly kind = "process";
  readonly spec: ProcessSpec;

  constructor(spec: ProcessSpec) {
    this.spec = spec;
  }

  get meshes(): ProcessSpec["meshes"] {
    return this.spec.meshes;
  }

  async submit({ applyId, folder, idle }: Submission): Promise<ProcessAllocation> {
    const allocation = allocationOf(applyId, folder);
    const { directory, logs } = allocation;
    mkdirSync(directory, { mode: 0o700 });
    mkdirSync(logs, { recursive: true, mode: 0o700 });
    const env = { ...definedVariables(process.env), ...this.spec.env, [markVariable]: applyId };
    const hosts = hostPlaces(this.meshes).map((place, index) => ({
      ...place,
      command: this.#command(`unix://${directory}/${index}.sock`),
      env: { ...env, VICEROY_JOB_MESH: place.mesh, VICEROY_JOB_RANK: String(place.rank) },
      cwd: process.cwd(),
    }));
    const order = { applyId, directory, logs, idle: idle ?? null, parallel, hosts };
    try {
      await startKeeper(order, join(logs, "keeper.log"));
    } catch (error) {
      await this.destroy(allocation);
      throw error;
    }
    return allocation;
  }

  async find(applyId: string, folder: string): Promise<ProcessAllocation | undefined> {
    const allocation = allocationOf(applyId, folder);
    if ((await keptHosts(allocation.directory)) !== undefined) return allocation;
    // The driver, or the keeper, was killed while the keeper started.
    await this.destroy(allocation);
    return undefined;
  }

  async isAlive({ directory }: ProcessAllocation): Promise<boolean> {
    const hosts = await keptHosts(directory);
    return hosts?.every(({ state }) => state !== "ended") ?? false;
  }

  async hosts({ directory }: ProcessAllocation, report: Report, signal: AbortSignal): Promise<readonly ReadyHost[]> {
    const leaving = new AbortController();
    const up = new Map<string, ReadyHost>();
    const wanted = hostPlaces(this.meshes).length;
    try {
      for await (const { host, ended } of keeperEvents(directory, AbortSignal.any([signal, leaving.signal]))) {
        if (ended !== undefined) throw new Error(ended);
        const { mesh, rank, state, address, reason } = host!;
        if (state === "ended") throw new Error(reason);
        if (state !== "up" || address === undefined || up.has(formatPlace({ mesh, rank }))) continue;
        up.set(formatPlace({ mesh, rank }), { mesh, rank, address });
        report({ kind: "running", mesh, rank, reason: `it listens at ${address}` });
        if (up.size === wanted) return hostPlaces(this.meshes).map((place) => up.get(formatPlace(place))!);
      }
    } finally {
      leaving.abort();
    }
    signal.throwIfAborted();
    throw new Error("its keeper has ended");
  }

  async watch({ directory }: ProcessAllocation, report: Report, signal: AbortSignal): Promise<string> {
    for await (const { host, ended } of keeperEvents(directory, signal)) {
      if (ended !== undefined) return ended;
      if (host?.state !== "ended") continue;
      report({ kind: "host-lost", mesh: host.mesh, rank: host.rank, reason: host.reason ?? "" });
    }
    return "its keeper has ended";
  }

  async destroy({ applyId, directory }: ProcessAllocation): Promise<void> {
    await endKeeper(directory);
    // The keeper may have been killed before.
    const isGone = await endMarkedProcesses(applyId);
    rmSync(directory, { recursive: true, force: true });
    if (!isGone) throw new Error(`processes with ${markVariable}=${applyId} do not end after SIGKILL`);
  }

  logs({ directory, logs }: ProcessAllocation, { follow, signal }: LogRequest): AsyncIterable<JobLogLine> {
    const files = hostPlaces(this.meshes).map((place) => ({ ...place, file: logFileOf(logs, place) }));
    const isOver = async () => (await keptHosts(directory)) === undefined;
    return readLogs(files, follow ? isOver : undefined, signal);
  }

  #command(listen: string): string[] {
    const { setup, node } = this.spec;
    const command = [node ?? process.execPath, commandLine, "host", "--lifeline", "--print", "--listen", listen];
    return setup === null ? command : ["/bin/sh", "-c", `set -e\n${setup}\nexec "$@"`, "sh", ...command];
  }
}

/** The paths of sockets are short, so the directory is not in the folder of the run. */
function allocationOf(applyId: string, folder: string): ProcessAllocation {
  return { applyId, directory: join(tmpdir(), `vj-${applyId.slice(0, 13)}`), logs: join(folder, "logs") };
}

function definedVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** Makes the provider again from what a record contains. */
export function processProvider(spec: Json): ProcessProvider {
  return new ProcessProvider(spec as ProcessSpec);
}
