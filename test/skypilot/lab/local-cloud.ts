/**
 * An API server of SkyPilot whose machines are processes of this machine: it runs the scripts of a task with bash, one home and one address of the
 * loopback network for each machine. What it answers has the form of the recordings. It is for tests of what happens on machines, which no
 * recording can do.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import type { JobStatus } from "../../../runtime/job/skypilot/api/clusters.js";
import { markedProcesses, processIds, processStat } from "../../../runtime/process-table.js";
import { current } from "./scripted-server.js";

/** The variable that marks the processes of a machine. */
const machineVariable = "VICEROY_TEST_MACHINE";

interface Machine {
  readonly name: string;
  readonly address: string;
  readonly home: string;
}

interface LocalJob {
  readonly id: number;
  status: JobStatus;
  readonly lines: string[];
  /** Those who read the log as it grows. */
  readonly readers: Set<() => void>;
  readonly commands: Map<Machine, ChildProcess>;
}

interface LocalCluster {
  readonly name: string;
  status: "INIT" | "UP" | "STOPPED";
  reason: string | null;
  readonly machines: Machine[];
  readonly jobs: LocalJob[];
}

/** The part of a task that this cloud uses. */
export interface LocalTask {
  readonly num_nodes: number;
  readonly resources: Readonly<Record<string, unknown>>;
  readonly envs?: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
  readonly setup: string;
  readonly run: string;
}

interface LocalRequest {
  readonly id: string;
  readonly name: string;
  readonly cluster: string;
  status: "RUNNING" | "SUCCEEDED" | "FAILED" | "CANCELLED";
  value: unknown;
  error: { readonly type: string; readonly message: string } | null;
  readonly ended: PromiseLike<void>;
  end(): void;
}

/** How launches go. */
export interface LocalCloudOptions {
  /** Resolves when a launch may go on; rejects with the error of SkyPilot. Default: at once. */
  readonly launching?: (cluster: string, attempt: number) => Promise<void>;
  /** Whether there is a cluster of each name already. Default: false. */
  readonly isTaken?: boolean;
  /** Whether machines cannot be stopped, as pods. Default: false. */
  readonly cannotStop?: boolean;
}

