/** One batch job that was submitted: what Slurm says about it, from the queue to its end. */
import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { formatPlace, type HostPlace, hostPlaces } from "../mesh-spec.js";
import type { Report } from "../provider.js";
import { SilentHostError } from "../reach/answering-hosts.js";
import type { LoginCommands } from "../reach/login-commands.js";
import type { NodeReach } from "../reach/node-reach.js";
import { commentOf, warnSeconds } from "./batch-script.js";
import {
  accountedEnd,
  hasComment,
  hostNames,
  isLiving,
  isTransient,
  isWarned,
  type QueueLine,
  queryQueue,
} from "./queue.js";
import { readSlurmLogs, type SlurmLogFile } from "./slurm-logs.js";

/** Time in ms between two questions about the queue: each is twice the one before. */
const firstPollMs = 200;
const longestPollMs = 2000;

/** Time in ms between two looks for the output file of a job, which Slurm creates when it starts the job. */
const fileLookMs = 50;

/** Time in ms for the command of a batch job to end after SIGTERM, when the job is killed. */
const commandEndMs = 5000;

/** Time in ms for Slurm to end a job that was cancelled. */
const cancelLimitMs = 120_000;

/** The longest time in seconds to an end that a warning tells exactly. */
const maxAnnouncedSeconds = 3600;

/** The number of lines of output in errors. */
const shownLines = 10;

/** A host that Slurm has started on a node. */
export interface StartedHost {
  readonly place: HostPlace;
  readonly node: string;
  readonly port: number;
  /** The component of a heterogeneous job to which it belongs; undefined in other jobs. */
  readonly component: number | undefined;
}

/** The id of a batch job in the queue, and the run to which it belongs. */
export interface BatchIdentity {
  readonly id: number;
  readonly applyId: string;
  /** The names and sizes of its meshes, in the order of their nodes. */
  readonly meshes: Readonly<Record<string, { readonly hosts: number }>>;
  /** The rank of the first host of each mesh. */
  readonly first: number;
  /** The port of its hosts. */
  readonly port: number;
  /** The folder of its output where the commands of Slurm run. */
  readonly folder: string;
  /** Whether the folder is on this machine, too. */
  readonly isHere: boolean;
}

/** The nodes of a job that runs. */
export interface Started {
  readonly hosts: readonly StartedHost[];
  /** The number of times that Slurm has started the job again. */
  readonly restarts: number;
}

export class BatchInQueue {
  readonly #commands: LoginCommands;
  readonly #job: BatchIdentity;
  readonly #reach: NodeReach;

  constructor(commands: LoginCommands, job: BatchIdentity, reach: NodeReach) {
    this.#commands = commands;
    this.#job = job;
    this.#reach = reach;
  }

  /** The port of its hosts. */
  get port(): number {
    return this.#job.port;
  }

  /** Returns whether the job waits or runs, with all of its components. */
  async isAlive(): Promise<boolean> {
    const lines = await this.#query();
    return lines.length > 0 && lines.every(isLiving);
  }

