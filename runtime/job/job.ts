/**
 * `Job`, the base class of all jobs: the life of a job from its submission to its end. What differs between schedulers
 * is behind `JobProvider`.
 */
import { errorMessage } from "../../shared/text/error-message.js";
import { abortable } from "./abortable.js";
import { attachRun } from "./attach-run.js";
import { type BatchRun, holding } from "./batch/batch-run.js";
import { checkClient } from "./batch/check-client.js";
import type { ClientOrder, ClientOutcome } from "./batch/client.js";
import { ownRecord } from "./batch/own-record.js";
import { JobCache } from "./cache/job-cache.js";
import { recordedRuns } from "./cache/recorded-runs.js";
import type { DetachOptions, JobLogOptions, RunOptions, WaitOptions } from "./call-options.js";
import { removeCredentials } from "./credentials/credentials-folder.js";
import { checkDrain, detachRun } from "./detach.js";
import { controllerFiles } from "./driver-proof.js";
import { JobDetachError, JobError, JobLostError, JobStartError, JobSubmitError } from "./errors.js";
import { EventFeed, type JobEvent } from "./events.js";
import { heldElsewhere } from "./held-elsewhere.js";
import type { CheckedOptions } from "./job-options.js";
import type { HostMeshes, JobRun } from "./job-run.js";
import { type JobState, makeJobState } from "./job-state.js";
import { type HostMesh, ownHosts } from "./kernel.js";
import { formatPlace, hostPlaces } from "./mesh-spec.js";
import { Progress } from "./progress.js";
import type { JobLogLine, JobProvider, Report } from "./provider.js";
import type { JobRecord } from "./record/job-record.js";
import { specHash } from "./record/spec-hash.js";
import { type SubmittedJob, submitJob } from "./submitted-job.js";

/** How a run begins. */
interface ApplyOptions {
  /** The command of a batch job. */
  readonly client?: ClientOrder;
  /** A run that is used instead of submitting one. */
  readonly record?: JobRecord | undefined;
}

/** Attaches the hosts of a job that runs, and never submits it. @throws JobLostError if nothing of it runs */
export let attachRunning: <M extends string>(job: Job<M>, options: WaitOptions) => Promise<JobState<M>>;

/**
 * A request for hosts, and the hosts once they are there. A job is a plain value until {@link apply} or {@link state}
 * submits it.
 */
export abstract class Job<M extends string = string> implements AsyncDisposable {
  /** The name in messages and in the lists of schedulers. */
  readonly name: string;
  readonly #provider: JobProvider;
  readonly #options: CheckedOptions;
  readonly #cache: JobCache | undefined;
  /** The run of another program that this job was made of. */
  readonly #known: JobRecord | undefined;
  /** The record of the batch job in which this program runs, if this job is that one. */
  readonly #own: JobRecord | undefined;
  readonly #ownFault: Error | undefined;
  readonly #events = new EventFeed();
  #run: JobRun | undefined;
  #applying: Promise<JobRun> | undefined;
  #killing: Promise<void> | undefined;
  #detaching: Promise<void> | undefined;

  static {
    attachRunning = (job, options) => job.#attachRunning(options);
  }

  /**
   * @param known the record of the run that the job uses instead of submitting one
   * @hidden
   */
  protected constructor(provider: JobProvider, options: CheckedOptions, known?: JobRecord) {
    this.name = options.name;
    this.#provider = known?.heldOn === undefined ? provider : heldElsewhere(provider, options.name, known.heldOn);
    this.#options = options;
    try {
      const own = ownRecord(provider, options.name);
      if (known === undefined || known.applyId === own?.applyId) this.#own = own;
    } catch (error) {
      if (known === undefined) this.#ownFault = error as Error;
    }
    this.#known = this.#own ?? known;
    this.#cache = options.cache === null || this.#known !== undefined ? undefined : new JobCache(options.cache);
  }

  /** The sizes of the meshes by name. */
  get meshes(): Readonly<Record<M, { readonly hosts: number }>> {
    return this.#provider.meshes as Readonly<Record<M, { readonly hosts: number }>>;
  }

  /** Whether the job is recorded, so that it can outlive this program. */
  get isCached(): boolean {
    return this.#cache !== undefined;
  }

  /** Whether this program has submitted the job, or has found it in the cache, and it has not ended. */
  get active(): boolean {
    return this.#run !== undefined;
  }

