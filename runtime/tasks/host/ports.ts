/** The interfaces by which the leasing of a host uses processes and holders. Tests and simulations have their own. */
import type { LeaseNotice, TaskEnvironment } from "../../../generated/tasks.js";
import type { MemoryExceeded } from "./memory-guard.js";

/** A worker process that has been started. `W` is what its tasks are sent to. */
export interface WorkerProcess<W> {
  /** Resolves when tasks can be sent; rejects if the process could not be started. */
  readonly ready: Promise<W>;
  /** Whether `kill` ends the process. */
  readonly canBeKilled: boolean;
  /** Ends the process at once. Its end is reported as every other. */
  kill(): void;
  /** Ends the process, which has no tasks. Resolves when it has ended; that is not reported. */
  stop(): Promise<void>;
  /** Cancels the tasks of a lease. Resolves when none of them runs. */
  endLease(lease: number): Promise<void>;
  /** Resolves with what has happened to the process if it has ended and its end is not reported. */
  findEnd(): Promise<string | undefined>;
  /**
   * Returns the number of the last order of a lease whose task has begun, and 0 if none has. Undefined: it is not known. It is
   * final when the process has ended.
   */
  lastBegun(lease: number): number | undefined;
  /** The use of memory in bytes, of the process and what it has started; undefined if it is not known. */
  memoryUse(): number | undefined;
  /** Limits the memory in bytes; undefined: no limit. */
  limitMemory(bytes: number | undefined, exceeded: MemoryExceeded): void;
}

/** The order to start a worker process. */
export interface WorkerStart {
  /** The number of the process on its host. */
  readonly id: number;
  readonly environment: TaskEnvironment;
  /** The indices of the GPUs that the process may use; undefined: the host has none to assign. */
  readonly gpus: readonly number[] | undefined;
  /** The process is started when this has resolved. */
  readonly after: Promise<void> | undefined;
}

export interface LeasingPorts<W> {
  /** Starts a process. `ended` of the leasing must be called when it ends without `stop`. */
  start(order: WorkerStart): WorkerProcess<W>;
  /** Tells a holder something. It may arrive before the answer that was given before. */
  notify(holder: bigint, notice: LeaseNotice): void;
}
