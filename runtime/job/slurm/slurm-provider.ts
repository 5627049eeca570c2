/**
 * Gives hosts from an allocation of Slurm: one batch job for all meshes, or one for each, whose steps run the daemons.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type HeldLock, lockFile } from "../../cache/file-lock.js";
import {
  batchVariable,
  type ClientOutcome,
  outcomeFileOf,
  parseOutcome,
  parseStart,
  recordFileOf,
  startFileOf,
} from "../batch/client.js";
import {
  credentialsFolder,
  credentialsName,
  hostUri,
  issuerFiles,
  secretsFile,
} from "../credentials/credentials-folder.js";
import type { TlsSpec } from "../job-options.js";
import type { Json } from "../json.js";
import type { DialHost } from "../kernel.js";
import { formatPlace, type HostPlace, hostPlaces } from "../mesh-spec.js";
import type { GrowOptions, JobLogLine, JobProvider, LogRequest, ReadyHost, Report, Submission } from "../provider.js";
import { LoginCommands } from "../reach/login-commands.js";
import { NodeReach, type NodeReachChoice } from "../reach/node-reach.js";
import { type BatchIdentity, BatchInQueue } from "./batch-in-queue.js";
import { type BatchJob, batchScript, commentOf, portOf } from "./batch-script.js";
import {
  endingBatches,
  type FurtherBatch,
  furtherBatches,
  furtherComment,
  hasPlace,
  missingHosts,
} from "./further-batches.js";
import { loginFolder, makeLoginFolder, writeOnLogin } from "./login-folder.js";
import { type Incarnation, LostHosts } from "./lost-hosts.js";
import { findComments } from "./queue.js";
import { readSlurmLogs } from "./slurm-logs.js";
import type { SlurmSpec } from "./slurm-spec.js";

/** One submitted batch job. */
type SubmittedBatch = {
  readonly id: number;
  /** The names of its meshes, in the order of their nodes. */
  readonly meshes: readonly string[];
};

/** A batch job, and the hosts of it that are waited for. */
interface BatchPart {
  readonly batch: BatchInQueue;
  readonly lost: LostHosts;
}

/** A submitted job, as its record contains it. */
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

/** The name of the file whose lock a driver holds while it changes the number of batch jobs. */
const lockName = "resize.lock";

/** The advice if this machine does not have the commands of Slurm. */
const missingAdvice = "install Slurm's client programs, or name a login node with the option login";

/** Time in ms that the hosts wait for a driver, if they are to end with it. The driver attaches them one after another. */
const driverEndMs = 60_000;

/** The number of hosts that can be the driver gateway. */
const candidateCount = 4;

/** The states of a job whose batch script has ended by itself. */
const commandStates = new Set(["COMPLETED", "FAILED"]);

export class SlurmProvider implements JobProvider<SlurmAllocation> {
  readonly kind = "slurm";
  readonly growsByQueue = true;
  readonly sharesFolder = true;
  readonly spec: SlurmSpec;
  readonly #commands: LoginCommands;
  readonly choosesWay: boolean;
  readonly #reach: NodeReach;
  /** The batch jobs whose hosts are waited for, by their ids. */
  readonly #lost = new Map<number, LostHosts>();

