/**
 * The life of a job in this program: its current run, from the submission or the discovery in the cache to the end. What
 * users see is in `Job` (job.ts), and what differs between schedulers is behind `JobProvider`.
 */
import { setTimeout as pause } from "node:timers/promises";
import { errorMessage } from "../../shared/text/error-message.js";
import { abortable } from "../link/abortable.js";
import { attachRun } from "./attach-run.js";
import type { ClientOrder } from "./batch/client.js";
import { ownRecord } from "./batch/own-record.js";
import { JobCache } from "./cache/job-cache.js";
import { recordedRuns } from "./cache/recorded-runs.js";
import type { JobLogOptions } from "./call-options.js";
import { removeCredentials } from "./credentials/credentials-folder.js";
import { JobError, JobLostError, JobReadOnlyError, JobStartError, JobSubmitError } from "./errors.js";
import { EventFeed } from "./events.js";
import { heldElsewhere } from "./held-elsewhere.js";
import { type CheckedOptions, defaultCache } from "./job-options.js";
import type { HostMeshes, JobRun } from "./job-run.js";
import { ownHosts } from "./kernel.js";
import { formatPlace, hostPlaces } from "./mesh-spec.js";
import { Progress } from "./progress.js";
import type { JobLogLine, JobProvider, Report } from "./provider.js";
import { formatRecord, type JobRecord } from "./record/job-record.js";
import { specHash } from "./record/spec-hash.js";
import { resizeRun } from "./resize-run.js";
import { type SubmittedJob, submitJob } from "./submitted-job.js";

/**
 * Time in ms for the hosts of a job that is killed to end their processes in order. Afterwards the scheduler ends the hosts: a host that is gone would be
 * waited for as long as it may be silent, or as a driver may be without its gateway.
 */
const killGraceMs = 10_000;

/** The beginning of a run: submitted, or found again. */
interface ApplyOptions {
  /** The command of a batch job. */
  readonly client?: ClientOrder;
  /** A run that is used instead of submitting one. */
  readonly record?: JobRecord | undefined;
}

export class JobLife {
  readonly name: string;
  readonly provider: JobProvider;
  readonly cache: JobCache | undefined;
  /** The run of another program that the job was made of, or that of the batch job in which this program runs. */
  readonly known: JobRecord | undefined;
  readonly events = new EventFeed();
  readonly options: CheckedOptions;
  /** The record of the batch job in which this program runs, if the job is that one. */
  readonly #own: JobRecord | undefined;
  readonly #ownFault: Error | undefined;
  /** Whether this program only looks at the job. */
  #isReadOnly = false;
  #run: JobRun | undefined;
  #applying: Promise<JobRun> | undefined;
  #killing: Promise<void> | undefined;

  /** @param known the record of the run that the job uses instead of submitting one */
  constructor(provider: JobProvider, options: CheckedOptions, known: JobRecord | undefined) {
    this.name = options.name;
    this.provider = known?.heldOn === undefined ? provider : heldElsewhere(provider, options.name, known.heldOn);
    this.options = options;
    try {
      const own = ownRecord(provider, options.name);
      if (known === undefined || known.applyId === own?.applyId) this.#own = own;
    } catch (error) {
      if (known === undefined) this.#ownFault = error as Error;
    }
    this.known = this.#own ?? known;
    this.cache = options.cache === null || this.known !== undefined ? undefined : new JobCache(options.cache);
  }

  /** The run that this program has submitted or found, until it ends. */
  get run(): JobRun | undefined {
    return this.#run;
  }

