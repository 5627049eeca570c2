/** The options of `Job.spmd`, and the handle that it returns. */
import type { Stdio } from "../../proc/launch/stdio.js";
import type { RestartOptions } from "../../supervise/restart-policy.js";
import type { RunOptions } from "../call-options.js";

/** The options of {@link Job.spmd}. `M` is the union of the names of the job's meshes. */
export interface SpmdOptions<M extends string = string> extends RunOptions {
  /** The mesh on whose hosts the processes run. Default: the only mesh of the job. */
  readonly mesh?: M;
  /** The number of processes on each host, from 1 to 1,024. Default: 1. */
  readonly procs?: number;
  /**
   * The number of GPUs that each process sees alone, by `CUDA_VISIBLE_DEVICES`. Default: each process sees all GPUs of its
   * host, and chooses one by `LOCAL_RANK`.
   */
  readonly gpusPerProc?: number;
  /**
   * Whether all processes start again when one has failed. The restarts of the whole group count. If a host was lost, they
   * start when it is back, for which `hostTimeout.lost` of the job is the limit. Default: they do not start again, and
   * `exited` tells the failure.
   */
  readonly restart?: Omit<RestartOptions, "from" | "every" | "store">;
  /**
   * The time between SIGTERM and SIGKILL for processes that are ended, in milliseconds, from 0 to 600,000. Default: 5,000.
   */
  readonly grace?: number;
  /** The destination of what the processes print, such as `logs()`. `"inherit"` is not supported. Default: `"prefix"`. */
  readonly stdio?: Exclude<Stdio, "inherit">;
}

/** The failure of one process of a {@link SpmdRun}, because of which all processes were ended. */
export interface SpmdFailure {
  /** The rank of the process among all processes. */
  readonly rank: number;
  /** The host of the process, such as `trainers[2]`. */
  readonly host: string;
  /** The exit code, or 128 plus the number of the signal that has ended the process; absent if the host has ended. */
  readonly exitCode?: number;
  /** The description of the failure: the process, its host, and its end. */
  readonly reason: string;
}

/** Processes that run the same program, one for each rank: what {@link Job.spmd} returns. */
export interface SpmdRun extends AsyncDisposable {
  /** The number of processes. */
  readonly worldSize: number;
  /** The failures so far, the oldest first. Each of them has ended all processes; all but the last led to a restart. */
  readonly failures: readonly SpmdFailure[];
  /**
   * Waits until all processes have ended for good.
   *
   * @returns a promise that resolves with 0 if all processes ended with 0, with the exit code of the process that has failed and
   *   was not restarted, or with 143 after {@link kill}
   * @throws {JobStartError} as a rejection, when a process could not be started
   * @throws {JobLostError} as a rejection, when a host or the job has ended
   */
  exited(): Promise<number>;
  /** Ends all processes: SIGTERM, and SIGKILL after the grace. The hosts stay. Resolves when the processes have ended. */
  kill(): Promise<void>;
}
