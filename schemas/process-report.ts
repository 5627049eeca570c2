/**
 * The output and the ends of the processes that hosts have started. Hosts report them to drivers, and drivers in processes of their own report them to
 * the process that spawned the mesh.
 */
import type { Uint32, Uint64 } from "viceroy/schema";
import type { FailureCause } from "./supervision.js";

/** The end of a process. */
export interface ProcessEnding {
  proc: Uint64;
  /** Whether the process has run. False if it could not be started. */
  ran: boolean;
  cause: FailureCause;
  /** Whether the process has ended by itself with exit code 0. */
  clean: boolean;
}

/** Lines that a process has printed. */
export interface ProcessOutput {
  proc: Uint64;
  /** Whether the lines are from standard error. Otherwise, they are from standard output. */
  stderr: boolean;
  lines: string[];
  /** The number of lines that were dropped before these lines, because the driver did not read them in time. */
  dropped: Uint32;
}
