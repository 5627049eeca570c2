/** `ClusterContext`: runs programs as jobs, of any class of jobs, and keeps the list of them. */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { LockedPackages, TaskEnvironment } from "../../../generated/tasks.js";
import { describeValue } from "../../../shared/text/describe-value.js";
import type { Job, JobLogLine, JobLogOptions, JobOptions } from "../../job/index.js";
import { type RuntimeEnv, type RuntimeEnvOptions, runtimeEnvOf, taskEnvironmentOf } from "../environment/index.js";
import { checkOptionNames } from "../kernel.js";
import type { Task } from "../task-object.js";
import { boundedMeshes } from "./host-resources.js";
import { isOver, type JobInfo, JobNotFoundError } from "./job-info.js";
import { type JobNote, JobNotes } from "./job-notes.js";
import { runOnSlices } from "./run-on-tpu.js";
import { setupLines } from "./setup-lines.js";
import { meshOfMachines, openMachines } from "./slice-machines.js";
import { planSlices, type TpuRunConfig, type TpuVm } from "./slice-plan.js";

/** A class of jobs, such as `ProcessJob`, `SlurmJob`, or a class of the program's own. */
export type JobClass<O> = new (options: O) => Job<string>;

/** The options of {@link ClusterContext}. */
export interface ClusterOptions {
  /**
   * The folder with the records and the logs of the jobs, which all programs that manage these jobs name. Nodes of Slurm
   * must see it. Default: `.viceroy/cluster` in the working directory.
   */
  readonly folder?: string;
}

/** Time in ms after which a submission that has left no record counts as interrupted. */
const submissionMs = 120_000;

/** The state of a job according to its provider, and whether that cannot change any more. */
interface Answer extends NonNullable<JobNote["end"]> {
  readonly isFinal: boolean;
}

/**
 * Runs programs as jobs on a cluster, or on this machine. Each job gets hosts of its own, and an entry point that runs
 * beside them.
 *
 * @example
 * ```ts
 * import { ProcessJob } from "viceroy/job";
 * import { ClusterContext } from "viceroy/tasks";
 *
 * await using cluster = new ClusterContext(ProcessJob, { meshes: { trainers: { hosts: 2 } } });
 * const id = await cluster.createJob("node dist/train.js", { env: { EPOCHS: "3" } });
 * for await (const { line } of cluster.jobLogs(id, { follow: true })) console.log(line);
 * ```
 */
export class ClusterContext<O extends JobOptions & { readonly meshes: object }> implements AsyncDisposable {
  /** The folder with the records and the logs of the jobs. */
  readonly folder: string;
  readonly #jobClass: JobClass<O>;
  readonly #options: Omit<O, "cache">;
  readonly #notes: JobNotes;
  /** The ids of the jobs that this program submits at the moment. */
  readonly #submitting = new Set<string>();
  readonly #closing = new AbortController();

  /**
   * Describes a cluster. Nothing is submitted.
   *
   * @param jobClass the class of the jobs, which says where they run
   * @param jobOptions the options of each job. The `name` is the beginning of the ids of jobs; the cache of each job is in
   *   its own folder
   * @param options the options of the context
   * @throws {TypeError} when an option is unknown or malformed
   * @throws {RangeError} when a number is out of range
   */
  constructor(jobClass: JobClass<O>, jobOptions: Omit<O, "cache">, options: ClusterOptions = {}) {
    checkOptionNames("cannot make a ClusterContext", options, ["folder"]);
    const { folder = ".viceroy/cluster" } = options;
    if (typeof folder !== "string" || folder === "") {
      throw new TypeError(`cannot make a ClusterContext: expected folder as a path, got ${describeValue(folder)}`);
    }
    this.folder = resolve(folder);
    this.#jobClass = jobClass;
    this.#options = jobOptions;
    this.#notes = new JobNotes(this.folder);
    if ("cache" in jobOptions) {
      throw new TypeError(
        "cannot make a ClusterContext: expected options of jobs without cache, because each job has its own; use the option folder of the context",
      );
    }
    // The options of jobs are checked where they are written.
    this.#newJob(`${this.#prefix}-00000000`);
  }

  /**
   * Submits a job.
   *
   * @param entrypoint a command line for the shell, or a program and its arguments, which no shell reads
   * @param environment the environment variables, the working directory and the npm packages of the entry point, and the
   *   bounds of the resources of the hosts
   * @returns a promise that resolves with the id of the job when it has been submitted
   * @throws {TypeError} as a rejection, when the entry point or the environment is malformed
   * @throws {RangeError} as a rejection, when amounts of resources are out of range
   * @throws {JobSubmitError} as a rejection, when the provider refuses the job or runs no commands
   */
  async createJob(
    entrypoint: string | readonly string[],
    environment: RuntimeEnv | RuntimeEnvOptions = {},
  ): Promise<string> {
    this.#checkOpen("create a job");
    const checked = runtimeEnvOf(environment);
    const command = commandOf(entrypoint);
    const { packages } = await taskEnvironmentOf(checked);
    const note = this.#notes.create(this.#prefix);
    const { id } = note;
    this.#submitting.add(id);
    try {
      const job = this.#newJob(id, this.#optionsFor(checked, this.#fileOf(id, packages)));
      const { delivered } = await job.run(command, { cwd: checked.workingDirectory ?? process.cwd() });
      const provider = job.lastRecord()?.provider;
      if (provider !== undefined) this.#notes.write({ ...note, provider });
      await delivered();
    } catch (error) {
      this.#notes.remove(id);
      throw error;
    } finally {
      this.#submitting.delete(id);
    }
    this.#notes.removeOld();
    return id;
  }

