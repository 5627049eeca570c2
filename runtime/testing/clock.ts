/** The clock of one simulated process: virtual time as this process sees it. */
import type { Clock, Timer } from "../link/clock.js";
import { currentTurn, runInTurn } from "./kernel.js";
import type { Runner, Scheduler } from "./scheduler.js";

/** The time that all wall clocks show when a simulation starts: 2026-01-01, in ms. */
const epoch = Date.UTC(2026, 0, 1);
/** Virtual time in ms that reading a clock takes. Because of it, code that polls the clock in a loop terminates. */
const reading = 0.0005;
/** Duration in ms of a turn of the event loop. */
const turn = 0.001;

export class SimulatedClock implements Clock {
  /** The error of the wall clock, in ms. */
  skew = 0;
  readonly #scheduler: Scheduler;
  readonly #owner: Runner;
  /** The task in which the clock was read last, and the number of reads in this task. */
  #task = -1;
  #looks = 0;
  /** The time of the latest `soon` task. Later ones do not come before it, so that they keep their order. */
  #soonest = 0;

  constructor(scheduler: Scheduler, owner: Runner) {
    this.#scheduler = scheduler;
    this.#owner = owner;
  }

  now(): number {
    const { done, now } = this.#scheduler;
    if (this.#task !== done) {
      this.#task = done;
      this.#looks = 0;
    }
    return now + this.#looks++ * reading;
  }

  wall(): number {
    return Math.floor(epoch + this.now() + this.skew);
  }

  after(ms: number, task: () => void): Timer {
    const delay = ms > 0 ? ms : 0;
    const scheduled = this.#scheduler.at(this.#scheduler.now + delay, this.#owner, "timer", asHere(task));
    return {
      cancel() {
        scheduled.run = undefined;
      },
    };
  }

  soon(task: () => void): void {
    this.#soonest = Math.max(this.#soonest, this.#scheduler.now + turn);
    this.#scheduler.at(this.#soonest, this.#owner, "soon", asHere(task));
  }
}

/** Binds a task to the turn of the caller, as timers of Node.js keep the asynchronous context. */
function asHere(task: () => void): () => void {
  const here = currentTurn();
  return here === undefined ? task : () => void runInTurn(here, task);
}
