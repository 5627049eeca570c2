/**
 * Gives hosts from an allocation of Slurm: one batch job for all meshes, or one for each, whose steps run the daemons.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { batchVariable, type ClientOutcome, outcomeFileOf, parseOutcome, recordFileOf } from "../batch/client.js";
import { credentialsName, hostUri, issuerFiles } from "../credentials/credentials-folder.js";
import type { TlsSpec } from "../job-options.js";
import { formatPlace, hostPlaces } from "../mesh-spec.js";
import type { JobLogLine, JobProvider, Json, LogRequest, ReadyHost, Report, Submission } from "../provider.js";
import { quote } from "../quote.js";
import { type BatchJob, batchScript, commentOf, portOf } from "./batch-script.js";
import { accountedEnd, findJobs, hostNames, isLiving, type QueueLine, queryQueue } from "./queue.js";
import { SlurmCommandError, SlurmCommands } from "./slurm-commands.js";
import { readSlurmLogs } from "./slurm-logs.js";
import type { SlurmSpec } from "./slurm-spec.js";

/** One submitted batch job. */
type SubmittedBatch = {
  readonly id: number;
  /** The names of its meshes, in the order of their nodes. */
  readonly meshes: readonly string[];
};

/** What is known of a submitted job. */
export type SlurmAllocation = {
  readonly applyId: string;
  readonly batches: readonly SubmittedBatch[];
  /** The folder of the output, and of the token or the credentials, where the commands of Slurm run. */
  readonly folder: string;
  /** The file with the token on this machine, if the hosts have no certificates. */
  readonly tokenFile: string;
  /** Whether the batch script runs a command. Absent: false. */
  readonly isBatch?: boolean;
};

const commandLine = fileURLToPath(new URL("./cli/viceroy.js", import.meta.url));
const issuer = fileURLToPath(new URL("./job-issuer.mjs", import.meta.url));

/** The name of the file with the token. */
const tokenName = "token";

/** Time in ms between two questions about the queue: each is twice the one before. */
const firstPollMs = 200;
const longestPollMs = 2000;

/** Time in seconds before the time limit at which a job is warned. */
const warnSeconds = 60;

/** Time in ms that the hosts wait for a driver, if they are to end with it. The driver attaches them one after another. */
const driverEndMs = 60_000;

/** Time in ms for the command of a batch job to end after SIGTERM, when the job is killed. */
const commandEndMs = 5000;

/** The states of a job whose batch script has ended by itself. */
const commandStates = new Set(["COMPLETED", "FAILED"]);

/** Time in ms for Slurm to end a job that was cancelled. */
const cancelLimitMs = 120_000;

export class SlurmProvider implements JobProvider<SlurmAllocation> {
  readonly kind = "slurm";
  readonly spec: SlurmSpec;
  readonly #commands: SlurmCommands;

  constructor(spec: SlurmSpec) {
    this.spec = spec;
    // The command of a batch job is on a node, where the commands of Slurm are.
    this.#commands = new SlurmCommands(process.env[batchVariable] === undefined ? spec.login : null);
  }

  get tls(): TlsSpec | null {
    return this.spec.tls;
  }

  get meshes(): SlurmSpec["meshes"] {
    return this.spec.meshes;
  }