  /**
   * Returns the jobs of the folder, also those of other programs and earlier runs, the oldest first: all that have not
   * ended, and the newest 100 that have.
   *
   * @throws {Error} as a rejection, when a provider does not answer, or the folder has jobs of another class
   */
  async listJobs(): Promise<JobInfo[]> {
    this.#checkOpen("list jobs");
    return Promise.all(this.#notes.all().map((note) => this.#infoOf(note)));
  }

  /**
   * Ends a job, with everything that it has started: its entry point gets SIGTERM first. The job stays in the list as
   * `STOPPED`, and its logs can still be read. A job that has ended by itself stays as it is.
   *
   * @param id what `createJob` has returned
   * @throws {JobNotFoundError} as a rejection, when there is no job with the id
   */
  async deleteJob(id: string): Promise<void> {
    this.#checkOpen("delete a job");
    const note = this.#noteOf(id, "delete");
    const { status, exitCode } = await this.#infoOf(note);
    if (isOver(status) && exitCode !== undefined) return;
    if (!isOver(status)) this.#notes.write({ ...note, isDeleted: true });
    const job = this.#newJob(id);
    await job.kill();
    if (isOver(status)) return;
    const record = job.lastRecord();
    const outcome = record && (await job.outcomeOf(record));
    const startTime = record && (await job.startOf(record));
    const end = {
      status: "STOPPED",
      ...(startTime === undefined ? {} : { startTime }),
      endTime: outcome?.endedAt ?? Date.now(),
      ...(outcome === undefined ? {} : { exitCode: outcome.exitCode }),
    } as const;
    this.#notes.write({ ...note, isDeleted: true, end });
  }

  /**
   * Reads what a job has printed, also after its end: both streams of the entry point, whose lines have no `mesh`, and
   * what the hosts and the processes on them have printed.
   *
   * @param id the id of the job
   * @param options whether to wait for further lines until the job has ended
   * @throws {JobNotFoundError} as a rejection, when there is no job with the id
   */
  async *jobLogs(id: string, options: JobLogOptions = {}): AsyncIterableIterator<JobLogLine> {
    this.#checkOpen("read the logs of a job");
    this.#noteOf(id, "read the logs of");
    const { signal } = this.#closing;
    yield* this.#newJob(id).logs({
      ...options,
      signal: options.signal === undefined ? signal : AbortSignal.any([options.signal, signal]),
    });
  }

  /**
   * Calls a task once on each virtual machine of one or several slices of TPUs. Each slice is a job of its own, whose hosts are
   * its machines. If a call fails, its slice is run again as a whole, on a new job if a machine has gone; other slices go on. The
   * jobs end with the run, and are not in the list.
   *
   * @example
   * ```ts
   * import { ProcessJob } from "viceroy/job";
   * import { ClusterContext, task, type TpuVm } from "viceroy/tasks";
   *
   * export const train = task(import.meta.url, "train", (at: TpuVm) => `machine ${at.vm} of slice ${at.slice}`);
   *
   * // Processes of this machine stand for the two machines of each slice.
   * await using cluster = new ClusterContext(ProcessJob, { meshes: { tpus: { hosts: 2 } } });
   * const [first, second] = await cluster.runOnTpu(train, { type: "v4-16", slices: 2 });
   * console.log(first![1], second![0]); // machine 1 of slice 0 machine 0 of slice 1
   * ```
   *
   * @param task the task, whose argument is the place of the call
   * @param config the type and the number of the slices, and the limits of repetitions
   * @returns the results by slice and virtual machine
   * @throws {TypeError} as a rejection, when the type is unknown, an option is malformed, or the mesh has another number of hosts
   *   than a slice has machines
   * @throws {RangeError} as a rejection, when a number is out of range
   * @throws {JobSubmitError} as a rejection, when the provider refuses a job
   * @throws {TaskError} as a rejection, when the task has thrown too often
   * @throws {WorkerLostError} as a rejection, when machines or processes have gone too often
   */
  async runOnTpu<R>(task: Task<[at: TpuVm], R>, config: TpuRunConfig): Promise<R[][]> {
    this.#checkOpen("run on slices");
    const plan = planSlices(task, config);
    const mesh = meshOfMachines(plan, (this.#options as unknown as O).meshes, config.mesh);
    return runOnSlices(task, plan, () => {
      const own = { name: `${this.#prefix}-tpu`, cache: null, progress: "silent" };
      return openMachines(new this.#jobClass({ ...this.#options, ...own } as unknown as O), mesh, plan.type);
    });
  }

  /**
   * Ends the use of the context by this program: logs that are followed end. Its jobs go on, and another context with the
   * same folder finds them.
   */
  close(): Promise<void> {
    this.#closing.abort();
    return Promise.resolve();
  }

  /** Closes the context at the end of an `await using` block. The jobs go on. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #prefix(): string {
    return this.#options.name ?? "job";
  }

  #checkOpen(what: string): void {
    if (this.#closing.signal.aborted) throw new Error(`cannot ${what}: this ClusterContext is closed`);
  }

  /** Makes the object of a job. @param own options in addition to those of all jobs */
  #newJob(id: string, own: object = {}): Job<string> {
    return new this.#jobClass({ ...this.#options, ...own, name: id, cache: this.#notes.cacheOf(id) } as unknown as O);
  }

  /** Returns the options by which all processes of a job get its environment. @param file has the packages */
  #optionsFor(environment: RuntimeEnv, file: string | undefined): object {
    const { meshes, setup: given, node = process.execPath } = this.#options as unknown as O;
    const { env, workingDirectory } = environment;
    const packages = file === undefined ? undefined : { file, node };
    const setup = setupLines({ given, env, workingDirectory, packages });
    return {
      meshes: boundedMeshes(meshes as Record<string, object>, environment),
      ...(setup === undefined ? {} : { setup }),
    };
  }

  /** Writes the packages of a job into its folder, and returns the path of the file. */
  #fileOf(id: string, packages: LockedPackages | undefined): string | undefined {
    if (packages === undefined) return undefined;
    const file = join(this.#notes.folderOf(id), "packages.json");
    writeFileSync(file, JSON.stringify({ env: {}, packages } satisfies TaskEnvironment), { mode: 0o600 });
    return file;
  }

  #noteOf(id: string, what: string): JobNote {
    const note = this.#notes.read(id);
    if (note !== undefined) return note;
    throw new JobNotFoundError(
      id,
      `cannot ${what} job ${describeValue(id)}: there is no such job in ${this.folder}; listJobs returns those that are there`,
    );
  }

  async #infoOf(note: JobNote): Promise<JobInfo> {
    const { id, submissionTime } = note;
    if (note.end !== undefined) return { id, submissionTime, ...note.end };
    const { isFinal, ...now } = await this.#ask(note);
    if (!isFinal) return { id, submissionTime, ...now };
    // Another program may have deleted the job meanwhile.
    const { isDeleted = false } = this.#notes.read(id) ?? {};
    const { reason: _reason, ...rest } = now;
    const end = isDeleted ? { ...rest, status: "STOPPED" as const } : now;
    this.#notes.write({ ...note, ...(isDeleted ? { isDeleted } : {}), end });
    return { id, submissionTime, ...end };
  }

  /** Asks the provider about a job. */
  async #ask({ id, submissionTime, provider }: JobNote): Promise<Answer> {
    const job = this.#newJob(id);
    const record = job.lastRecord();
    if (record === undefined) {
      if (provider !== undefined) {
        throw new Error(
          `cannot ask about job "${id}" in ${this.folder}: its provider is "${provider}", and this ClusterContext has ` +
            `another class of jobs; name another folder with the option folder`,
        );
      }
      const isUnderWay = this.#submitting.has(id) || Date.now() < submissionTime + submissionMs;
      if (isUnderWay) return { status: "PENDING", isFinal: false };
      return { status: "FAILED", reason: "its submission was interrupted", isFinal: true };
    }
    const isAlive = (await job.find()) !== undefined;
    const startTime = await job.startOf(record);
    const started = startTime === undefined ? {} : { startTime };
    // A job can end at any time, so its outcome is read last.
    const outcome = await job.outcomeOf(record);
    if (outcome !== undefined) {
      const { exitCode, endedAt, error } = outcome;
      const ended = { ...started, ...(endedAt === undefined ? {} : { endTime: endedAt }), exitCode };
      if (exitCode === 0) return { status: "SUCCEEDED", ...ended, isFinal: true };
      const reason = error ?? `its entry point has ended with exit code ${exitCode}`;
      // The entry point of a job that somebody cancels can end first, and the provider has not said so yet.
      return { status: "FAILED", ...ended, reason, isFinal: !isAlive };
    }
    if (isAlive) return { status: startTime === undefined ? "PENDING" : "RUNNING", ...started, isFinal: false };
    return { status: "FAILED", ...started, reason: "it has ended without its entry point", isFinal: true };
  }
}

function commandOf(entrypoint: unknown): string[] {
  const isList = Array.isArray(entrypoint) && entrypoint.every((word) => typeof word === "string");
  const isText = typeof entrypoint === "string" && entrypoint.trim() !== "";
  if (isList && entrypoint.length > 0 && entrypoint[0] !== "") return [...(entrypoint as string[])];
  if (isText) return ["/bin/sh", "-c", entrypoint];
  throw new TypeError(
    `cannot create a job: expected entrypoint as a command line or a list of the program and its arguments, got ${describeValue(entrypoint)}`,
  );
}
