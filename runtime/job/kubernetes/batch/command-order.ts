/**
 * The order that the program which has submitted a job sends to the pod of its command, over the connection of a driver to a host. It contains the key
 * of the run, so no object of Kubernetes contains it.
 */

/** The environment variable of the daemon, and of what it starts: the path of the file that the order is written to. */
export const orderVariable = "VICEROY_COMMAND_ORDER";

export interface CommandOrder {
  /** The program and its arguments. No shell reads them. */
  readonly command: readonly string[];
  /** The working directory in the pod. */
  readonly cwd: string;
  /** Environment variables in addition to those of the pod. */
  readonly env: Readonly<Record<string, string>>;
  /** The record of the job, in the form of its file. */
  readonly record: string;
  /** Private files of the run, such as the key of its authority, by their paths in the folder of the run. */
  readonly files: Readonly<Record<string, string>>;
}

/** The first line that the pod prints. Whoever reads the output of the command leaves it out. */
export const waitingLine = "viceroy job: waits for its program";

/** The exit code of a pod that could not run its command. */
export const podFailed = 70;

/** The exit code of a pod that was told to end before it had a command. */
export const toldToEnd = 143;

/** The begin of the last line of a pod that could not run its command. The reason follows. */
export const failureMark = "viceroy job: ";

/** Returns whether a text says why a command was not run: what a program prints itself does not begin like this. */
export function isFailure(line: string): boolean {
  return /^viceroy job: its (?:command|pod) /.test(line);
}
