/**
 * `Job`, the base class of all jobs: what users call. The life of its runs is in `JobLife`, and what differs between
 * schedulers is behind `JobProvider`.
 */
import { describeValue } from "../../shared/text/describe-value.js";
import { abortable } from "../link/abortable.js";
import { checkOptionNames } from "../shape/check-options.js";
import type { BatchRun } from "./batch/batch-run.js";
import type { ClientOutcome } from "./batch/client.js";
import { runBatch } from "./batch/run-batch.js";
import type { AttachJobOptions, DetachOptions, JobLogOptions, RunOptions, WaitOptions } from "./call-options.js";
import { checkDrain, detachJob } from "./detach.js";
import { JobStartError } from "./errors.js";
import type { JobEvent } from "./events.js";
import { JobLife } from "./job-life.js";
import type { CheckedOptions, JobSyncOptions } from "./job-options.js";
import { type JobState, makeJobState } from "./job-state.js";
import type { HostMesh } from "./kernel.js";
import type { Provisioned, ProvisionMesh, ProvisionOptions } from "./kubernetes/provision/provision-options.js";
import type { JobLogLine, JobProvider } from "./provider.js";
import type { JobRecord } from "./record/job-record.js";
import { checkSpmd } from "./spmd/check-spmd.js";
import { runSpmd } from "./spmd/run-spmd.js";
import type { SpmdOptions, SpmdRun } from "./spmd/spmd-options.js";
import { stopJob } from "./stop-job.js";

/** Attaches the hosts of a job that runs, and never submits it. @throws JobLostError if nothing of it runs */
export let attachRunning: <M extends string>(job: Job<M>, options: AttachJobOptions) => Promise<JobState<M>>;

/** Makes a job one that this program only looks at. @throws JobReadOnlyError if the program uses it already */
export let lookOnly: (job: Job) => void;

/** Returns the provider of a job, for commands that look at what it asks for. */
export let providerOfJob: (job: Job) => JobProvider;

/**
 * A request for hosts, and the hosts once they are there. A job is a plain value until {@link apply} or {@link state}
 * submits it.
 */
export abstract class Job<M extends string = string> implements AsyncDisposable {
  /** The name in messages and in the lists of schedulers. */
  readonly name: string;
  readonly #life: JobLife;
  #detaching: Promise<void> | undefined;

  static {
    providerOfJob = (job) => job.#life.provider;
    lookOnly = (job) => job.#life.lookOnly();
    attachRunning = async (job, options) => {
      checkOptionNames(`cannot attach job "${job.name}"`, options, ["signal", "readOnly"]);
      const { signal, readOnly = false } = options;
      if (typeof readOnly !== "boolean") {
        const got = describeValue(readOnly);
        throw new TypeError(`cannot attach job "${job.name}": expected readOnly as true or false, got ${got}`);
      }
      if (readOnly) job.#life.lookOnly();
      else job.#life.checkWritable("attach it with all rights");
      await job.#life.findRun(signal);
      return job.#state(signal);
    };
  }

  /**
   * @param known the record of the run that the job uses instead of submitting one
   * @hidden
   */
  protected constructor(provider: JobProvider, options: CheckedOptions, known?: JobRecord) {
    this.name = options.name;
    this.#life = new JobLife(provider, options, known);
  }

  /** The sizes of the meshes by name. */
  get meshes(): Readonly<Record<M, { readonly hosts: number }>> {
    return this.#life.provider.meshes as Readonly<Record<M, { readonly hosts: number }>>;
  }

  /** Whether the job is recorded, so that it can outlive this program. */
  get isCached(): boolean {
    return this.#life.cache !== undefined;
  }

  /**
   * How the code of the program is brought to the hosts.
   *
   * @hidden
   */
  get syncOptions(): JobSyncOptions {
    return this.#life.options.sync ?? {};
  }

  /** Whether this program has submitted the job, or has found it in the cache, and it has not ended. */
  get active(): boolean {
    return this.#life.run !== undefined;
  }

