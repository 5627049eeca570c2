/** One proc of a mesh, as its maker sees it: what it runs in, whether it has ended and how. */
import type { Location, ProcId } from "../../link/address.js";
import type { Clock } from "../../link/clock.js";
import type { FailureCause } from "../../supervise/failure-cause.js";
import type { ProcBackend, ProcExit } from "../launch/proc-backend.js";

export interface ChildProcOptions {
  readonly id: ProcId;
  /** The proc that has made it, which is its parent. */
  readonly parent: ProcId;
  readonly rank: number;
  /** Where it listens for others; empty: nowhere. */
  readonly location: Location;
  readonly backend: ProcBackend;
  readonly clock: Clock;
}

/**
 * How long the exit status of a process may come after the end of its link, in ms. Calls wait for the shorter one; the
 * longer one is for a machine that is overloaded, since a failure whose cause is known is worth more.
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
  /** It was told to end: its end is no failure. */
  isExitExpected = false;
  #exit: ProcExit | undefined;
  readonly #onExit: (member: ChildProc, end: ProcExit) => void;

  /** @param onEnd called once, when it has ended in whatever way */
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

  /** How it ended; undefined while it runs. */
  get exit(): ProcExit | undefined {
    return this.#exit;
  }

  /** It is of no use any more: it is ended, and that is what it ended of. */
  discard(end: ProcExit): void {
    this.backend.kill();
    this.#recordExit(end);
  }

  /** Its link has ended: how it ended, in words, as soon as that is known. */
  exitText(): Promise<string> {
    return new Promise((resolve) => {
      const timer = this.clock.after(callGrace, () => resolve("its process has closed its link"), true);
      void this.backend.exited.then(({ cause }) => {
        timer.cancel();
        resolve(cause.message);
      });
    });
  }

  /** One that lives on without its link is nobody's. */
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
