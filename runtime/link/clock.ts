/**
 * Time, turns of the event loop and randomness as parameters, so that a simulator can replace them. Nothing in link/,
 * actor/ and supervise/ reads a clock, waits or draws a number in any other way.
 */
import { closeSync, openSync, readSync } from "node:fs";

/** What `Clock.after` returns. */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Milliseconds since 1970. */
  epochMs(): number;
  /** Runs `task` once after `ms`. `keepAlive`: the process waits for it; without it, timers never hold a process. */
  after(ms: number, task: () => void, keepAlive?: boolean): Timer;
  /** Runs `task` in a later turn of the event loop: what is ready to run runs first. */
  nextTurn(task: () => void): void;
}

export interface Random {
  /** Uniform in [0, 1). */
  number(): number;
  /** 64 uniform bits, never 0 and never 1: those are the ids of agents and roots. */
  id(): bigint;
}

// The machine's own, also while a simulation stands in for the global ones.
const { setTimeout, clearTimeout, setImmediate } = globalThis;
/** The most that `setTimeout` can wait, in milliseconds, 24 days: it runs at once what is to run later. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
const monotonic = performance.now.bind(performance);
const systemEpochMs = Date.now;

class NodeTimer implements Timer {
  readonly #handle: ReturnType<typeof setTimeout>;
  constructor(handle: ReturnType<typeof setTimeout>) {
    this.#handle = handle;
  }
  cancel(): void {
    clearTimeout(this.#handle);
  }
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: monotonic,
  epochMs: systemEpochMs,
  after(ms, task, keepAlive = false) {
    const handle = setTimeout(task, Math.min(ms, MAX_TIMER_MS));
    if (!keepAlive) handle.unref();
    return new NodeTimer(handle);
  },
  nextTurn(task) {
    setImmediate(task);
  },
};

/** The machine's own randomness: ids must not collide between processes, so they come from the kernel. */
export const systemRandom: Random = {
  number: () => Math.random(),
  id() {
    if (wordsUsed === words.length) {
      fillFromKernel(words);
      wordsUsed = 0;
    }
    const word = words[wordsUsed++]!;
    return word < 2n ? systemRandom.id() : word;
  },
};

/** Drawn together: each visit to the kernel costs more than many words. */
const words = new BigUint64Array(32);
let wordsUsed = words.length;

/** Not by Web Crypto where that can be avoided: loading it takes a program that starts 7 ms. */
function fillFromKernel(target: BigUint64Array): void {
  let device: number | undefined;
  try {
    device = openSync("/dev/urandom", "r");
    if (readSync(device, target) === target.byteLength) return;
  } catch {
    // Not on this system.
  } finally {
    if (device !== undefined) closeSync(device);
  }
  crypto.getRandomValues(target);
}