  /** The random id of this run of the job; undefined while the job is not active, unless it was made of a record. */
  get applyId(): string | undefined {
    return (this.#life.run?.record ?? this.#life.known)?.applyId;
  }

  /**
   * Submits the job, unless it runs already, also since an earlier run of the program. Concurrent calls submit it once.
   *
   * @returns a promise that resolves when the job has been submitted, which is before its hosts are up
   * @throws {JobSubmitError} as a rejection, when the provider refuses the job
   * @throws {JobCacheError} as a rejection, when the cache file cannot be used
   */
  async apply({ signal }: WaitOptions = {}): Promise<void> {
    this.#life.checkWritable("submit it");
    await abortable(this.#life.applied(), signal);
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
    if (this.#life.run === undefined) this.#life.checkWritable("submit it");
    return this.#state(signal);
  }

  async #state(signal: AbortSignal | undefined): Promise<JobState<M>> {
    const run = await abortable(this.#life.applied(), signal);
    const meshes = await abortable(this.#life.meshesOf(run), signal);
    return makeJobState<M>(this.name, meshes as Readonly<Record<M, HostMesh<"hosts">>>);
  }

  /**
   * Gives the job further hosts, waits until they are up, and attaches them. Nothing is started on them: pass the meshes on, as in
   * `procs.resize({ hosts: 8 })`. Earlier handles keep their extents. A later run of the program begins with the sizes that it asks
   * for, and gets hosts which are there already when it resizes.
   *
   * A `ProcessJob` gets any number of hosts, an `SSHJob` the `spare` machines of the mesh, a `SlurmJob` nodes by a further batch job, and a
   * `KubernetesJob` further pods of the mesh, or those that its selector finds.
   * A mesh that has grown can get smaller again: the hosts that it has got later end, after their processes. A mesh of a `SlurmJob` gets
   * as small as it was before one of its further batch jobs.
   *
   * @example
   * ```ts
   * import { ProcessJob } from "viceroy/job";
   *
   * await using job = new ProcessJob({ meshes: { trainers: { hosts: 2 } } });
   * const procs = (await job.state()).trainers.spawnProcs({ gpus: 4 });
   * await job.resize({ trainers: 3 });
   * const more = procs.resize({ hosts: 3 });
   * console.log(more.extent); // { hosts: 3, gpus: 4 }
   * ```
   *
   * @param sizes the new numbers of hosts by the names of the meshes
   * @returns all host meshes by name, as {@link state} returns them from now on
   * @throws {JobResizeError} as a rejection, when the class of the job cannot grow, a mesh cannot get as small, or a host does not come up
   *   within `hostTimeout`; the meshes are as before then
   * @throws {TypeError} as a rejection, when the job has no mesh of a name
   * @throws {RangeError} as a rejection, when a size is no whole number from 1
   */
  async resize(sizes: { readonly [K in M]?: number }): Promise<JobState<M>> {
    this.#life.checkWritable("resize it");
    const meshes = await this.#life.resize(sizes);
    return makeJobState<M>(this.name, meshes as Readonly<Record<M, HostMesh<"hosts">>>);
  }

  /**
   * Gets further hosts for the program in which it is called: an actor on a host of a `KubernetesJob` with the option `provision`, or its
   * command. Pods have no permissions of Kubernetes; a controller in the cluster makes the hosts, if one of its rules allows that. They are a
   * job of their own, which ends with `release`, with this program or its pod, and with the actor that has called this.
   *
   * @example
   * ```ts
   * import { thisJob } from "viceroy/job";
   *
   * await using hosts = await thisJob()!.provision({ generators: { hosts: 2, cpus: 4, memory: "8GiB" } });
   * const procs = hosts.generators.spawnProcs({ gpus: 1 });
   * ```
   *
   * @param meshes the hosts by the names of their meshes
   * @param options the namespace, time limits, and how the program connects to the hosts
   * @returns the host meshes by name, and `release`, which ends them
   * @throws {JobProvisionError} as a rejection, when the controller refuses, with the rule and its limit, cannot be reached for 60 s, or the
   *   hosts do not come up
   * @throws {TypeError} as a rejection, when an option is unknown or malformed
   * @throws {RangeError} as a rejection, when a number is out of range
   */
  async provision<N extends string>(
    meshes: Readonly<Record<N, ProvisionMesh>>,
    options: ProvisionOptions = {},
  ): Promise<Provisioned<N>> {
    const { provision } = await import("./kubernetes/provision/provision.js");
    return provision(this.name, meshes, options);
  }

  /**
   * Ends the job: its hosts, and everything that runs on them. The job can be submitted again afterwards. Killing a job
   * that is not active ends what the cache has of it, or the run of its record. In the command of a batch job, it ends the program's own processes
   * on the hosts of that job, and nothing else.
   *
   * @returns a promise that resolves when nothing of the job is left
   */
  async kill(): Promise<void> {
    this.#life.checkWritable("kill it");
    await this.#life.kill();
  }

  /**
   * Stops the machines of the job, and keeps their disks. {@link apply} and {@link state} start them again. What this program runs there ends, and it leaves
   * the job. Jobs of SkyPilot can be stopped, where the cloud can stop machines.
   *
   * @returns a promise that resolves when the machines are stopped
   * @throws {JobStopError} as a rejection, when the class of the job, the cloud or the kind of machine cannot stop
   * @throws {JobLostError} as a rejection, when nothing of the job runs
   */
  async stop(): Promise<void> {
    this.#life.checkWritable("stop it");
    await stopJob(this.#life);
  }

  /**
   * Returns what the scheduler knows of the running job, as lines for people; empty if it tells nothing.
   *
   * @hidden
   */
  async factsOf(record: JobRecord): Promise<readonly string[]> {
    return (await this.#life.provider.facts?.(record.allocation)) ?? [];
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
    this.#life.checkWritable("detach from it");
    this.#detaching ??= detachJob(this.#life, drain).finally(() => {
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
  find(): Promise<JobRecord | undefined> {
    return this.#life.find();
  }

  /** Reads the events of the job, starting with the last one, until it has ended. */
  watch(): AsyncIterableIterator<JobEvent> {
    return this.#life.events.read();
  }

  /**
   * Reads what the hosts of the job, and the processes on them, have printed, also after its end.
   *
   * @throws {JobError} as a rejection, when the job was never submitted
   */
  async *logs(options: JobLogOptions = {}): AsyncIterableIterator<JobLogLine> {
    const record = this.#life.recorded() ?? (await this.#life.find()) ?? this.lastRecord();
    if (record === undefined) throw new JobStartError(this.name, "it has no logs, because it was not submitted");
    yield* this.#life.readLogs(record, options);
  }

  /**
   * Returns the record of the last run of the job that was submitted here, which may have ended.
   *
   * @hidden
   */
  lastRecord(): JobRecord | undefined {
    return this.#life.lastRecord();
  }

  /**
   * Returns how the command of a batch job has ended; undefined while it runs, or if it was ended with its job.
   *
   * @hidden
   */
  outcomeOf(record: JobRecord): Promise<ClientOutcome | undefined> {
    return this.#life.provider.outcome(record.allocation);
  }

  /**
   * Returns the time in ms since 1970 at which the command of a batch job was started; undefined while it waits for that.
   *
   * @hidden
   */
  startOf(record: JobRecord): Promise<number | undefined> {
    return this.#life.provider.startOf(record.allocation);
  }

  /**
   * Submits the job with a command that runs inside the allocation: on the machine of the first host, or in a pod of its own. The command survives
   * this program and this machine; on Kubernetes, as soon as its pod has the code of this program: see {@link BatchRun.delivered}. When it has ended, the hosts end, and its exit code is the job's. A program that it
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
    this.#life.checkWritable("run a command in it");
    return runBatch(this.#life, command, options);
  }

  /**
   * Runs a script of one process per rank, as `torchrun` does: the same command as many times on each host of a mesh, each
   * with its place in the environment. Submits the job if necessary, and attaches its hosts. A further call runs in the same
   * allocation.
   *
   * The variables are `RANK`, `WORLD_SIZE`, `LOCAL_RANK`, `LOCAL_WORLD_SIZE`, `GROUP_RANK` and `GROUP_WORLD_SIZE`; `MASTER_ADDR`
   * and `MASTER_PORT`, a free port of the first host at which the processes can meet; and `CUDA_VISIBLE_DEVICES`, where the
   * host has GPUs. Hosts that do not see the files of the command get the code of the program first, unless the option `sync` of the job
   * is false. When a process fails, all others are ended. All processes end with this program, also if it is killed.
   *
   * @example
   * ```ts
   * import { ProcessJob } from "viceroy/job";
   *
   * await using job = new ProcessJob({ meshes: { trainers: { hosts: 2 } } });
   * const run = await job.spmd({ procs: 4, restart: { policy: "on-failure" } }, ["node", "dist/worker.js"]);
   * process.exitCode = await run.exited();
   * ```
   *
   * @param options the mesh, the number of processes per host, their environment, restarts, and where their output goes
   * @param command the program and its arguments, which no shell reads
   * @returns a promise of the processes, which resolves when the hosts are attached
   * @throws {TypeError} as a rejection, when the command or an option is malformed
   * @throws {RangeError} as a rejection, when a number is out of range
   * @throws {NoSuchMeshError} as a rejection, when the job has no mesh of the name
   * @throws {JobSubmitError} as a rejection, when the provider refuses the job
   * @throws {JobStartError} as a rejection, when a host does not come up
   */
  async spmd(options: SpmdOptions<M>, command: readonly string[]): Promise<SpmdRun> {
    const plan = checkSpmd(this.name, this.meshes, options, command);
    this.#life.checkWritable("run a script in it");
    const meshes: Readonly<Record<string, HostMesh<"hosts">>> = await this.state(options);
    return runSpmd(this.name, meshes[plan.mesh]!, plan);
  }

  /** Returns the record of the running job. `fromJSON` of its class makes a job of it that another program can use. */
  toJSON(): JobRecord | null {
    return this.#life.run?.record ?? null;
  }

  /** Kills the job at the end of an `await using` block, or leaves it if this program has attached it read-only. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#life.isReadOnly ? this.#life.leave() : this.kill();
  }
}