  /** Returns whether any component of the job has not ended. */
  async isLiving(): Promise<boolean> {
    return (await this.#query()).some(isLiving);
  }

  /** Returns the state in which the job has ended; undefined if it has not, or if Slurm does not say. */
  async endState(): Promise<string | undefined> {
    const lines = await this.#query().catch(() => []);
    return lines.find((line) => !isLiving(line))?.state;
  }

  /** Sends SIGTERM to the command of a batch job, and gives it time to end while its hosts are there. */
  async askToEnd(): Promise<void> {
    const runs = async () => (await this.#query()).some(({ state }) => state === "RUNNING");
    if (!(await runs())) return;
    await this.#commands.run(["scancel", "--batch", "--signal=TERM", String(this.#job.id)]);
    const end = Date.now() + commandEndMs;
    while (Date.now() < end && (await runs())) await pause(firstPollMs);
  }

  /** Asks Slurm to end the job. An id can belong to somebody else's job by now. */
  async cancel(): Promise<void> {
    if (await this.isLiving()) await this.#commands.run(["scancel", String(this.#job.id)]);
  }

  /** Waits until a cancelled job has ended. @throws Error if it does not end */
  async ended(): Promise<void> {
    const end = Date.now() + cancelLimitMs;
    while (await this.isLiving()) {
      if (Date.now() > end) throw new Error(`Slurm does not end job ${this.#job.id}, which was cancelled`);
      await pause(firstPollMs);
    }
  }

  /** The places of the hosts, in the order of their nodes. */
  get places(): HostPlace[] {
    const { meshes, first } = this.#job;
    return hostPlaces(meshes).map(({ mesh, rank }) => ({ mesh, rank: rank + first }));
  }

  /** The file to which the hosts print. */
  get output(): string {
    return `${this.#job.folder}/slurm-${this.#job.id}.log`;
  }

  /** Its output, as `readSlurmLogs` reads it. */
  get log(): SlurmLogFile {
    const { meshes, first } = this.#job;
    return { file: this.output, meshes: Object.keys(meshes), first };
  }

  /**
   * Waits until all hosts answer, and again if Slurm requeues the job meanwhile.
   * @returns fewer hosts if Slurm gives fewer nodes
   * @throws Error if the job ends before, or when `signal` is aborted; the error names a host that does not answer
   */
  async hosts(report: Report, signal: AbortSignal): Promise<readonly StartedHost[]> {
    const wanted = this.places.length;
    for (;;) {
      const started = await this.#started(report, signal);
      if (started.hosts.length < wanted) return started.hosts;
      const nodes = started.hosts.map(({ node }) => node).join(", ");
      report({ kind: "starting", reason: `job ${this.#job.id} runs on ${nodes}` });
      if (await this.#allAnswer(started, report, signal)) return started.hosts;
    }
  }

  /** Reports what happens to the job. Resolves with the reason when it has ended. */
  async watch(report: Report, signal: AbortSignal): Promise<string> {
    const { id } = this.#job;
    let wasRunning = false;
    let hasWarned = false;
    let restarts: number | undefined;
    for (;;) {
      const lines = await this.#queryPatiently(report, signal);
      const ended = lines.find((line) => !isLiving(line));
      if (lines.length === 0 || ended !== undefined) return this.#describeEnd(ended);
      const isRunning = lines.every(({ state }) => state === "RUNNING");
      const [first] = lines as [QueueLine];
      const { state, reason } = first;
      // A job can be started again between two questions. What was before the first one does not concern this program.
      restarts ??= first.restarts;
      if (state !== "COMPLETING") {
        if (!isRunning && !wasRunning) this.#reportWaiting(lines, report);
        if (first.restarts > restarts || (wasRunning && !isRunning)) {
          report({ kind: "host-lost", reason: `job ${id} is ${state} again: ${reason}` });
          hasWarned = false;
        }
        restarts = Math.max(restarts, first.restarts);
        wasRunning = isRunning;
      }
      const left = Math.min(...lines.map((line) => line.left ?? Infinity));
      if (isRunning && !hasWarned && (left <= warnSeconds || lines.some(isWarned))) {
        hasWarned = true;
        const when = left <= maxAnnouncedSeconds ? `in ${left} s` : "soon";
        report({ kind: "warned", reason: `Slurm ends job ${id} ${when}: it reaches its time limit, or is preempted` });
      }
      await pause(longestPollMs, undefined, { signal, ref: false });
    }
  }

  /** Reports why a component of the job does not run yet. */
  #reportWaiting(lines: readonly QueueLine[], report: Report): void {
    const { state, reason } = lines.find((line) => line.state !== "RUNNING")!;
    const why = reason === "None" ? "" : `: ${reason}`;
    report({ kind: "pending", reason: `job ${this.#job.id} is ${state}${why}` });
  }

  /** Asks about the job. Another job with its id is none of ours. */
  async #query(): Promise<readonly QueueLine[]> {
    const lines = await queryQueue(this.#commands, this.#job.id);
    return lines.filter((line) => hasComment(line, commentOf(this.#job.applyId)));
  }

  /** As `#query`, but waits while Slurm does not answer. */
  #queryPatiently(report: Report, signal: AbortSignal): Promise<readonly QueueLine[]> {
    return this.#patiently(() => this.#query(), report, signal);
  }

  /** Asks Slurm something until its controller, or the login node, answers. */
  async #patiently<T>(ask: () => Promise<T>, report: Report, signal: AbortSignal): Promise<T> {
    for (let wait = firstPollMs; ; wait = Math.min(2 * wait, longestPollMs)) {
      try {
        return await ask();
      } catch (error) {
        if (!isTransient(error)) throw error;
        report({ kind: "pending", reason: `Slurm does not answer: ${error.said}` });
      }
      await pause(wait, undefined, { signal, ref: false });
    }
  }

  /** Waits until Slurm has started the job. */
  async #started(report: Report, signal: AbortSignal): Promise<Started> {
    for (let wait = firstPollMs; ; wait = Math.min(2 * wait, longestPollMs)) {
      const started = await this.startedNow(report, signal);
      if (started !== undefined) return started;
      await this.#pauseUntilStart(wait, signal);
    }
  }

  /**
   * Returns the nodes of the job if all of it runs; undefined while it waits, which is reported.
   * @throws Error with the reason if it has ended
   */
  async startedNow(report: Report, signal: AbortSignal): Promise<Started | undefined> {
    const lines = await this.#queryPatiently(report, signal);
    const ended = lines.find((line) => !isLiving(line));
    if (lines.length === 0 || ended !== undefined) throw new Error(await this.#describeEnd(ended));
    if (!lines.every(({ state }) => state === "RUNNING")) {
      this.#reportWaiting(lines, report);
      return undefined;
    }
    const nodes: { readonly node: string; readonly component: number | undefined }[] = [];
    for (const [index, line] of lines.entries()) {
      const component = lines.length === 1 ? undefined : index;
      const names = await this.#patiently(() => hostNames(this.#commands, line.nodes), report, signal);
      nodes.push(...names.map((node) => ({ node, component })));
    }
    const places = this.places.slice(0, nodes.length);
    const hosts = places.map((place, index) => ({
      place,
      ...nodes[index]!,
      port: this.#job.port,
    }));
    return { hosts, restarts: lines[0]!.restarts };
  }

  /** Waits for a time, or until Slurm has created the output file. Asking Slurm more often is a burden for large clusters. */
  async #pauseUntilStart(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#job.isHere || existsSync(this.output)) return pause(ms, undefined, { signal });
    const end = Date.now() + ms;
    while (Date.now() < end && !existsSync(this.output)) await pause(fileLookMs, undefined, { signal });
  }

  /** Resolves with true when all hosts answer, and with false when they do not run any more. */
  async #allAnswer({ hosts, restarts }: Started, report: Report, signal: AbortSignal): Promise<boolean> {
    const { port } = this.#job;
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    const answers = hosts.map(async ({ place, node }) => {
      await this.#reach.waitForAnswer({ node, port }, either);
      report({ kind: "running", ...place, reason: `it listens at ${node}:${port}` });
    });
    const stopped = this.#stopped(restarts, report, either);
    stopped.catch(() => {});
    try {
      return await Promise.race([Promise.all(answers).then(() => true), stopped.then(() => false)]);
    } catch (error) {
      if (!signal.aborted) throw error;
      throw await this.#describeSilence(hosts, await Promise.allSettled(answers), error);
    } finally {
      over.abort();
      await Promise.allSettled(answers);
    }
  }

  /** Resolves when the job does not run any more, or was started again. */
  async #stopped(restarts: number, report: Report, signal: AbortSignal): Promise<void> {
    for (;;) {
      const lines = await this.#queryPatiently(report, signal);
      if (lines.length === 0 || lines.some((line) => line.state !== "RUNNING" || line.restarts !== restarts)) return;
      await pause(longestPollMs, undefined, { signal, ref: false });
    }
  }

