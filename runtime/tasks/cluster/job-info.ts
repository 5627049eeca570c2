/** The description of a job by a cluster context, and the error for jobs that it does not have. */

/**
 * The state of a job: `PENDING` until its entry point is started, `SUCCEEDED` if that has ended with exit code 0, `FAILED` if it
 * has ended with another one or without any, and `STOPPED` if the job was deleted before.
 */
export type JobStatus = "PENDING" | "RUNNING" | "SUCCEEDED" | "FAILED" | "STOPPED";

/** A job of a {@link ClusterContext}. */
export interface JobInfo {
  /** The id that `createJob` has returned. */
  readonly id: string;
  /** The state of the job. */
  readonly status: JobStatus;
  /** The time of the call of `createJob`, in milliseconds since 1970. */
  readonly submissionTime: number;
  /** The time at which the entry point was started, in milliseconds since 1970. Absent until then. */
  readonly startTime?: number;
  /**
   * The time at which the entry point has ended, in milliseconds since 1970. Absent until then, and if nobody was left
   * to notice the end.
   */
  readonly endTime?: number;
  /** The exit code of the entry point, or 128 plus the number of the signal that has ended it. Absent if there is none. */
  readonly exitCode?: number;
  /** For `FAILED`: why. */
  readonly reason?: string;
}

/** Returns whether a job has ended for good. */
export function isOver(status: JobStatus): boolean {
  return status !== "PENDING" && status !== "RUNNING";
}

/** Rejects calls about jobs that a context does not have: the id is wrong, or the job has ended long ago. */
export class JobNotFoundError extends Error {
  override readonly name: string = "JobNotFoundError";
  /** The id that was asked for. */
  readonly id: string;

  /**
   * Called by the runtime.
   *
   * @param id the id that was asked for
   * @param message what the id was used for, and where the jobs are
   */
  constructor(id: string, message: string) {
    super(message);
    this.id = id;
  }
}