  /** Gives all rights up but those to look. @throws JobReadOnlyError if the program has attached the hosts with all rights */
  lookOnly(): void {
    if (this.#isReadOnly) return;
    if (this.#run !== undefined || this.#applying !== undefined) {
      throw new JobReadOnlyError(this.name, "attach it read-only", "this program uses it with all rights already");
    }
    this.#isReadOnly = true;
  }

  /** @param verb what the program wants to do with the job. @throws JobReadOnlyError if it only looks */
  checkWritable(verb: string): void {
    if (this.#isReadOnly) throw new JobReadOnlyError(this.name, verb, "this program has attached it read-only");
  }

  /** Leaves what was attached, and the run. The job goes on. */
  async leave(): Promise<void> {
    await Promise.all((this.#run?.attached ?? []).map((mesh) => mesh.stop()));
    if (this.#run !== undefined) this.forget(this.#run);
  }

  get isReadOnly(): boolean {
    return this.#isReadOnly;
  }

  /** Whether this program is the command of the job. */
  get isInside(): boolean {
    return this.#own !== undefined;
  }

  /** Returns the run. Submits the job if there is none. Concurrent calls submit it once. */
  applied(): Promise<JobRun> {
    if (this.#run !== undefined) return Promise.resolve(this.#run);
    return this.#startApplying();
  }

  /** Submits a batch job, which never uses a run that is there. */
  async appliedWith(client: ClientOrder): Promise<JobRun> {
    while (this.#applying !== undefined) await this.#applying.catch(() => {});
    if (this.#run === undefined) return this.#startApplying({ client });
    throw new JobSubmitError(this.name, `it runs already as ${this.#run.record.applyId}; kill it first`);
  }

  /**
   * Brings the command of a batch job what it needs of this program. Resolves early if the run ends meanwhile.
   * @throws JobError with the reason
   */
  async deliver(run: JobRun, client: ClientOrder): Promise<void> {
    const { provider, options } = this;
    if (provider.deliver === undefined) return;
    const output = options.progress === "silent" ? undefined : process.stderr;
    const progress = new Progress(this.name, 0, output);
    const report: Report = (event) => {
      progress.add(event);
      this.#report(event);
    };
    const { record, leaving } = run;
    const delivery = { client, record: formatRecord(record), options, report, signal: leaving.signal };
    try {
      await provider.deliver(record.allocation, delivery);
    } catch (cause) {
      // The end of the run has a reason of its own.
      if (run.endReason !== undefined) return;
      throw cause instanceof JobError ? cause : new JobStartError(this.name, errorMessage(cause), { cause });
    } finally {
      progress.end();
    }
  }

  /** Finds a run that was submitted before, and never submits the job. @throws JobLostError if there is none */
  async findRun(signal: AbortSignal | undefined): Promise<void> {
    if (this.#run !== undefined || this.#applying !== undefined) return;
    const record = await this.find();
    if (record === undefined) throw new JobLostError(this.name, "nothing of it runs; submit it by apply or state");
    if (record.specHash !== specHash(this.provider.spec)) {
      throw new JobLostError(this.name, `what runs as ${record.applyId} was submitted with other options`);
    }
    await abortable(this.#startApplying({ record }), signal);
  }

  /** Attaches the hosts of a run. Further calls return the same meshes. */
  meshesOf(run: JobRun): Promise<HostMeshes> {
    run.meshes ??= this.#start(run);
    return run.meshes;
  }

  /** Gives the run further hosts. @returns the meshes with their new extents */
  async resize(sizes: Readonly<Record<string, number | undefined>>): Promise<HostMeshes> {
    const run = await this.applied();
    const earlier = this.meshesOf(run);
    // A resize that is under way is awaited, so that each knows the sizes that are.
    const resizing = earlier.then((meshes) => resizeRun(this.#started, run, meshes, sizes, this.#report));
    run.meshes = resizing.catch(() => earlier);
    const meshes = await resizing;
    run.attached = Object.values(meshes);
    return meshes;
  }

  /** Leaves a run that goes on without this program. */
  forget(run: JobRun): void {
    run.leaving.abort();
    run.certificate?.close();
    if (this.#run === run) this.#run = undefined;
    this.events.leave();
  }

  /** Returns the record of what runs of the job: what was submitted here, or what another machine shares. */
  async find(): Promise<JobRecord | undefined> {
    const record = this.recorded();
    if (record !== undefined && (await this.provider.isAlive(record.allocation))) return record;
    if (this.known !== undefined) return undefined;
    const cache = this.cache ?? new JobCache(defaultCache);
    const shared = await this.provider.findShared?.(
      (applyId) => cache.folderOf(applyId),
      this.#isReadOnly ? "viewers" : "drivers",
    );
    return shared !== undefined && (await this.provider.isAlive(shared.allocation)) ? shared : undefined;
  }

  /** Returns the record of what this class of jobs has submitted, which may have ended. */
  recorded(): JobRecord | undefined {
    const record = this.#run?.record ?? this.known ?? this.cache?.read();
    return record?.provider === this.provider.kind && record.allocation !== null ? record : undefined;
  }

  /** Returns the record of the last run of the job that was submitted here, which may have ended. */
  lastRecord(): JobRecord | undefined {
    const runs = this.cache === undefined ? [] : recordedRuns(this.cache.folder);
    return runs.find(({ provider, name }) => provider === this.provider.kind && name === this.name);
  }

  async *readLogs(record: JobRecord, { follow = false, signal }: JobLogOptions = {}): AsyncGenerator<JobLogLine, void> {
    yield* this.provider.logs(record.allocation, { follow, signal: signal ?? new AbortController().signal });
  }

  /** Ends the run, or what the cache has of the job. The command of a batch job only leaves the run. */
  kill(): Promise<void> {
    this.#killing ??= this.#kill().finally(() => {
      this.#killing = undefined;
    });
    return this.#killing;
  }

  #startApplying(how: ApplyOptions = {}): Promise<JobRun> {
    this.#applying ??= this.#apply(how).finally(() => {
      this.#applying = undefined;
    });
    return this.#applying;
  }

  async #apply({ client, record = this.known }: ApplyOptions): Promise<JobRun> {
    await this.#killing;
    if (this.#ownFault !== undefined) throw this.#ownFault;
    const leaving = new AbortController();
    // Nothing of a job on the own host outlives the program, except a command.
    const isRecorded = this.provider.isOwnHost !== true || client !== undefined;
    const submitted =
      record === undefined
        ? await submitJob(this.provider, this.options, isRecorded ? this.cache : undefined, leaving.signal, client)
        : await this.#adopt(record);
    let resolveEnded = (_reason: string): void => {};
    const ended = new Promise<string>((resolve) => {
      resolveEnded = resolve;
    });
    const run: JobRun = { ...submitted, leaving, losing: new AbortController(), hosts: new Map(), ended, resolveEnded };
    this.#run = run;
    this.events.restart();
    void this.#watch(run);
    return run;
  }

  /** @throws JobLostError if the run has ended */
  async #adopt(record: JobRecord): Promise<SubmittedJob> {
    const { allocation } = record;
    if (record === this.#own || (await this.provider.isAlive(allocation))) {
      if (!this.#isReadOnly) return { record, isNew: false };
      return { record: { ...record, allocation: this.provider.lookOnly?.(allocation) ?? allocation }, isNew: false };
    }
    throw new JobLostError(this.name, `nothing runs under its id ${record.applyId} any more`);
  }

  /** Passes on what the provider reports until the job has ended. */
  async #watch(run: JobRun): Promise<void> {
    const { signal } = run.leaving;
    const report: Report = (event) => {
      if (event.kind === "host-lost") {
        run.lostReason = event.reason;
        // A job that a scheduler has queued again gets new hosts, which may still come up in time.
        if (event.rank !== undefined) run.losing.abort();
      }
      if (event.kind === "host-replaced") {
        // The event follows when this program has attached the host again.
        if (run.attached !== undefined) return;
      }
      this.#report(event);
    };
    let reason: string;
    try {
      reason = await this.provider.watch(run.record.allocation, report, signal);
      // The end that `kill` causes has the reason that `kill` gives.
      await this.#killing?.catch(() => {});
      if (signal.aborted || this.#run !== run) return;
      if (!this.#isReadOnly) removeCredentials(run.record.folder);
    } catch (error) {
      // The job may go on.
      if (signal.aborted || this.#run !== run) return;
      reason = errorMessage(error);
      run.mayGoOn = true;
    }
    this.#leave(run, reason);
  }

  readonly #report: Report = (event) => this.events.add({ ...event, at: Date.now() });

  /** Forgets a run that has ended. */
  #leave(run: JobRun, reason: string): void {
    run.endReason = reason;
    run.leaving.abort();
    run.certificate?.close();
    if (this.#run === run) this.#run = undefined;
    this.cache?.remove(run.record.applyId);
    this.#report({ kind: "ended", reason });
    run.resolveEnded(reason);
  }

  async #start(run: JobRun): Promise<HostMeshes> {
    const places = hostPlaces(this.provider.meshes);
    const output = this.options.progress === "silent" ? undefined : process.stderr;
    const progress = new Progress(this.name, places.length, output);
    const missing = new Set(places.map(formatPlace));
    const report: Report = (event) => {
      const { kind, mesh, rank } = event;
      if (mesh !== undefined && rank !== undefined) {
        if (kind === "running") missing.delete(formatPlace({ mesh, rank }));
        // A host that was up can be lost before all are.
        if (kind === "pending" || kind === "starting") missing.add(formatPlace({ mesh, rank }));
      }
      progress.add(event);
      this.#report(event);
    };
    try {
      const meshes = this.provider.isOwnHost ? this.#ownMeshes() : await attachRun(this.#started, run, report, missing);
      run.attached = Object.values(meshes);
      this.#report({ kind: "running", reason: "all hosts are up" });
      return meshes;
    } catch (cause) {
      const why = run.lostReason ?? run.endReason;
      // Other programs may use a job that was not submitted here.
      if (run.isNew) await this.#endFailed(run, why ?? errorMessage(cause), cause);
      else delete run.meshes;
      if (cause instanceof JobError) throw cause;
      // The driver only sees that a host does not answer. The provider knows why.
      throw new JobStartError(this.name, why ?? errorMessage(cause), { cause });
    } finally {
      progress.end();
    }
  }

  /** Ends a run that has not started. @throws JobStartError with both reasons if that fails, too */
  async #endFailed(run: JobRun, reason: string, cause: unknown): Promise<void> {
    try {
      await this.kill();
      // The run was forgotten when it could not be watched any more.
      if (run.mayGoOn) await this.provider.destroy(run.record.allocation);
      if (run.mayGoOn) removeCredentials(run.record.folder);
    } catch (left) {
      const text = `${reason}; what was made is left, because it cannot be ended: ${errorMessage(left)}`;
      throw new JobStartError(this.name, text, { cause });
    }
  }

  get #started(): Parameters<typeof attachRun>[0] {
    return {
      name: this.name,
      provider: this.provider,
      options: this.options,
      reportLater: this.#report,
      isReadOnly: this.#isReadOnly,
      ...this.#lasting,
    };
  }

  get #lasting() {
    return { isInside: this.isInside, isRecorded: this.cache !== undefined || this.known !== undefined };
  }

  #ownMeshes(): HostMeshes {
    return Object.fromEntries(Object.keys(this.provider.meshes).map((name) => [name, ownHosts(name)]));
  }

  /** The last batch job: its command lives on when its keeper was killed. */
  #lastBatch(): JobRecord | undefined {
    const last = this.lastRecord();
    return last?.command === undefined ? undefined : last;
  }

  async #kill(): Promise<void> {
    await this.#applying?.catch(() => {});
    const run = this.#run;
    if (run !== undefined) {
      const stopped = Promise.all((run.attached ?? []).map((mesh) => mesh.stop({ drain: 0 })));
      await (this.#own === undefined ? settledWithin(stopped, killGraceMs) : stopped);
      // The command of a batch job only leaves the job. The job ends with it.
      if (this.#own === undefined) {
        await this.provider.destroy(run.record.allocation);
        removeCredentials(run.record.folder);
      }
      this.#leave(run, this.#own === undefined ? "it was killed" : "this program has left it");
      return;
    }
    if (this.#own !== undefined) return;
    const lock = await this.cache?.lock();
    try {
      const known = this.known ?? this.cache?.read() ?? this.#lastBatch() ?? (await this.find());
      if (known === undefined || known.provider !== this.provider.kind) return;
      const allocation = known.allocation ?? (await this.provider.find(known.applyId, known.folder));
      if (allocation !== undefined) await this.provider.destroy(allocation);
      removeCredentials(known.folder);
      this.cache?.remove(known.applyId);
      // This program may have left the job, and watch it again.
      this.#report({ kind: "ended", reason: "it was killed" });
    } finally {
      lock?.release();
    }
  }
}

/** Waits for a promise, for a time in ms at most. @throws what the promise rejects with until then */
async function settledWithin(promise: Promise<unknown>, ms: number): Promise<void> {
  const isOver = new AbortController();
  promise.catch(() => {});
  try {
    await Promise.race([promise, pause(ms, undefined, { signal: isOver.signal }).catch(() => {})]);
  } finally {
    isOver.abort();
  }
}