  /** The random id of this run of the job; undefined while the job is not active, unless it was made of a record. */
  get applyId(): string | undefined {
    return (this.#run?.record ?? this.#known)?.applyId;
  }

  /**
   * Submits the job, unless it runs already, also since an earlier run of the program. Concurrent calls submit it once.
   *
   * @returns a promise that resolves when the job has been submitted, which is before its hosts are up
   * @throws {JobSubmitError} as a rejection, when the provider refuses the job
   * @throws {JobCacheError} as a rejection, when the cache file cannot be used
   */
  async apply({ signal }: WaitOptions = {}): Promise<void> {
    await abortable(this.#applied(), signal);
  }

  /**
   * Submits the job if necessary, waits until all its hosts are up, and attaches them. Further calls return the same
   * meshes.
   *
   * @returns the host meshes by name
   * @throws {JobSubmitError} as a rejection, when the provider refuses the job
   * @throws {JobStartError} as a rejection, when a host does not come up; a job that this call has submitted is
   *   killed then
   * @throws {JobStartTimeoutError} as a rejection, when the hosts are not up within `hostTimeout`
   * @throws {JobCacheError} as a rejection, when the cache file cannot be used
   */
  async state({ signal }: WaitOptions = {}): Promise<JobState<M>> {
    const run = await abortable(this.#applied(), signal);
    run.meshes ??= this.#start(run);
    const meshes = await abortable(run.meshes, signal);
    return makeJobState<M>(this.name, meshes as Readonly<Record<M, HostMesh<"hosts">>>);
  }

  /**
   * Ends the job: its hosts, and everything that runs on them. The job can be submitted again afterwards. Killing a job
   * that is not active ends what the cache has of it, or the run of its record. In the command of a batch job, it ends the program's own processes
   * on the hosts of that job, and nothing else.
   *
   * @returns a promise that resolves when nothing of the job is left
   */
  kill(): Promise<void> {
    this.#killing ??= this.#kill().finally(() => {
      this.#killing = undefined;
    });
    return this.#killing;
  }

  /**
   * Hands the published meshes of this program to a controller, which is a process on the first host of the job, and leaves
   * the job. The meshes go on without this program, until the job ends: other programs find them by `attach` and `lookup`.
   * Handles of this program cannot be used any more. When the controller is killed, or its host ends, its meshes end.
   *
   * Calls that are under way are awaited for the time of `drain`. Messages of other programs that arrive meanwhile are
   * delivered afterwards, in their order.
   *
   * @param options the time for calls that are under way
   * @throws {JobDetachError} as a rejection, when a mesh of this program would end with it or cannot be handed over, the job
   *   has no cache, this program has not attached its hosts, or the controller cannot start or take over
   * @throws {RangeError} as a rejection, when `drain` is out of range
   */
  async detach(options: DetachOptions = {}): Promise<void> {
    const drain = checkDrain(this.name, options);
    this.#detaching ??= this.#detach(drain).finally(() => {
      this.#detaching = undefined;
    });
    return this.#detaching;
  }

  /**
   * Returns what is known of the job without submitting it: the record of this program's run, or of the cache.
   *
   * @returns undefined if nothing of the job runs
   * @throws {JobCacheError} as a rejection, when the cache file cannot be used
   */
  async find(): Promise<JobRecord | undefined> {
    const record = this.#recorded();
    return record !== undefined && (await this.#provider.isAlive(record.allocation)) ? record : undefined;
  }

  /** Returns the record of what this class of jobs has submitted, which may have ended. */
  #recorded(): JobRecord | undefined {
    const record = this.#run?.record ?? this.#known ?? this.#cache?.read();
    return record?.provider === this.#provider.kind && record.allocation !== null ? record : undefined;
  }

  /** Reads the events of the job, starting with the last one, until it has ended. */
  watch(): AsyncIterableIterator<JobEvent> {
    return this.#events.read();
  }

  /**
   * Reads what the hosts of the job, and the processes on them, have printed, also after its end.
   *
   * @throws {JobError} as a rejection, when the job was never submitted
   */
  async *logs(options: JobLogOptions = {}): AsyncIterableIterator<JobLogLine> {
    const record = this.#recorded() ?? this.lastRecord();
    if (record === undefined) throw new JobStartError(this.name, "it has no logs, because it was not submitted");
    yield* this.#readLogs(record, options);
  }

  async *#readLogs(
    record: JobRecord,
    { follow = false, signal }: JobLogOptions = {},
  ): AsyncGenerator<JobLogLine, void> {
    yield* this.#provider.logs(record.allocation, { follow, signal: signal ?? new AbortController().signal });
  }

  /**
   * Returns the record of the last run of the job that was submitted here, which may have ended.
   *
   * @hidden
   */
  lastRecord(): JobRecord | undefined {
    const runs = this.#cache === undefined ? [] : recordedRuns(this.#cache.folder);
    return runs.find(({ provider, name }) => provider === this.#provider.kind && name === this.name);
  }

  /**
   * Returns how the command of a batch job has ended; undefined while it runs, or if it was ended with its job.
   *
   * @hidden
   */
  outcomeOf(record: JobRecord): Promise<ClientOutcome | undefined> {
    return this.#provider.outcome(record.allocation);
  }

  /**
   * Returns the time in ms since 1970 at which the command of a batch job was started; undefined while it waits for that.
   *
   * @hidden
   */
  startOf(record: JobRecord): Promise<number | undefined> {
    return this.#provider.startOf(record.allocation);
  }

  /**
   * Submits the job with a command that runs inside the allocation, on the machine of the first host. The command survives
   * this program and this machine. When it has ended, the hosts end, and its exit code is the job's. A program that it
   * runs gets its own allocation from {@link state} of the same job, and {@link kill} ends nothing there but the program's
   * own processes.
   *
   * @example
   * ```ts
   * import { ProcessJob } from "viceroy/job";
   *
   * const job = new ProcessJob({ meshes: { trainers: { hosts: 2 } } });
   * const run = await job.run(["node", "dist/train.js"]);
   * console.log(await run.exited());
   * ```
   *
   * @param command the program and its arguments, which no shell reads
   * @param options the working directory and the environment of the command
   * @returns a promise that resolves when the job has been submitted
   * @throws {TypeError} as a rejection, when the command or an option is malformed
   * @throws {JobSubmitError} as a rejection, when the provider refuses the job or runs no commands, the job has no cache,
   *   or a job of the cache runs already
   * @throws {JobCacheError} as a rejection, when the cache file cannot be used
   */
  async run(command: readonly string[], options: RunOptions = {}): Promise<BatchRun> {
    const client = checkClient(command, options);
    if (this.#own !== undefined) throw new JobSubmitError(this.name, "this program runs inside it already");
    if (this.#cache === undefined) {
      throw new JobSubmitError(this.name, "it has no cache, by which a command could be found again");
    }
    const run = await abortable(this.#appliedWith(client), options.signal);
    const { record } = run;
    const exited = run.ended.then((reason) => this.#exitCode(record, reason));
    exited.catch(() => {});
    return {
      applyId: record.applyId,
      command: client.command,
      exited: () => holding(exited),
      logs: (logOptions) => this.#readLogs(record, logOptions),
      kill: () => this.kill(),
    };
  }

  async #exitCode(record: JobRecord, reason: string): Promise<number> {
    const outcome = await this.#provider.outcome(record.allocation);
    if (outcome?.error !== undefined) throw new JobStartError(this.name, outcome.error);
    if (outcome === undefined) throw new JobLostError(this.name, `it has ended without its command: ${reason}`);
    return outcome.exitCode;
  }

  /** Returns the record of the running job. `fromJSON` of its class makes a job of it that another program can use. */
  toJSON(): JobRecord | null {
    return this.#run?.record ?? null;
  }

  /** Kills the job at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  async #detach(drain: number): Promise<void> {
    const refuse = (why: string) => new JobDetachError(this.name, [why]);
    if (this.#provider.isOwnHost === true) throw refuse("its host is this machine, and ends with this program");
    if (this.#own !== undefined) throw refuse("it ends with its command, in which this program runs");
    if (this.#cache === undefined && this.#known === undefined) {
      throw refuse("it has no cache, so its hosts end with this program; give it a file with the option cache");
    }
    const run = this.#run;
    if (run?.attached === undefined) throw refuse("this program has not attached its hosts; call state first");
    const tls = this.#provider.tls === null ? undefined : await controllerFiles(run.record);
    await detachRun(this.name, run.attached, drain, () => this.#forget(run), tls);
  }

  /** Leaves a run that goes on without this program. */
  #forget(run: JobRun): void {
    run.leaving.abort();
    run.certificate?.close();
    if (this.#run === run) this.#run = undefined;
    this.#events.leave();
  }

  /** Attaches the hosts of a run that was submitted before. @throws JobLostError if there is none */
  async #attachRunning(options: WaitOptions): Promise<JobState<M>> {
    if (this.#run === undefined && this.#applying === undefined) {
      const record = await this.find();
      if (record === undefined) throw new JobLostError(this.name, "nothing of it runs; submit it by apply or state");
      if (record.specHash !== specHash(this.#provider.spec)) {
        throw new JobLostError(this.name, `what runs as ${record.applyId} was submitted with other options`);
      }
      await abortable(this.#startApplying({ record }), options.signal);
    }
    return this.state(options);
  }

  #applied(): Promise<JobRun> {
    if (this.#run !== undefined) return Promise.resolve(this.#run);
    return this.#startApplying();
  }

  #startApplying(how: ApplyOptions = {}): Promise<JobRun> {
    this.#applying ??= this.#apply(how).finally(() => {
      this.#applying = undefined;
    });
    return this.#applying;
  }

  /** Submits a batch job, which never uses a run that is there. */
  async #appliedWith(client: ClientOrder): Promise<JobRun> {
    while (this.#applying !== undefined) await this.#applying.catch(() => {});
    if (this.#run === undefined) return this.#startApplying({ client });
    throw new JobSubmitError(this.name, `it runs already as ${this.#run.record.applyId}; kill it first`);
  }

  async #apply({ client, record = this.#known }: ApplyOptions): Promise<JobRun> {
    await this.#killing;
    if (this.#ownFault !== undefined) throw this.#ownFault;
    const leaving = new AbortController();
    // Nothing of a job on the own host outlives the program, except a command.
    const isRecorded = this.#provider.isOwnHost !== true || client !== undefined;
    const submitted =
      record === undefined
        ? await submitJob(this.#provider, this.#options, isRecorded ? this.#cache : undefined, leaving.signal, client)
        : await this.#adopt(record);
    let resolveEnded = (_reason: string): void => {};
    const ended = new Promise<string>((resolve) => {
      resolveEnded = resolve;
    });
    const run: JobRun = { ...submitted, leaving, losing: new AbortController(), ended, resolveEnded };
    this.#run = run;
    this.#events.restart();
    void this.#watch(run);
    return run;
  }

  /** @throws JobLostError if the run has ended */
  async #adopt(record: JobRecord): Promise<SubmittedJob> {
    if (record === this.#own || (await this.#provider.isAlive(record.allocation))) return { record, isNew: false };
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
      this.#report(event);
    };
    let reason: string;
    try {
      reason = await this.#provider.watch(run.record.allocation, report, signal);
      // The end that `kill` causes has the reason that `kill` gives.
      await this.#killing?.catch(() => {});
      if (signal.aborted || this.#run !== run) return;
      removeCredentials(run.record.folder);
    } catch (error) {
      // The job may go on.
      if (signal.aborted || this.#run !== run) return;
      reason = errorMessage(error);
    }
    this.#leave(run, reason);
  }

  readonly #report: Report = (event) => this.#events.add({ ...event, at: Date.now() });

  /** Forgets a run that has ended. */
  #leave(run: JobRun, reason: string): void {
    run.endReason = reason;
    run.leaving.abort();
    run.certificate?.close();
    if (this.#run === run) this.#run = undefined;
    this.#cache?.remove(run.record.applyId);
    this.#report({ kind: "ended", reason });
    run.resolveEnded(reason);
  }

  async #start(run: JobRun): Promise<HostMeshes> {
    const places = hostPlaces(this.#provider.meshes);
    const output = this.#options.progress === "silent" ? undefined : process.stderr;
    const progress = new Progress(this.name, places.length, output);
    const missing = new Set(places.map(formatPlace));
    const report: Report = (event) => {
      const { mesh, rank } = event;
      if (event.kind === "running" && mesh !== undefined && rank !== undefined)
        missing.delete(formatPlace({ mesh, rank }));
      progress.add(event);
      this.#report(event);
    };
    try {
      const meshes = this.#provider.isOwnHost
        ? this.#ownMeshes()
        : await attachRun(this.#started, run, report, missing);
      run.attached = Object.values(meshes);
      this.#report({ kind: "running", reason: "all hosts are up" });
      return meshes;
    } catch (cause) {
      const why = run.lostReason ?? run.endReason;
      // Other programs may use a job that was not submitted here.
      if (run.isNew) await this.kill();
      else delete run.meshes;
      if (cause instanceof JobError) throw cause;
      // The driver only sees that a host does not answer. The provider knows why.
      throw new JobStartError(this.name, why ?? errorMessage(cause), { cause });
    } finally {
      progress.end();
    }
  }

  get #started(): Parameters<typeof attachRun>[0] {
    return {
      name: this.name,
      provider: this.#provider,
      options: this.#options,
      isInside: this.#own !== undefined,
    };
  }

  #ownMeshes(): HostMeshes {
    return Object.fromEntries(Object.keys(this.#provider.meshes).map((name) => [name, ownHosts(name)]));
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
      await Promise.all((run.attached ?? []).map((mesh) => mesh.stop({ drain: 0 })));
      // The command of a batch job only leaves the job. The job ends with it.
      if (this.#own === undefined) {
        await this.#provider.destroy(run.record.allocation);
        removeCredentials(run.record.folder);
      }
      this.#leave(run, this.#own === undefined ? "it was killed" : "this program has left it");
      return;
    }
    if (this.#own !== undefined) return;
    const lock = await this.#cache?.lock();
    try {
      const known = this.#known ?? this.#cache?.read() ?? this.#lastBatch();
      if (known === undefined || known.provider !== this.#provider.kind) return;
      const allocation = known.allocation ?? (await this.#provider.find(known.applyId, known.folder));
      if (allocation !== undefined) await this.#provider.destroy(allocation);
      removeCredentials(known.folder);
      this.#cache?.remove(known.applyId);
    } finally {
      await lock?.release();
    }
  }
}