  /** Returns the error for the first host that has not answered, in the order of the ranks. */
  async #describeSilence(
    hosts: readonly StartedHost[],
    answers: readonly PromiseSettledResult<void>[],
    error: unknown,
  ): Promise<unknown> {
    const index = answers.findIndex(({ status }) => status === "rejected");
    const answer = answers[index];
    if (answer?.status !== "rejected" || !(answer.reason instanceof SilentHostError)) return error;
    const { place } = hosts[index]!;
    const said = await this.#outputOf(place);
    const output = said === "" ? "it has printed nothing" : `its output ends with: ${said}`;
    return new Error(`${formatPlace(place)} ${answer.reason.message}; ${output}`, { cause: answer.reason });
  }

  async #outputOf({ mesh, rank }: HostPlace): Promise<string> {
    const lines: string[] = [];
    for await (const line of readSlurmLogs(this.#commands, [this.log], undefined, new AbortController().signal)) {
      if (line.mesh === mesh && line.rank === rank) lines.push(line.line);
    }
    return lines.slice(-shownLines).join("\n");
  }

  async #describeEnd(line: QueueLine | undefined): Promise<string> {
    const { id } = this.#job;
    if (line !== undefined) {
      // The reason of a cancelled job is why it waited.
      const hasReason = !["", "None"].includes(line.reason) && line.state !== "CANCELLED";
      const reason = hasReason ? ` (${line.reason})` : "";
      const output = line.state === "CANCELLED" ? "" : await this.#outputEnd();
      return `Slurm has ended job ${id}: ${line.state}${reason}${output}`;
    }
    const accounted = await accountedEnd(this.#commands, id);
    return accounted === undefined
      ? `Slurm does not know job ${id} any more, and keeps no accounts`
      : `Slurm has ended job ${id}: ${accounted}`;
  }

  /** Returns the last lines of the output file, for an error; empty if there are none. */
  async #outputEnd(): Promise<string> {
    try {
      const said = await this.#commands.run(["tail", "-n", String(shownLines), this.output]);
      return said.trim() === "" ? "" : `; its output ends with: ${said.trim()}`;
    } catch {
      return (
        `; it could not create its output file ${this.output}: its first node does not see this folder. The cache of ` +
        "the job must be in a folder that all nodes share"
      );
    }
  }
}
