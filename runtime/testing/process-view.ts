/** A simulated process as scenarios, and options that select processes, see it. */

/** A simulated process. */
export interface ProcessView {
  /** The number of the process. */
  readonly pid: number;
  /** The name of its host. */
  readonly host: string;
  /** The label of the process with its host and number: `gpus=1@host#3`. */
  readonly name: string;
  /** The simulated time in ms until which the process is paused or busy. Later than `now`: it runs no code yet. */
  readonly busyUntil: number;
  /** Whether the process has ended. */
  readonly ended: boolean;
  /** The cause of the end of the process, as text; undefined while it runs. */
  readonly end: string | undefined;
  /** The program that has spawned the process, directly or through other processes; undefined for a host daemon. */
  readonly program: ProcessView | undefined;
}
