/**
 * `Job`, the base class of all jobs: the life of a job from its submission to its end. What differs between schedulers
 * is behind `JobProvider`.
 */
import { errorMessage } from "../../shared/text/error-message.js";
import { MAX_TIMER_MS } from "../link/clock.js";
import { JobCache } from "./cache/job-cache.js";
import { JobError, JobLostError, JobStartError, JobStartTimeoutError, PartialAllocationError } from "./errors.js";
import { EventFeed, type JobEvent } from "./events.js";
import type { CheckedOptions } from "./job-options.js";
import { type JobState, makeJobState } from "./job-state.js";
import { attachRoutedHosts, type HostMesh } from "./kernel.js";
import { formatPlace, hostPlaces } from "./mesh-spec.js";
import { Progress } from "./progress.js";
import type { JobLogLine, JobProvider, ReadyHost, Report } from "./provider.js";
import type { JobRecord } from "./record/job-record.js";
import { type SubmittedJob, submitJob } from "./submitted-job.js";

/** The options of {@link Job.apply} and {@link Job.state}. */
export interface WaitOptions {
  /** Ends the waiting of this caller. The job itself goes on: `kill` ends it. */
  readonly signal?: AbortSignal;
}

/** The options of {@link Job.logs}. */
export interface JobLogOptions extends WaitOptions {
  /** Whether to wait for further lines until the job has ended. Default: false. */
  readonly follow?: boolean;
}

type HostMeshes = Readonly<Record<string, HostMesh<"hosts">>>;

