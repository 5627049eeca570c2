/**
 * The backend of a proc: an operating-system process, a worker thread, the event loop of the parent, or a process on an
 * attached host. Only backends differ between isolations; all other code uses the pipe.
 */
import type { Location, ProcId } from "../../link/address.js";
import type { Pipe } from "../../link/transport/pipe.js";
import type { Extent } from "../../shape/index.js";
import type { FailureCause } from "../../supervise/failure-cause.js";

export interface ProcBackend {
  /** The id of the process that was started for the proc; undefined if there is none. */
  readonly pid?: number | undefined;
  /**
   * The pipe of the link. A promise if the proc must still be reached; it rejects if the proc cannot be reached, and
   * the proc has then ended.
   */
  readonly pipe: Pipe | Promise<Pipe>;
  /** Resolves with the exit status as soon as it is known. */
  readonly exited: Promise<ProcExit>;
  /** Resolves when the output has also been forwarded. */
  readonly outputEnded: Promise<unknown>;
  /** Keeps this process alive until the proc has ended. */
  ref(): void;
  /** Asks the proc to end, without using the pipe. */
  terminate(): void;
  /** Ends the proc and everything that it started. */
  kill(): void;
}

/** The exit of a proc. The kind `spawn` means that the proc never started. */
export interface ProcExit {
  readonly kind: "process" | "spawn";
  readonly cause: FailureCause;
  /** Whether the exit code was 0. */
  readonly clean?: boolean;
}

/** The identity of a new proc. The backend passes it on at the start; everything else arrives over the pipe. */
export interface ProcIdentity {
  readonly universe: bigint;
  readonly id: ProcId;
  readonly parent: ProcId;
  /**
   * The proc that has started this proc and holds the other end of its first link, if it is not the parent: the agent
   * of its host.
   */
  readonly launcher?: ProcId;
  /** The location on an attached host (`remote/hosted-location.ts`); undefined on the driver's machine. */
  readonly host?: Location;
  /** The location of a proc that does not listen: a thread or an inline proc. */
  readonly relayed?: Location;
  /** The rank in its mesh of procs, and the extent of this mesh. */
  readonly rank: number;
  readonly extent: Extent;
  /** The directory for the sockets of the proc and its children; empty if they do not listen. */
  readonly runDir: string;
}
