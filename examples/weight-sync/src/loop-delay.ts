/** Measures how late the event loop of this process is, and how much of that is its own work. The rest is time of other processes. */

import { closeSync, existsSync, openSync, readSync } from "node:fs";

/** Interval of the measurements, in ms. */
const interval = 1;
const schedule = "/proc/self/schedstat";

/** Measurements since the last call of `take`, in ms. */
interface LoopDelays {
  readonly mean: number;
  readonly max: number;
  /** Longest time for which the thread has run between two measurements. */
  readonly longestRun: number;
}

export class LoopDelayMonitor {
  readonly #runTime = new RunTime();
  readonly #timer: NodeJS.Timeout;
  #count = 0;
  #sum = 0;
  #max = 0;
  #longestRun = 0;

  constructor() {
    let due = performance.now() + interval;
    let before = this.#runTime.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      const after = this.#runTime.now();
      const late = Math.max(0, now - due);
      this.#count++;
      this.#sum += late;
      this.#max = Math.max(this.#max, late);
      this.#longestRun = Math.max(this.#longestRun, after - before);
      due = now + interval;
      before = after;
    }, interval);
  }

  /** Returns the measurements and starts again. */
  take(): LoopDelays {
    const delays = { mean: this.#sum / Math.max(1, this.#count), max: this.#max, longestRun: this.#longestRun };
    this.#count = this.#sum = this.#max = this.#longestRun = 0;
    return delays;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#runTime.close();
  }
}

/**
 * The processor time of the event loop's thread, in ms, as Linux counts it; on other systems that of the whole process. Reading it leaves no
 * garbage, which would itself delay the loop.
 */
class RunTime {
  readonly #file = existsSync(schedule) ? openSync(schedule, "r") : undefined;
  readonly #text = Buffer.alloc(64);

  now(): number {
    if (this.#file === undefined) {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    }
    const length = readSync(this.#file, this.#text, 0, this.#text.length, 0);
    return Number.parseInt(this.#text.toString("latin1", 0, length), 10) / 1e6;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }
}
