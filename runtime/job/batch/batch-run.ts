/** The handle of a command that a batch job runs. */
import { MAX_TIMER_MS } from "../../link/clock.js";
import type { JobLogOptions } from "../call-options.js";
import type { JobLogLine } from "../provider.js";

/** A command that runs inside the allocation of a job: what {@link Job.run} returns. */
export interface BatchRun {
  /** The random id of this run of the job. */
  readonly applyId: string;
  /** The program and its arguments. */
  readonly command: readonly string[];
  /**
   * Waits until the command needs this program no more, which may end then. On Kubernetes, the pod of the command gets its code and the credentials
   * of the job from this program; elsewhere, the command has all that it needs when the job has been submitted.
   *
   * @throws {JobStartError} as a rejection, when the pod of the command does not come up, or does not take the program; the job is killed then
   */
  delivered(): Promise<void>;
  /**
   * Waits for the end of the job.
   *
   * @returns a promise that resolves with the exit code of the command, or with 128 plus the number of the signal that has
   *   ended it
   * @throws {JobStartError} as a rejection, when the command could not be started
   * @throws {JobLostError} as a rejection, when the job has ended without an exit code, for instance because somebody has
   *   cancelled it
   */
  exited(): Promise<number>;
  /** Reads what the command, the hosts and their processes have printed: see {@link Job.logs}. */
  logs(options?: JobLogOptions): AsyncIterableIterator<JobLogLine>;
  /** Ends the command and the job. The command gets SIGTERM first. */
  kill(): Promise<void>;
}

/** Returns a promise like the given one that keeps this program alive until it is settled. */
export function holding<T>(promise: Promise<T>): Promise<T> {
  const held = setInterval(() => {}, MAX_TIMER_MS);
  return promise.finally(() => clearInterval(held));
}
