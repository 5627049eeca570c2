/** The clock of one simulated process: virtual time as this process sees it. */
import type { Clock, Timer } from "../link/clock.js";
import { currentTurn, runInTurn } from "./kernel.js";
import type { Scheduler, TaskOwner } from "./scheduler.js";

/** The time that all wall clocks show when a simulation starts: 2026-01-01, in ms. */
const START_EPOCH_MS = Date.UTC(2026, 0, 1);
/** Virtual time in ms that reading a clock takes. Because of it, code that polls the clock in a loop terminates. */
const CLOCK_READ_MS = 0.0005;
/** Duration in ms of a turn of the event loop. */
const TURN_MS = 0.001;

export class SimulatedClock implements Clock {
  /** The error of the wall clock, in ms. */
  skew = 0;
  readonly #scheduler: Scheduler;
  readonly #owner: TaskOwner;
  /** The task in which the clock was read last, and the number of reads in this task. */
  #task = -1;
  #reads = 0;
  /** The time of the latest `soon` task. Later ones do not come before it, so that they keep their order. */
  #lastTurnAt = 0;

  constructor(scheduler: Scheduler, owner: TaskOwner) {
    this.#scheduler = scheduler;
    this.#owner = owner;
  }

  now(): number {
    const { tasksDone, now } = this.#scheduler;
    if (this.#task !== tasksDone) {
      this.#task = tasksDone;
      this.#reads = 0;
    }
    return now + this.#reads++ * CLOCK_READ_MS;
  }

  epochMs(): number {
    return Math.floor(START_EPOCH_MS + this.now() + this.skew);
  }

  after(ms: number, task: () => void): Timer {
    const delay = ms > 0 ? ms : 0;
    const scheduled = this.#scheduler.schedule(this.#scheduler.now + delay, this.#owner, "timer", inCurrentTurn(task));
    return {
      cancel() {
        scheduled.run = undefined;
      },
    };
  }

  nextTurn(task: () => void): void {
    this.#lastTurnAt = Math.max(this.#lastTurnAt, this.#scheduler.now + TURN_MS);
    this.#scheduler.schedule(this.#lastTurnAt, this.#owner, "soon", inCurrentTurn(task));
  }
}

/** Binds a task to the turn of the caller, as timers of Node.js keep the asynchronous context. */
function inCurrentTurn(task: () => void): () => void {
  const here = currentTurn();
  return here === undefined ? task : () => void runInTurn(here, task);
}