export class LocalCloud {
  readonly clusters = new Map<string, LocalCluster>();
  /** The tasks of all launches. */
  readonly tasks: LocalTask[] = [];
  /** What was asked: `POST /launch`. */
  readonly asked: string[] = [];
  readonly #options: LocalCloudOptions;
  readonly #requests: LocalRequest[] = [];
  readonly #folder = mkdtempSync(path.join(tmpdir(), "viceroy-cloud-"));
  /** The part of the loopback network with the machines of this cloud. */
  readonly #network = `127.${randomInt(1, 255)}.${randomInt(0, 255)}`;
  #machines = 0;
  readonly #server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => void this.#answer(request, response, Buffer.concat(parts).toString()));
  });

  static async start(options: LocalCloudOptions = {}): Promise<LocalCloud> {
    const cloud = new LocalCloud(options);
    await new Promise<void>((resolve) => cloud.#server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => cloud.close());
    return cloud;
  }

  private constructor(options: LocalCloudOptions) {
    this.#options = options;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const { machines } of this.clusters.values()) for (const machine of machines) this.#end(machine);
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }

  /** Takes a machine of a cluster away, as the cloud does with a spot instance. */
  preempt(cluster: string, index: number): void {
    const found = this.clusters.get(cluster)!;
    const [machine] = found.machines.splice(index, 1);
    this.#end(machine!);
    found.status = "INIT";
    found.reason = "one or more nodes terminated";
    // SkyPilot ends the other commands of a job when one has failed.
    for (const job of found.jobs) this.#finish(job, "FAILED");
  }

  /** Forgets all requests, as a local server does when it is started again. Launches have ended without their machines. */
  forget(): void {
    for (const request of this.#requests.splice(0)) {
      request.status = "CANCELLED";
      request.end();
    }
  }

  /** Takes a cluster down, as another user of SkyPilot may do. */
  async down(cluster: string): Promise<void> {
    await this.#do("/down", {}, cluster);
  }

  /** Stops a cluster, as another user of SkyPilot may do, or its autostop. */
  async stop(cluster: string): Promise<void> {
    await this.#do("/stop", {}, cluster);
  }

  /** Ends the processes of a machine that match, which goes on itself. */
  killProcesses(cluster: string, index: number, isWanted: (pid: number) => boolean): void {
    const { name } = this.clusters.get(cluster)!.machines[index]!;
    for (const pid of markedProcesses(machineVariable, (value) => value === name).filter(isWanted)) kill(pid);
  }

  #end({ name }: Machine): void {
    for (const pid of markedProcesses(machineVariable, (value) => value === name)) kill(pid);
  }

  #finish(job: LocalJob, status: JobStatus): void {
    if (!["SETTING_UP", "RUNNING"].includes(job.status)) return;
    job.status = status;
    // SkyPilot ends what descends from its commands.
    for (const command of job.commands.values()) killTree(command.pid!);
    for (const wake of job.readers) wake();
  }

  async #answer(request: IncomingMessage, response: ServerResponse, text: string): Promise<void> {
    const url = new URL(request.url!, "http://localhost");
    this.asked.push(`${request.method} ${url.pathname}`);
    const send = (value: unknown, status = 200, headers = {}) =>
      response.writeHead(status, { ...current, ...headers }).end(JSON.stringify(value));
    const id = url.searchParams.get("request_id");
    switch (url.pathname) {
      case "/api/health":
        send({ status: "healthy", api_version: "62", version: "0.14.1", user: null });
        return;
      case "/api/get": {
        const found = this.#requests.find((each) => each.id === id);
        if (found === undefined) {
          send({ detail: "not found" }, 404);
          return;
        }
        await found.ended;
        if (!this.#requests.includes(found)) {
          send({ detail: "not found" }, 404);
          return;
        }
        const { status, value, error } = found;
        const detail = { status, return_value: JSON.stringify(value ?? null), error: JSON.stringify(error) };
        send(error === null ? detail : { detail }, error === null ? 200 : 500);
        return;
      }
      case "/api/stream":
        response.writeHead(200, current).write("Launching\n");
        await this.#requests.find((each) => each.id === id)?.ended;
        response.end();
        return;
      case "/api/status": {
        const cluster = url.searchParams.get("cluster_name");
        const open = this.#requests.filter((each) => each.cluster === cluster && each.status === "RUNNING");
        send(open.map(({ id, name, status, cluster }) => ({ request_id: id, name, status, cluster_name: cluster })));
        return;
      }
      case "/logs":
        this.#sendLog(JSON.parse(text) as { cluster_name: string; follow: boolean }, response);
        return;
      default: {
        const body = JSON.parse(text) as Record<string, unknown>;
        const begun = this.#begin(url.pathname, body);
        send(null, 200, { "x-skypilot-request-id": begun.id });
      }
    }
  }

  #begin(what: string, body: Readonly<Record<string, unknown>>): LocalRequest {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const cluster = String(body["cluster_name"] ?? "");
    const request: LocalRequest = {
      id: `r-${this.#requests.length}`,
      name: what.replace("/", "sky."),
      cluster,
      status: "RUNNING",
      value: null,
      error: null,
      ended,
      end,
    };
    this.#requests.push(request);
    this.#do(what, body, cluster).then(
      (value) => {
        if (request.status === "RUNNING") Object.assign(request, { status: "SUCCEEDED", value });
        end();
      },
      (error: Error) => {
        if (request.status === "RUNNING") {
          Object.assign(request, { status: "FAILED", error: { type: error.name, message: error.message } });
        }
        end();
      },
    );
    return request;
  }

  async #do(what: string, body: Readonly<Record<string, unknown>>, name: string): Promise<unknown> {
    const cluster = this.clusters.get(name);
    switch (what) {
      case "/launch":
        return this.#launch(name, JSON.parse(String(body["task"])) as LocalTask);
      case "/status": {
        const [wanted] = body["cluster_names"] as [string];
        const found = this.clusters.get(wanted);
        if (found === undefined && !this.#options.isTaken) return [];
        const { status, reason, machines } = found ?? { status: "UP", reason: null, machines: [] };
        const state = { name: wanted, status, cluster_hash: wanted, nodes: machines.length, cloud: "Local" };
        return [{ ...state, region: null, autostop: -1, to_down: false, init_status_reason: reason }];
      }
      case "/queue":
        return [...cluster!.jobs]
          .reverse()
          .map(({ id, status }) => ({ job_id: id, job_name: name, status: `${status}` }));
      case "/cancel":
        for (const job of cluster!.jobs) this.#finish(job, "CANCELLED");
        return null;
      case "/stop":
        if (this.#options.cannotStop) throw named("NotSupportedError", "Local does not support stopping");
        for (const job of cluster!.jobs) this.#finish(job, "FAILED");
        for (const machine of cluster!.machines) this.#end(machine);
        cluster!.status = "STOPPED";
        return null;
      case "/down":
        if (cluster === undefined) throw named("ClusterDoesNotExist", `Cluster '${name}' does not exist.`);
        for (const job of cluster.jobs) this.#finish(job, "FAILED");
        for (const machine of cluster.machines) this.#end(machine);
        this.clusters.delete(name);
        return null;
      case "/api/cancel":
        for (const request of this.#requests) {
          if (!(body["request_ids"] as string[]).includes(request.id)) continue;
          request.status = "CANCELLED";
          request.end();
        }
        return null;
      case "/cost_report":
        return [{ name: (body["cluster_names"] as [string])[0], total_cost: 1.234, duration: 10 }];
      default:
        throw named("ValueError", `no ${what}`);
    }
  }

  async #launch(name: string, task: LocalTask): Promise<null> {
    const attempt = this.tasks.push(task);
    const [first] = this.#requests;
    const isForgotten = () => this.#requests[0] !== first;
    const cluster: LocalCluster = this.clusters.get(name) ?? {
      name,
      status: "INIT",
      reason: null,
      machines: [],
      jobs: [],
    };
    this.clusters.set(name, cluster);
    try {
      await this.#options.launching?.(name, attempt);
    } catch (error) {
      if (cluster.machines.length === 0) this.clusters.delete(name);
      throw error;
    }
    if (isForgotten()) {
      this.clusters.delete(name);
      return null;
    }
    while (cluster.machines.length < task.num_nodes) {
      const number = ++this.#machines;
      const machine = `${name}-${number}`;
      const home = path.join(this.#folder, machine);
      mkdirSync(home);
      // A new machine comes first, so that the numbers of the others change.
      cluster.machines.unshift({ name: machine, home, address: `${this.#network}.${number}` });
    }
    if (cluster.jobs.length === 0) cluster.machines.reverse();
    cluster.status = "UP";
    cluster.reason = null;
    const job: LocalJob = {
      id: cluster.jobs.length + 1,
      status: "SETTING_UP",
      lines: [],
      readers: new Set(),
      commands: new Map(),
    };
    cluster.jobs.push(job);
    void this.#runJob(cluster, job, task);
    return null;
  }

  async #runJob({ machines }: LocalCluster, job: LocalJob, task: LocalTask): Promise<void> {
    const own = [...machines];
    const run = (script: string, machine: Machine, rank: number, prefix: string) => {
      const env = {
        ...task.envs,
        ...task.secrets,
        PATH: `${path.dirname(process.execPath)}:${process.env["PATH"]}`,
        HOME: machine.home,
        XDG_CACHE_HOME: path.join(machine.home, ".cache"),
        [machineVariable]: machine.name,
        SKYPILOT_NODE_IPS: own.map(({ address }) => address).join("\n"),
        SKYPILOT_NODE_RANK: String(rank),
      };
      const command = spawn("bash", ["-s"], { env, cwd: machine.home, stdio: ["pipe", "pipe", "pipe"] });
      // The machine can be taken down before it has read its script.
      command.stdin.on("error", () => {});
      command.stdin.end(script);
      job.commands.set(machine, command);
      const print = (line: string) => {
        job.lines.push(`(${prefix}, rank=${rank}, pid=${command.pid}) ${line}`);
        for (const wake of job.readers) wake();
      };
      for (const stream of [command.stdout, command.stderr]) createInterface(stream).on("line", print);
      return new Promise<number | null>((resolve) => command.once("close", resolve));
    };
    const setups = await Promise.all(own.map((machine, rank) => run(task.setup, machine, rank, "setup")));
    if (setups.some((code) => code !== 0)) {
      this.#finish(job, "FAILED_SETUP");
      return;
    }
    if (job.status !== "SETTING_UP") return;
    job.status = "RUNNING";
    const codes = await Promise.all(
      own.map((machine, rank) => run(task.run, machine, rank, rank === 0 ? "head" : `worker${rank}`)),
    );
    this.#finish(job, codes.every((code) => code === 0) ? "SUCCEEDED" : "FAILED");
  }

  #sendLog({ cluster_name: name, follow }: { cluster_name: string; follow: boolean }, response: ServerResponse): void {
    const job = this.clusters.get(name)?.jobs.at(-1);
    if (job === undefined) {
      // The real server also answers with nothing.
      response.writeHead(200, current).end();
      return;
    }
    response.writeHead(200, current).flushHeaders();
    let sent = 0;
    const send = () => {
      for (; sent < job.lines.length; sent++) response.write(`${job.lines[sent]}\n`);
      if (follow && ["SETTING_UP", "RUNNING"].includes(job.status)) return;
      job.readers.delete(send);
      response.end();
    };
    job.readers.add(send);
    response.once("close", () => job.readers.delete(send));
    send();
  }
}

function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** Ends a process and its descendants, as SkyPilot does at the end of a job. */
function killTree(pid: number): void {
  const ended = new Set([pid]);
  // A set also visits what is added to it meanwhile.
  for (const each of ended) {
    for (const other of processIds()) if (processStat(other)?.parent === each) ended.add(other);
  }
  for (const each of ended) kill(each);
}
