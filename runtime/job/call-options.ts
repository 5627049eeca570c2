/** The options of the methods of jobs. */

/** The options of {@link Job.apply} and {@link Job.state}. */
export interface WaitOptions {
  /** Ends the waiting of this caller. The job itself goes on: `kill` ends it. */
  readonly signal?: AbortSignal;
}

/** The options of {@link attach}. */
export interface AttachJobOptions extends WaitOptions {
  /**
   * Whether this program only looks at the job: it sees the hosts with their processes and published meshes, events and logs, and
   * the hosts refuse everything that changes something. The job object cannot change the job any more. Default: false.
   */
  readonly readOnly?: boolean;
}

/** The options of {@link Job.run}. */
export interface RunOptions extends WaitOptions {
  /** The working directory of the command. Default: that of this program. */
  readonly cwd?: string;
  /** Environment variables of the command, in addition to those of the allocation. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The options of {@link Job.logs}. */
export interface JobLogOptions extends WaitOptions {
  /** Whether to wait for further lines until the job has ended. Default: false. */
  readonly follow?: boolean;
}

/** The options of {@link Job.detach}. */
export interface DetachOptions {
  /**
   * The time in which calls that are under way can be answered, in milliseconds, from 0 to 60,000. Afterwards they are
   * rejected. Default: 5,000.
   */
  readonly drain?: number;
}
