/**
 * What a logical process runs in: a process of the operating system, a worker thread, or the event loop of its maker.
 * The one thing that differs between isolations; everything above speaks to the pipe.
 */
import type { Location, ProcId } from "../../link/address.js";
import type { Pipe } from "../../link/pipe.js";
import type { Extent } from "../../shape/index.js";
import type { FailureCause } from "../../supervise/failure-cause.js";

export interface ProcBackend {
  /** A promise: it is still to be reached. Rejects when it will not be, and then it has ended. */
  readonly pipe: Pipe | Promise<Pipe>;
  /** Resolves with how it ended, in whatever way, as soon as that is known. */
  readonly exited: Promise<ProcExit>;
  /** Resolves when its output has been forwarded, too. */
  readonly outputEnded: Promise<unknown>;
  /** Has this process wait for its end. */
  ref(): void;
  /** Asks it to end, by a means that does not need the pipe. */
  terminate(): void;
  /** Ends it and everything it started. */
  kill(): void;
}

/** `spawn`: it has never started. */
export interface ProcExit {
  readonly kind: "process" | "spawn";
  readonly cause: FailureCause;
  /** It has ended with exit code 0. */
  readonly clean?: boolean;
}

/** Who a new proc is: all that its body is told; the rest comes over the pipe. */
export interface ProcIdentity {
  readonly universe: bigint;
  readonly id: ProcId;
  readonly parent: ProcId;
  /** Who has started it and holds the other end of its first link, if not its parent: the agent of its host. */
  readonly launcher?: ProcId;
  /** Where it is, on a host that was attached (hosted-location.ts); undefined: it runs on the driver's machine. */
  readonly host?: Location;
  /** Its place in its mesh of procs, and the sizes of that. */
  readonly rank: number;
  readonly extent: Extent;
  /** Where it listens, and whoever it makes; empty: nowhere. */
  readonly runDir: string;
}