  constructor(spec: SlurmSpec, reach: NodeReachChoice) {
    this.spec = spec;
    // The command of a batch job is on a node, where the commands of Slurm are.
    const login = process.env[batchVariable] === undefined ? spec.login : null;
    this.#commands = new LoginCommands(login, missingAdvice);
    this.choosesWay = reach !== null;
    this.#reach = new NodeReach(login, reach, this.#commands);
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
    const onLogin = this.spec.login === null ? folder : await makeLoginFolder(this.#commands, applyId, folder, secret);
    if (client !== undefined && this.spec.login !== null)
      await writeOnLogin(this.#commands, recordFileOf(onLogin), record);
    const base = { applyId, folder: onLogin, tokenFile };
    const batches: SubmittedBatch[] = [];
    try {
      for (const meshes of this.#groups()) {
        const job = { name, applyId, comment: commentOf(applyId), meshes, first: 0, folder: onLogin, idle };
        const id = await this.#submit({ ...job, comesBack: lostTimeout > 0, ...(client && { client }) });
        batches.push({ id, meshes: Object.keys(meshes) });
      }
    } catch (error) {
      await this.destroy({ ...base, batches });
      throw error;
    }
    return client === undefined ? { ...base, batches } : { ...base, batches, isBatch: true };
  }

  /**
   * @param held a lock that is held until Slurm has answered
   * @returns the id of the batch job
   */
  async #submit(job: Omit<BatchJob, "issuer" | "commandLine" | "node">, held?: HeldLock): Promise<number> {
    const script = batchScript(this.spec, { ...job, issuer, commandLine, node: this.#node });
    const out = await this.#commands.run(["sbatch", "--parsable"], script, held);
    const [, id] = /^(\d+)(?:;|$)/m.exec(out.trim()) ?? [];
    if (id === undefined) throw new Error(`sbatch has printed no job id: ${out.trim()}`);
    return Number(id);
  }

  async find(applyId: string, folder: string): Promise<SlurmAllocation | undefined> {
    const further = (await furtherBatches(this.#commands, applyId)).map(({ id }) => id);
    const found = (await findComments(this.#commands, commentOf(applyId))).map(({ id }) => id);
    const ids = found.filter((id) => !further.includes(id)).sort((left, right) => left - right);
    const groups = this.#groups();
    const onLogin = this.spec.login === null ? folder : loginFolder(applyId);
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
    const hosts = await this.#hostsOf(allocation, this.#parts(allocation), report, signal);
    const order = hostPlaces(this.meshes).map(formatPlace);
    return hosts.sort((left, right) => order.indexOf(formatPlace(left)) - order.indexOf(formatPlace(right)));
  }

  async #hostsOf(
    allocation: SlurmAllocation,
    parts: readonly BatchPart[],
    report: Report,
    signal: AbortSignal,
  ): Promise<ReadyHost[]> {
    const hosts: ReadyHost[] = [];
    for (const { batch, lost } of parts) {
      const started = await batch.hosts(report, signal);
      const incarnationOf = await lost.incarnations();
      const found = started.map((host) => ({ ...host, incarnation: incarnationOf(host.place) }));
      hosts.push(...found.map((host) => this.#readyHost(allocation, host)));
    }
    return hosts;
  }

  async returned(
    allocation: SlurmAllocation,
    { mesh, rank, address, incarnation = 0 }: ReadyHost,
    report: Report,
    signal: AbortSignal,
  ): Promise<ReadyHost> {
    const place = { mesh, rank };
    const at = address === "" ? "" : ` at ${address}`;
    report({ kind: "host-lost", mesh, rank, reason: `host ${formatPlace(place)}${at} does not answer any more` });
    const { lost } = await this.#partOf(allocation, place);
    return this.#readyHost(allocation, await lost.returned(place, incarnation, signal));
  }

  async dialPort(allocation: SlurmAllocation, place: HostPlace, port: number): Promise<DialHost | undefined> {
    const { batch } = await this.#partOf(allocation, place);
    const started = await batch.startedNow(() => {}, new AbortController().signal);
    const host = started?.hosts.find((each) => formatPlace(each.place) === formatPlace(place));
    if (host === undefined) throw new Error(`host ${formatPlace(place)} does not run`);
    await this.#reach.decide({ node: host.node, port: batch.port });
    return this.#reach.dialOf({ node: host.node, port });
  }

  async grow(
    allocation: SlurmAllocation,
    places: readonly HostPlace[],
    { name, idle, lostTimeout }: GrowOptions,
    report: Report,
    signal: AbortSignal,
  ): Promise<readonly ReadyHost[]> {
    const { applyId, folder, tokenFile } = allocation;
    const added: FurtherBatch[] = [];
    try {
      await this.#alone(allocation, signal, async (held) => {
        await this.#addSecrets(dirname(tokenFile), allocation, places);
        for (const wanted of missingHosts(places, await furtherBatches(this.#commands, applyId))) {
          const { mesh, first, hosts } = wanted;
          const meshes = { [mesh]: { ...this.meshes[mesh]!, hosts } };
          const job = { name, applyId, comment: furtherComment(applyId, wanted), meshes, first, folder, idle };
          added.push({ ...wanted, id: await this.#submit({ ...job, comesBack: lostTimeout > 0 }, held) });
        }
      });
      const further = await furtherBatches(this.#commands, applyId);
      const own = further.filter((batch) => places.some((place) => hasPlace(batch, place)));
      const found = await this.#hostsOf(allocation, this.#partsOf(allocation, own), report, signal);
      const wanted = new Map(found.map((host) => [formatPlace(host), host]));
      const missing = places.find((place) => !wanted.has(formatPlace(place)));
      if (missing !== undefined) throw new Error(`Slurm gave no node for ${formatPlace(missing)}`);
      return places.map((place) => wanted.get(formatPlace(place))!);
    } catch (error) {
      await endBatches(this.#partsOf(allocation, added));
      throw error;
    }
  }

  async shrink(allocation: SlurmAllocation, mesh: string, hosts: number): Promise<() => Promise<void>> {
    const ending = endingBatches(await furtherBatches(this.#commands, allocation.applyId), mesh, hosts);
    // A driver that gets more hosts must not take these for hosts that stay.
    return () => this.#alone(allocation, undefined, () => endBatches(this.#partsOf(allocation, ending)));
  }

  async sizes({ applyId }: SlurmAllocation): Promise<Readonly<Record<string, number>>> {
    const further = await furtherBatches(this.#commands, applyId);
    const sizes = Object.entries(this.meshes).map(([mesh, { hosts }]) => {
      const ends = further.filter((batch) => batch.mesh === mesh).map((batch) => batch.first + batch.hosts);
      return [mesh, Math.max(hosts, ...ends)] as const;
    });
    return Object.fromEntries(sizes);
  }

  /** Calls a function while no other driver of the run submits batch jobs for further hosts, or ends them. */
  async #alone(
    { tokenFile }: SlurmAllocation,
    signal: AbortSignal | undefined,
    act: (held: HeldLock) => Promise<void>,
  ): Promise<void> {
    const held = await lockFile(join(dirname(tokenFile), lockName), signal);
    try {
      await act(held);
    } finally {
      held.release();
    }
  }

  /** Makes secrets for further hosts, where their issuer reads them. @param folder that of the run on this machine */
  async #addSecrets(folder: string, { applyId, folder: onLogin }: SlurmAllocation, places: readonly HostPlace[]) {
    if (this.tls === null) return;
    const { addSecrets } = await import("../credentials/index.js");
    addSecrets(credentialsFolder(folder), applyId, places);
    if (this.spec.login === null) return;
    const secrets = readFileSync(join(credentialsFolder(folder), secretsFile), "utf8");
    await writeOnLogin(this.#commands, `${credentialsFolder(onLogin)}/${secretsFile}`, secrets);
  }

  #readyHost({ applyId, tokenFile }: SlurmAllocation, { place, node, port, incarnation }: Incarnation): ReadyHost {
    const at = `${node}:${port}`;
    const address = this.tls === null ? `tcp://${at}` : `tls://${at}#${hostUri(applyId, place)}`;
    const token = this.tls === null ? { token: readFileSync(tokenFile, "utf8") } : {};
    const dial = this.#isCandidate(place) ? this.#reach.dialOf({ node, port }) : undefined;
    return { ...place, address, incarnation, ...token, ...(dial === undefined ? {} : { dial }) };
  }

  /** Returns whether a host can be the driver gateway: each one that cannot be reached costs another login on the login node. */
  #isCandidate(place: HostPlace): boolean {
    const candidates = hostPlaces(this.meshes).slice(0, candidateCount).map(formatPlace);
    return candidates.includes(formatPlace(place));
  }

  async watch(allocation: SlurmAllocation, report: Report, signal: AbortSignal): Promise<string> {
    return Promise.race(this.#batches(allocation).map((batch) => batch.watch(report, signal)));
  }

  async destroy(allocation: SlurmAllocation): Promise<void> {
    // Where nothing could be submitted, there may be no Slurm to ask.
    const further = allocation.batches.length === 0 ? [] : await this.#furtherParts(allocation);
    if (allocation.isBatch) await this.#batches(allocation)[0]!.askToEnd();
    await endBatches([...this.#parts(allocation), ...further]);
    const { folder, tokenFile } = allocation;
    if (this.spec.login !== null) {
      await this.#commands.run(["rm", "-rf", `${folder}/${tokenName}`, `${folder}/${credentialsName}`]);
    }
    rmSync(tokenFile, { force: true });
  }

  async *logs(allocation: SlurmAllocation, { follow, signal }: LogRequest): AsyncGenerator<JobLogLine, void> {
    const further = await this.#furtherParts(allocation, true);
    const batches = [...this.#batches(allocation), ...further.map(({ batch }) => batch)];
    const isOver = async () => {
      for (const batch of batches) if (await batch.isLiving()) return false;
      return true;
    };
    const files = batches.map(({ log }) => log);
    yield* readSlurmLogs(this.#commands, files, follow ? isOver : undefined, signal);
  }

  #batches(allocation: SlurmAllocation): BatchInQueue[] {
    return this.#parts(allocation).map(({ batch }) => batch);
  }

  /** Returns the batch job of a host. @throws Error if it has ended */
  async #partOf(allocation: SlurmAllocation, place: HostPlace): Promise<BatchPart> {
    const isFurther = place.rank >= this.meshes[place.mesh]!.hosts;
    const parts = isFurther ? await this.#furtherParts(allocation) : this.#parts(allocation);
    const part = parts.find(({ batch }) => batch.places.some((each) => formatPlace(each) === formatPlace(place)));
    if (part === undefined) throw new Error(`the job of Slurm with ${formatPlace(place)} has ended`);
    return part;
  }

  /** Returns the batch jobs with which the job has begun. */
  #parts(allocation: SlurmAllocation): BatchPart[] {
    return allocation.batches.map(({ id, meshes: names }) => {
      const meshes = Object.fromEntries(names.map((name) => [name, this.meshes[name]!]));
      return this.#part(allocation, id, meshes, 0);
    });
  }

  async #furtherParts(allocation: SlurmAllocation, ended = false): Promise<BatchPart[]> {
    return this.#partsOf(allocation, await furtherBatches(this.#commands, allocation.applyId, ended));
  }

  #partsOf(allocation: SlurmAllocation, batches: readonly FurtherBatch[]): BatchPart[] {
    return batches.map(({ id, mesh, first, hosts }) => this.#part(allocation, id, { [mesh]: { hosts } }, first));
  }

  #part({ applyId, folder }: SlurmAllocation, id: number, meshes: BatchIdentity["meshes"], first: number): BatchPart {
    const port = this.spec.port ?? portOf(id);
    const job = { id, applyId, meshes, first, port, folder, isHere: this.spec.login === null };
    const batch = new BatchInQueue(this.#commands, job, this.#reach);
    const lost = this.#lost.get(id) ?? new LostHosts(this.#commands, job, batch, this.#reach);
    this.#lost.set(id, lost);
    return { batch, lost };
  }

  get #node(): string {
    return this.spec.node ?? (this.spec.login === null ? process.execPath : "node");
  }

  /** Returns the meshes of each batch job. */
  #groups(): SlurmSpec["meshes"][] {
    const { meshes, allocation } = this.spec;
    return allocation === "one" ? [meshes] : Object.entries(meshes).map(([name, mesh]) => ({ [name]: mesh }));
  }
}

/** Cancels batch jobs, and resolves when they have ended. */
async function endBatches(parts: readonly BatchPart[]): Promise<void> {
  for (const { batch } of parts) await batch.cancel();
  for (const { batch } of parts) await batch.ended();
}

/** Makes the provider again from what a record contains. */
export function slurmProvider(spec: Json): SlurmProvider {
  return new SlurmProvider(spec as SlurmSpec, null);
}
