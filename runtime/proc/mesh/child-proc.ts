/**
 * One proc of a mesh as its parent sees it: its backend, whether it has ended, and how. The steps that end a child are
 * in `stop-child.ts`.
 */
import type { Location, ProcId } from "../../link/address.js";
import type { Clock } from "../../link/clock.js";
import type { FailureCause } from "../../supervise/failure-cause.js";
import type { ProcBackend, ProcExit } from "../launch/proc-backend.js";

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
 * The longer `statusGrace` is for an overloaded machine: a failure report with a known cause is worth the wait.
 */
const statusGrace = 2000;
const callGrace = 30;

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
  readonly #onExit: (member: ChildProc, end: ProcExit) => void;

  /** @param onEnd called once, when the child has ended for any reason */
  constructor(options: ChildProcOptions, onEnd: (member: ChildProc, end: ProcExit) => void) {
    this.id = options.id;
    this.parent = options.parent;
    this.rank = options.rank;
    this.location = options.location;
    this.backend = options.backend;
    this.clock = options.clock;
    this.#onExit = onEnd;
    void this.backend.exited.then((end) => this.#recordExit(end));
  }

  /** How the child ended, or undefined while it runs. */
  get exit(): ProcExit | undefined {
    return this.#exit;
  }

  /** Kills the child and records `end` as the way it ended. */
  discard(end: ProcExit): void {
    this.backend.kill();
    this.#recordExit(end);
  }

  /**
   * Resolves with the reason for the exit after the link of the child has ended. Waits `callGrace` for the exit status
   * at most.
   */
  exitText(): Promise<string> {
    return new Promise((resolve) => {
      const timer = this.clock.after(callGrace, () => resolve("its process has closed its link"), true);
      void this.backend.exited.then(({ cause }) => {
        timer.cancel();
        resolve(cause.message);
      });
    });
  }

  /**
   * Discards the child if its exit status does not follow the end of its link within `statusGrace`. A child without a
   * link cannot be controlled.
   */
  awaitExit(reason: string): void {
    if (this.#exit !== undefined) return;
    const cause: FailureCause = { name: "LinkEnd", message: reason };
    const giveUp = () => {
      if (this.#exit === undefined) this.discard({ kind: "process", cause });
    };
    this.clock.after(statusGrace, giveUp, true);
  }

  #recordExit(end: ProcExit): void {
    if (this.#exit !== undefined) return;
    this.#exit = end;
    this.#onExit(this, end);
  }
}