/** One run of a job, from its submission or its discovery in the cache. */
interface JobRun extends SubmittedJob {
  /** Aborted when this program ends its interest in the run. */
  readonly leaving: AbortController;
  /** Resolves with the host meshes; undefined until they are asked for. */
  meshes?: Promise<HostMeshes>;
  /** Why the last host that was lost has ended. */
  lostReason?: string;
  /** Why the run has ended; undefined while it runs. */
  endReason?: string;
  /** The meshes that have been attached, to be left at the end. */
  attached?: readonly HostMesh<"hosts">[];
}

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
  readonly #events = new EventFeed();
  #run: JobRun | undefined;
  #applying: Promise<JobRun> | undefined;
  #killing: Promise<void> | undefined;

  /**
   * @param known the record of the run that the job uses instead of submitting one
   * @hidden
   */
  protected constructor(provider: JobProvider, options: CheckedOptions, known?: JobRecord) {
    this.name = options.name;
    this.#provider = provider;
    this.#options = options;
    this.#known = known;
    this.#cache = options.cache === null || known !== undefined ? undefined : new JobCache(options.cache);
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

  /** The random id of this run of the job; undefined while the job is not active. */
  get applyId(): string | undefined {
    return this.#run?.record.applyId;
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
   * that is not active ends what the cache has of it.
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
  async *logs({ follow = false, signal }: JobLogOptions = {}): AsyncIterableIterator<JobLogLine> {
    const record = this.#recorded();
    if (record === undefined) throw new JobStartError(this.name, "it has no logs, because it was not submitted");
    yield* this.#provider.logs(record.allocation, { follow, signal: signal ?? new AbortController().signal });
  }

  /** Returns the record of the running job. `fromJSON` of its class makes a job of it that another program can use. */
  toJSON(): JobRecord | null {
    return this.#run?.record ?? null;
  }

  /** Kills the job at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  #applied(): Promise<JobRun> {
    if (this.#run !== undefined) return Promise.resolve(this.#run);
    this.#applying ??= this.#apply().finally(() => {
      this.#applying = undefined;
    });
    return this.#applying;
  }

  async #apply(): Promise<JobRun> {
    await this.#killing;
    const leaving = new AbortController();
    const submitted =
      this.#known === undefined
        ? await submitJob(this.#provider, this.#options, this.#cache, leaving.signal)
        : await this.#adopt(this.#known);
    const run: JobRun = { ...submitted, leaving };
    this.#run = run;
    this.#events.restart();
    void this.#watch(run);
    return run;
  }

  /** @throws JobLostError if the run has ended */
  async #adopt(record: JobRecord): Promise<SubmittedJob> {
    if (await this.#provider.isAlive(record.allocation)) return { record, isNew: false };
    throw new JobLostError(this.name, `nothing runs under its id ${record.applyId} any more`);
  }

  /** Passes on what the provider reports until the job has ended. */
  async #watch(run: JobRun): Promise<void> {
    const { signal } = run.leaving;
    const report: Report = (event) => {
      if (event.kind === "host-lost") run.lostReason = event.reason;
      this.#report(event);
    };
    const reason = await this.#provider.watch(run.record.allocation, report, signal).catch(errorMessage);
    if (signal.aborted || this.#run !== run) return;
    this.#leave(run, reason);
  }

  readonly #report: Report = (event) => this.#events.add({ ...event, at: Date.now() });

  /** Forgets a run that has ended. */
  #leave(run: JobRun, reason: string): void {
    run.endReason = reason;
    run.leaving.abort();
    if (this.#run === run) this.#run = undefined;
    this.#cache?.remove(run.record.applyId);
    this.#report({ kind: "ended", reason });
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
      const hosts = await this.#hostsInTime(run, report, missing);
      const meshes = await this.#attach(hosts);
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

  async #hostsInTime(run: JobRun, report: Report, missing: ReadonlySet<string>): Promise<readonly ReadyHost[]> {
    const { hostTimeout } = this.#options;
    const late = new AbortController();
    const startTimer = () => setTimeout(() => late.abort(), Math.min(hostTimeout, MAX_TIMER_MS));
    let timer: NodeJS.Timeout | undefined = startTimer();
    const reportAndTime: Report = (event) => {
      report(event);
      // The time in the queue of a scheduler does not count.
      if (event.kind === "pending") {
        clearTimeout(timer);
        timer = undefined;
      } else timer ??= startTimer();
    };
    const signal = AbortSignal.any([run.leaving.signal, late.signal]);
    try {
      const hosts = await this.#provider.hosts(run.record.allocation, reportAndTime, signal);
      const wanted = hostPlaces(this.#provider.meshes).length;
      if (hosts.length < wanted) throw new PartialAllocationError(this.name, wanted, hosts.length);
      return hosts;
    } catch (error) {
      if (run.endReason !== undefined) throw new JobStartError(this.name, run.endReason, { cause: error });
      if (!late.signal.aborted) throw error;
      throw new JobStartTimeoutError(this.name, hostTimeout, [...missing], "");
    } finally {
      clearTimeout(timer);
    }
  }

  async #attach(hosts: readonly ReadyHost[]): Promise<HostMeshes> {
    const meshes: Record<string, HostMesh<"hosts">> = {};
    for (const name of Object.keys(this.#provider.meshes)) {
      const own = hosts.filter(({ mesh }) => mesh === name);
      const { token } = own[0]!;
      const proof = token === undefined ? {} : { token };
      meshes[name] = attachRoutedHosts(own, { ...this.#options.attach, name, ...proof });
    }
    try {
      await Promise.all(Object.values(meshes).map(({ ready }) => ready));
    } catch (error) {
      await Promise.all(Object.values(meshes).map((mesh) => mesh.stop()));
      throw error;
    }
    return meshes;
  }

  async #kill(): Promise<void> {
    await this.#applying?.catch(() => {});
    const run = this.#run;
    if (run !== undefined) {
      await Promise.all((run.attached ?? []).map((mesh) => mesh.stop({ drain: 0 })));
      await this.#provider.destroy(run.record.allocation);
      this.#leave(run, "it was killed");
      return;
    }
    const lock = await this.#cache?.lock();
    try {
      const known = this.#cache?.read();
      if (known === undefined || known.provider !== this.#provider.kind) return;
      const allocation = known.allocation ?? (await this.#provider.find(known.applyId, known.folder));
      if (allocation !== undefined) await this.#provider.destroy(allocation);
      this.#cache?.remove(known.applyId);
    } finally {
      await lock?.release();
    }
  }
}

/** Rejects with the reason of `signal` when it is aborted first. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  signal.throwIfAborted();
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
