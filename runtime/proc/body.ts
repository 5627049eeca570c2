/**
 * What a logical process runs in: a process of the operating system, a worker thread, or the event loop of its maker.
 * The one thing that differs between isolations; everything above speaks to the pipe.
 */
import type { ProcId } from "../link/address.js";
import type { Pipe } from "../link/pipe.js";
import type { FailureCause } from "../supervise/cause.js";

export interface Body {
  readonly pipe: Pipe;
  /** Resolves with how it ended, in whatever way, as soon as that is known. */
  readonly ended: Promise<FailureCause>;
  /** Resolves when its output has been forwarded, too. */
  readonly finished: Promise<unknown>;
  /** Asks it to end, by a means that does not need the pipe. */
  terminate(): void;
  /** Ends it and everything it started. */
  kill(): void;
}

/** Who a new proc is: all that its body is told; the rest comes over the pipe. */
export interface Identity {
  readonly universe: bigint;
  readonly id: ProcId;
  readonly parent: ProcId;
}
