/**
 * Gives hosts from an allocation of Slurm: one batch job for all meshes, or one for each, whose steps run the daemons.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  batchVariable,
  type ClientOutcome,
  outcomeFileOf,
  parseOutcome,
  parseStart,
  recordFileOf,
  startFileOf,
} from "../batch/client.js";
import { credentialsName, hostUri, issuerFiles } from "../credentials/credentials-folder.js";
import type { TlsSpec } from "../job-options.js";
import { formatPlace, hostPlaces } from "../mesh-spec.js";
import type { JobLogLine, JobProvider, Json, LogRequest, ReadyHost, Report, Submission } from "../provider.js";
import { quote } from "../quote.js";
import { BatchInQueue } from "./batch-in-queue.js";
import { type BatchJob, batchScript, commentOf, portOf } from "./batch-script.js";
import { type Incarnation, LostHosts } from "./lost-hosts.js";
import { findJobs } from "./queue.js";
import { SlurmCommands } from "./slurm-commands.js";
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

/** Time in ms that the hosts wait for a driver, if they are to end with it. The driver attaches them one after another. */
const driverEndMs = 60_000;

/** The states of a job whose batch script has ended by itself. */
const commandStates = new Set(["COMPLETED", "FAILED"]);

export class SlurmProvider implements JobProvider<SlurmAllocation> {
  readonly kind = "slurm";
  readonly sharesFolder = true;
  readonly spec: SlurmSpec;
  readonly #commands: SlurmCommands;
  /** The batch jobs whose hosts are waited for, by their ids. */
  readonly #lost = new Map<number, LostHosts>();

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
    lostTimeout,
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
        const programs = { issuer, commandLine, node: this.#node };
        const job: BatchJob = { name, applyId, meshes, folder: onLogin, ...programs, idle, comesBack: lostTimeout > 0 };
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

  async outcome(allocation: SlurmAllocation): Promise<ClientOutcome | undefined> {
    const written = await this.#commands.run(["cat", outcomeFileOf(allocation.folder)]).catch(() => "");
    const outcome = parseOutcome(written);
    if (outcome === undefined) return undefined;
    const state = await this.#batches(allocation)[0]!.endState();
    if (state === undefined) return outcome;
    // The command of a job that was cancelled may end by itself, because its hosts have gone first.
    if (!commandStates.has(state)) return undefined;
    return { ...outcome, scheduler: `Slurm has ended job ${allocation.batches[0]!.id}: ${state}` };
  }

  async startOf({ folder }: SlurmAllocation): Promise<number | undefined> {
    return parseStart(await this.#commands.run(["cat", startFileOf(folder)]).catch(() => ""));
  }

  async isAlive(allocation: SlurmAllocation): Promise<boolean> {
    for (const batch of this.#batches(allocation)) if (!(await batch.isAlive())) return false;
    return true;
  }

  async hosts(allocation: SlurmAllocation, report: Report, signal: AbortSignal): Promise<readonly ReadyHost[]> {
    const hosts: ReadyHost[] = [];
    for (const { batch, lost } of this.#parts(allocation)) {
      const started = await batch.hosts(report, signal);
      const incarnationOf = await lost.incarnations();
      const found = started.map((host) => ({ ...host, incarnation: incarnationOf(host.place) }));
      hosts.push(...found.map((host) => this.#readyHost(allocation, host)));
    }
    const order = hostPlaces(this.meshes).map(formatPlace);
    return hosts.sort((left, right) => order.indexOf(formatPlace(left)) - order.indexOf(formatPlace(right)));
  }

  async returned(
    allocation: SlurmAllocation,
    { mesh, rank, address, incarnation = 0 }: ReadyHost,
    report: Report,
    signal: AbortSignal,
  ): Promise<ReadyHost> {
    const place = { mesh, rank };
    report({
      kind: "host-lost",
      mesh,
      rank,
      reason: `host ${formatPlace(place)} at ${address} does not answer any more`,
    });
    const index = allocation.batches.findIndex(({ meshes }) => meshes.includes(mesh));
    const { lost } = this.#parts(allocation)[index]!;
    return this.#readyHost(allocation, await lost.returned(place, incarnation, signal));
  }

  #readyHost({ applyId, tokenFile }: SlurmAllocation, { place, at, incarnation }: Incarnation): ReadyHost {
    const address = this.tls === null ? `tcp://${at}` : `tls://${at}#${hostUri(applyId, place)}`;
    const token = this.tls === null ? { token: readFileSync(tokenFile, "utf8") } : {};
    return { ...place, address, incarnation, ...token };
  }

  async watch(allocation: SlurmAllocation, report: Report, signal: AbortSignal): Promise<string> {
    return Promise.race(this.#batches(allocation).map((batch) => batch.watch(report, signal)));
  }

  async destroy(allocation: SlurmAllocation): Promise<void> {
    const batches = this.#batches(allocation);
    if (allocation.isBatch) await batches[0]!.askToEnd();
    for (const batch of batches) await batch.cancel();
    for (const batch of batches) await batch.ended();
    const { folder, tokenFile } = allocation;
    if (this.spec.login !== null) {
      await this.#commands.run(["rm", "-rf", `${folder}/${tokenName}`, `${folder}/${credentialsName}`]);
    }
    rmSync(tokenFile, { force: true });
  }

  logs(allocation: SlurmAllocation, { follow, signal }: LogRequest): AsyncIterable<JobLogLine> {
    const batches = this.#batches(allocation);
    const isOver = async () => {
      for (const batch of batches) if (await batch.isLiving()) return false;
      return true;
    };
    const files = batches.map(({ output: file }, index) => ({ file, meshes: allocation.batches[index]!.meshes }));
    return readSlurmLogs(this.#commands, files, follow ? isOver : undefined, signal);
  }

  #batches(allocation: SlurmAllocation): BatchInQueue[] {
    return this.#parts(allocation).map(({ batch }) => batch);
  }

  #parts({ batches, applyId, folder }: SlurmAllocation): { readonly batch: BatchInQueue; readonly lost: LostHosts }[] {
    return batches.map(({ id, meshes: names }) => {
      const meshes = Object.fromEntries(names.map((name) => [name, this.meshes[name]!]));
      const port = this.spec.port ?? portOf(id);
      const job = { id, applyId, meshes, port, folder, isHere: this.spec.login === null };
      const batch = new BatchInQueue(this.#commands, job);
      const lost = this.#lost.get(id) ?? new LostHosts(this.#commands, job, batch);
      this.#lost.set(id, lost);
      return { batch, lost };
    });
  }

  get #node(): string {
    return this.spec.node ?? (this.spec.login === null ? process.execPath : "node");
  }

  /** Returns the meshes of each batch job. */
  #groups(): SlurmSpec["meshes"][] {
    const { meshes, allocation } = this.spec;
    return allocation === "one" ? [meshes] : Object.entries(meshes).map(([name, mesh]) => ({ [name]: mesh }));
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
