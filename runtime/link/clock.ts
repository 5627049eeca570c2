/**
 * Time, turns of the event loop and randomness as parameters, so that a simulator can replace them. The folders link/,
 * actor/ and supervise/ read clocks, wait and draw random numbers only through these interfaces.
 */
import { closeSync, openSync, readSync } from "node:fs";

/** A task that `Clock.after` has scheduled. */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Returns the time of a monotonic clock, in milliseconds. */
  now(): number;
  /** Returns the time since 1970, in milliseconds. */
  epochMs(): number;
  /**
   * Runs `task` once after `ms` milliseconds.
   * @param keepAlive whether the timer keeps the process alive until then; default: false
   */
  after(ms: number, task: () => void, keepAlive?: boolean): Timer;
  /** Runs `task` in a later turn of the event loop, after what is ready to run now. */
  nextTurn(task: () => void): void;
}

export interface Random {
  /** Returns a number that is uniform in [0, 1). */
  number(): number;
  /** Returns 64 uniform bits, never 0 or 1, which are the mesh ids of agents and roots. */
  id(): bigint;
}

// The functions of Node.js, kept because a simulation may replace the global ones.
const { setTimeout, clearTimeout, setImmediate } = globalThis;
const { hrtime } = process;
/** The longest delay of `setTimeout`, in milliseconds: 24 days. With a longer delay, `setTimeout` runs its task at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
const systemEpochMs = Date.now;

/** `performance.now` is as fast, but the first use of `performance` loads modules of Node.js that nothing else in a child process needs. */
function monotonic(): number {
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

class NodeTimer implements Timer {
  readonly #handle: ReturnType<typeof setTimeout>;
  constructor(handle: ReturnType<typeof setTimeout>) {
    this.#handle = handle;
  }
  cancel(): void {
    clearTimeout(this.#handle);
  }
}

/** The clock of the system. */
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

/** The randomness of the system. Ids come from the kernel, because they must not collide between processes. */
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

/** Random words that are read from the kernel together, because each system call costs more than many words. */
const words = new BigUint64Array(32);
let wordsUsed = words.length;

/** Fills `target` from /dev/urandom where that exists, because loading Web Crypto adds 7 ms to the start of a program. */
function fillFromKernel(target: BigUint64Array): void {
  let device: number | undefined;
  try {
    device = openSync("/dev/urandom", "r");
    if (readSync(device, target) === target.byteLength) return;
  } catch {
    // The system has no such device.
  } finally {
    if (device !== undefined) closeSync(device);
  }
  crypto.getRandomValues(target);
}
