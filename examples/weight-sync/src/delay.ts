/** How late the event loop of this process is, and how much of that is its own work: the rest is a machine that has others to run, too. */

import { closeSync, existsSync, openSync, readSync } from "node:fs";

/** In ms: how often the loop is looked at. */
const interval = 1;
const schedule = "/proc/self/schedstat";

/** All in ms, since it was last taken. */
interface DelayMeasurement {
  readonly mean: number;
  readonly most: number;
  /** For how long its thread has run between two looks at most. */
  readonly busy: number;
}

export class EventLoopDelay {
  readonly #ran = new ThreadRunTime();
  readonly #timer: NodeJS.Timeout;
  #looks = 0;
  #late = 0;
  #most = 0;
  #busy = 0;

  constructor() {
    let due = performance.now() + interval;
    let before = this.#ran.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      const after = this.#ran.now();
      const late = Math.max(0, now - due);
      this.#looks++;
      this.#late += late;
      this.#most = Math.max(this.#most, late);
      this.#busy = Math.max(this.#busy, after - before);
      due = now + interval;
      before = after;
    }, interval);
  }

  take(): DelayMeasurement {
    const taken = { mean: this.#late / Math.max(1, this.#looks), most: this.#most, busy: this.#busy };
    this.#looks = this.#late = this.#most = this.#busy = 0;
    return taken;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#ran.close();
  }
}

/**
 * For how long the thread of the loop has run, in ms, as Linux counts it; elsewhere the whole process. Read without leaving garbage, which would
 * make the loop late itself.
 */
class ThreadRunTime {
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
