/**
 * One proc of a mesh as its parent sees it: its backend, whether it has ended, and how. Two facts tell of the end of a
 * child, in any order: its link ends, and its exit status arrives. `ChildProc` merges both into one exit event. The
 * steps that end a child are in `stop-child.ts`.
 */
import type { Location, ProcId } from "../../link/address.js";
import type { Clock } from "../../link/clock.js";
import type { ProcBackend, ProcExit } from "../launch/proc-backend.js";
import { SilenceTimer } from "../remote/silence-timer.js";

export interface ChildProcOptions {
  readonly id: ProcId;
  /** The proc that started this child. */
  readonly parent: ProcId;
  readonly rank: number;
  /** The address at which the child listens for links, or empty if it does not listen. */
  readonly location: Location;
  readonly backend: ProcBackend;
  readonly clock: Clock;
}

/**
 * Time in ms for which the exit status of a process may follow the end of its link. Calls wait for `callGrace` only.
 * The longer `statusGrace`, which begins after it, is for an overloaded machine: a failure report with a known cause is
 * worth the wait.
 */
const callGrace = 250;
const statusGrace = 2000;

/** The cause of an end without an exit status. */
const linkEnd: ProcExit = {
  kind: "process",
  cause: { name: "LinkEnd", message: "its process has closed its link" },
};

export class ChildProc {
  readonly id: ProcId;
  readonly parent: ProcId;
  readonly rank: number;
  readonly location: Location;
  readonly backend: ProcBackend;
  readonly clock: Clock;
  /** Whether the child was told to end. Its exit is then not a failure. */
  isExitExpected = false;
  #exit: ProcExit | undefined;
  readonly #onExit: (exit: ProcExit) => void;

  /** @param onExit called once, when the child has ended for any reason */
  constructor(options: ChildProcOptions, onExit: (exit: ProcExit) => void) {
    this.id = options.id;
    this.parent = options.parent;
    this.rank = options.rank;
    this.location = options.location;
    this.backend = options.backend;
    this.clock = options.clock;
    this.#onExit = onExit;
    void this.backend.exited.then((exit) => this.#recordExit(exit));
  }

  /** The exit event, or undefined while the child runs. */
  get exit(): ProcExit | undefined {
    return this.#exit;
  }

  /** Kills the child and records `exit` as the way it ended. */
  discard(exit: ProcExit): void {
    this.backend.kill();
    this.#recordExit(exit);
  }

  /**
   * Handles the end of the child's link. If no exit status follows within `callGrace` and `statusGrace`, the child is
   * discarded, because a child without a link cannot be controlled.
   * @returns the reason for the end, for calls to the child; resolves after `callGrace` at the latest
   */
  linkEnded(): Promise<string> {
    return new Promise((resolve) => {
      const giveUp = () => {
        if (this.#exit === undefined) this.discard(linkEnd);
      };
      let status: SilenceTimer | undefined;
      const waitLonger = () => {
        resolve(linkEnd.cause.message);
        // Time in which this process did not run does not count: it could not learn of the exit status then.
        status = new SilenceTimer(this.clock, statusGrace, giveUp, statusGrace, true);
      };
      const call = this.clock.after(callGrace, waitLonger, true);
      void this.backend.exited.then(({ cause }) => {
        call.cancel();
        status?.stop();
        resolve(cause.message);
      });
    });
  }

  #recordExit(exit: ProcExit): void {
    if (this.#exit !== undefined) return;
    this.#exit = exit;
    this.#onExit(exit);
  }
}