  async submit({
    name,
    applyId,
    folder,
    credentials,
    idle = driverEndMs,
    client,
    record,
  }: Submission): Promise<SlurmAllocation> {
    if (client !== undefined && this.spec.allocation === "each") {
      throw new Error('a command needs all meshes in one job of Slurm; use the option allocation: "one"');
    }
    const tokenFile = join(folder, tokenName);
    if (credentials === undefined) {
      writeFileSync(tokenFile, randomBytes(32).toString("base64url"), { mode: 0o600 });
    }
    const secret = credentials === undefined ? [tokenName] : issuerFiles.map((file) => join(credentialsName, file));
    const onLogin = this.spec.login === null ? folder : await this.#makeRemoteFolder(applyId, folder, secret);
    if (client !== undefined && this.spec.login !== null) await this.#writeRemote(recordFileOf(onLogin), record);
    const base = { applyId, folder: onLogin, tokenFile };
    const batches: SubmittedBatch[] = [];
    try {
      for (const meshes of this.#groups()) {
        const job: BatchJob = { name, applyId, meshes, folder: onLogin, issuer, commandLine, node: this.#node, idle };
        if (client !== undefined) Object.assign(job, { client });
        const out = await this.#commands.run(["sbatch", "--parsable"], batchScript(this.spec, job));
        const [, id] = /^(\d+)(?:;|$)/m.exec(out.trim()) ?? [];
        if (id === undefined) throw new Error(`sbatch has printed no job id: ${out.trim()}`);
        batches.push({ id: Number(id), meshes: Object.keys(meshes) });
      }
    } catch (error) {
      await this.destroy({ ...base, batches });
      throw error;
    }
    return client === undefined ? { ...base, batches } : { ...base, batches, isBatch: true };
  }

  async find(applyId: string, folder: string): Promise<SlurmAllocation | undefined> {
    const ids = (await findJobs(this.#commands, commentOf(applyId))).sort((left, right) => left - right);
    const groups = this.#groups();
    const onLogin = this.spec.login === null ? folder : remoteFolder(applyId);
    const base = { applyId, folder: onLogin, tokenFile: join(folder, tokenName) };
    const batches = ids.map((id, index) => ({ id, meshes: Object.keys(groups[index] ?? {}) }));
    if (ids.length === groups.length) return { ...base, batches };
    // The driver was killed between two of several submissions.
    if (ids.length > 0) await this.destroy({ ...base, batches });
    return undefined;
  }

  ownAllocation(applyId: string, folder: string): SlurmAllocation {
    const batches = [{ id: Number(process.env["SLURM_JOB_ID"]), meshes: Object.keys(this.meshes) }];
    return { applyId, batches, folder, tokenFile: join(folder, "token") };
  }

  async outcome({ batches, applyId, folder }: SlurmAllocation): Promise<ClientOutcome | undefined> {
    const written = await this.#commands.run(["cat", outcomeFileOf(folder)]).catch(() => "");
    const outcome = parseOutcome(written);
    if (outcome === undefined) return undefined;
    const lines = await this.#query(batches[0]!.id, applyId).catch(() => []);
    const ended = lines.find((line) => !isLiving(line));
    if (ended === undefined) return outcome;
    // The command of a job that was cancelled may end by itself, because its hosts have gone first.
    if (!commandStates.has(ended.state)) return undefined;
    return { ...outcome, scheduler: `Slurm has ended job ${batches[0]!.id}: ${ended.state}` };
  }

  async isAlive({ batches, applyId }: SlurmAllocation): Promise<boolean> {
    for (const { id } of batches) {
      const lines = await this.#query(id, applyId);
      if (lines.length === 0 || !lines.every(isLiving)) return false;
    }
    return true;
  }

  async hosts(allocation: SlurmAllocation, report: Report, signal: AbortSignal): Promise<readonly ReadyHost[]> {
    const hosts: ReadyHost[] = [];
    const { applyId, tokenFile } = allocation;
    const token = this.tls === null ? { token: readFileSync(tokenFile, "utf8") } : {};
    for (const batch of allocation.batches) {
      const nodes = await this.#nodesWhenRunning(allocation, batch, report, signal);
      const places = hostPlaces(Object.fromEntries(batch.meshes.map((name) => [name, this.meshes[name]!])));
      const port = this.spec.port ?? portOf(batch.id);
      for (const [index, place] of places.slice(0, nodes.length).entries()) {
        const at = `${nodes[index]}:${port}`;
        const address = this.tls === null ? `tcp://${at}` : `tls://${at}#${hostUri(applyId, place)}`;
        hosts.push({ ...place, address, ...token });
        report({ kind: "running", ...place, reason: `Slurm has started it on ${nodes[index]}` });
      }
    }
    const order = hostPlaces(this.meshes).map(formatPlace);
    return hosts.sort((left, right) => order.indexOf(formatPlace(left)) - order.indexOf(formatPlace(right)));
  }

  async watch(allocation: SlurmAllocation, report: Report, signal: AbortSignal): Promise<string> {
    const ends = allocation.batches.map((batch) => this.#watchBatch(batch, allocation, report, signal));
    return Promise.race(ends);
  }

  async destroy({ batches, applyId, folder, tokenFile, isBatch }: SlurmAllocation): Promise<void> {
    if (isBatch) await this.#askToEnd(batches[0]!.id, applyId);
    for (const { id } of batches) {
      // An id can belong to somebody else's job by now.
      if ((await this.#query(id, applyId)).some(isLiving)) await this.#commands.run(["scancel", String(id)]);
    }
    const end = Date.now() + cancelLimitMs;
    for (const { id } of batches) {
      while ((await this.#query(id, applyId)).some(isLiving)) {
        if (Date.now() > end) throw new Error(`Slurm does not end job ${id}, which was cancelled`);
        await pause(firstPollMs);
      }
    }
    if (this.spec.login !== null) {
      await this.#commands.run(["rm", "-rf", `${folder}/${tokenName}`, `${folder}/${credentialsName}`]);
    }
    rmSync(tokenFile, { force: true });
  }

  logs({ batches, folder, applyId }: SlurmAllocation, { follow, signal }: LogRequest): AsyncIterable<JobLogLine> {
    const isOver = async () => {
      for (const { id } of batches) if ((await this.#query(id, applyId)).some(isLiving)) return false;
      return true;
    };
    const places = batches.map(({ id, meshes }) => ({ file: `${folder}/slurm-${id}.log`, meshes }));
    return readSlurmLogs(this.#commands, places, follow ? isOver : undefined, signal);
  }

  get #node(): string {
    return this.spec.node ?? (this.spec.login === null ? process.execPath : "node");
  }

  /** Sends SIGTERM to the command of a batch job, and gives it time to end while its hosts are there. */
  async #askToEnd(id: number, applyId: string): Promise<void> {
    const runs = async () => (await this.#query(id, applyId)).some(({ state }) => state === "RUNNING");
    if (!(await runs())) return;
    await this.#commands.run(["scancel", "--batch", "--signal=TERM", String(id)]);
    const end = Date.now() + commandEndMs;
    while (Date.now() < end && (await runs())) await pause(firstPollMs);
  }

  /** Returns the meshes of each batch job. */
  #groups(): SlurmSpec["meshes"][] {
    const { meshes, allocation } = this.spec;
    return allocation === "one" ? [meshes] : Object.entries(meshes).map(([name, mesh]) => ({ [name]: mesh }));
  }

  /** Asks about a job of this run. Another job with its id is none of ours. */
  async #query(id: number, applyId: string): Promise<readonly QueueLine[]> {
    const lines = await queryQueue(this.#commands, id);
    return lines.filter(({ comment }) => comment === commentOf(applyId));
  }

  /** As `#query`, but waits while the controller of Slurm does not answer. */
  async #queryPatiently(
    id: number,
    applyId: string,
    report: Report,
    signal: AbortSignal,
  ): Promise<readonly QueueLine[]> {
    for (let wait = firstPollMs; ; wait = Math.min(2 * wait, longestPollMs)) {
      try {
        return await this.#query(id, applyId);
      } catch (error) {
        if (!(error instanceof SlurmCommandError && error.isTransient)) throw error;
        report({ kind: "pending", reason: `Slurm does not answer: ${error.said}` });
      }
      await pause(wait, undefined, { signal, ref: false });
    }
  }

  async #nodesWhenRunning(
    { applyId, folder }: SlurmAllocation,
    { id }: SubmittedBatch,
    report: Report,
    signal: AbortSignal,
  ): Promise<string[]> {
    for (let wait = firstPollMs; ; wait = Math.min(2 * wait, longestPollMs)) {
      const lines = await this.#queryPatiently(id, applyId, report, signal);
      const ended = lines.find((line) => !isLiving(line));
      if (lines.length === 0 || ended !== undefined) {
        throw new Error(await this.#describeEnd(id, ended, folder));
      }
      if (lines.every(({ state }) => state === "RUNNING")) {
        const names: string[] = [];
        for (const { nodes } of lines) names.push(...(await hostNames(this.#commands, nodes)));
        return names;
      }
      const waiting = lines.find(({ state }) => state !== "RUNNING")!;
      report({ kind: "pending", reason: `job ${id} is ${waiting.state}: ${waiting.reason}` });
      await pause(wait, undefined, { signal });
    }
  }

  async #watchBatch(
    { id }: SubmittedBatch,
    { applyId, folder }: SlurmAllocation,
    report: Report,
    signal: AbortSignal,
  ): Promise<string> {
    let wasRunning = false;
    let isWarned = false;
    for (;;) {
      const lines = await this.#queryPatiently(id, applyId, report, signal);
      const ended = lines.find((line) => !isLiving(line));
      if (lines.length === 0 || ended !== undefined) return this.#describeEnd(id, ended, folder);
      const isRunning = lines.every(({ state }) => state === "RUNNING");
      const [{ state, reason }] = lines as [QueueLine];
      if (wasRunning && !isRunning && state !== "COMPLETING") {
        report({ kind: "host-lost", reason: `job ${id} is ${state} again: ${reason}` });
      }
      if (state !== "COMPLETING") wasRunning = isRunning;
      const left = Math.min(...lines.map((line) => line.left ?? Infinity));
      if (isRunning && left <= warnSeconds && !isWarned) {
        isWarned = true;
        report({ kind: "warned", reason: `job ${id} reaches its time limit in ${left} s` });
      }
      await pause(longestPollMs, undefined, { signal, ref: false });
    }
  }

  async #describeEnd(id: number, line: QueueLine | undefined, folder: string): Promise<string> {
    if (line !== undefined) {
      // The reason of a cancelled job is why it waited.
      const hasReason = !["", "None"].includes(line.reason) && line.state !== "CANCELLED";
      const reason = hasReason ? ` (${line.reason})` : "";
      const output = line.state === "CANCELLED" ? "" : await this.#outputEnd(`${folder}/slurm-${id}.log`);
      return `Slurm has ended job ${id}: ${line.state}${reason}${output}`;
    }
    const accounted = await accountedEnd(this.#commands, id);
    return accounted === undefined
      ? `Slurm does not know job ${id} any more, and keeps no accounts`
      : `Slurm has ended job ${id}: ${accounted}`;
  }

  /** Returns the last lines of an output file, for an error; empty if there are none. */
  async #outputEnd(file: string): Promise<string> {
    const said = await this.#commands.run(["tail", "-n", "10", file]).catch(() => "");
    return said.trim() === "" ? "" : `; its output ends with: ${said.trim()}`;
  }

  async #writeRemote(file: string, text: string): Promise<void> {
    await this.#commands.run(["sh", "-c", `umask 077 && cat > ${quote(file)}`], text);
  }

  /**
   * Makes the folder on the cluster, with files that only the user can read. They reach it through the standard input of
   * ssh.
   * @param names the files, in the folder here and there
   */
  async #makeRemoteFolder(applyId: string, from: string, names: readonly string[]): Promise<string> {
    const folder = remoteFolder(applyId);
    const files = names.map((name) => {
      const content = readFileSync(join(from, name), "utf8");
      return `mkdir -p "$(dirname ${quote(name)})"\nprintf %s ${quote(content)} > ${quote(name)}`;
    });
    const script = ["set -e", "umask 077", `mkdir -p ${folder}`, `cd ${folder}`, ...files, "pwd", ""].join("\n");
    return (await this.#commands.run(["sh"], script)).trim().split("\n").at(-1)!;
  }
}

/** The folder of a run on the cluster, in the home directory. */
function remoteFolder(applyId: string): string {
  return `.viceroy/jobs/${quote(applyId)}`;
}

/** Makes the provider again from what a record contains. */
export function slurmProvider(spec: Json): SlurmProvider {
  return new SlurmProvider(spec as SlurmSpec);
}
