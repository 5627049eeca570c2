/**
 * Watches the resident memory of processes that have a limit. It is read from time to time, so that a process can exceed its limit for
 * a short while.
 */
import { memoryUse } from "./memory-use.js";

/** The time in ms between two readings. */
const interval = 100;

interface Watched {
  readonly limit: number;
  readonly exceeded: (used: number) => void;
}

export class MemoryWatch {
  readonly #watched = new Map<number, Watched>();
  #timer: NodeJS.Timeout | undefined;

  /** Limits the memory of a process and of what it starts, in bytes; undefined: no limit. */
  limit(pid: number, bytes: number | undefined, exceeded: (used: number) => void): void {
    if (bytes === undefined) this.#watched.delete(pid);
    else this.#watched.set(pid, { limit: bytes, exceeded });
    if (this.#watched.size === 0) this.close();
    else this.#timer ??= setInterval(() => this.#look(), interval).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#watched.clear();
  }

  #look(): void {
    for (const [pid, used] of memoryUse(new Set(this.#watched.keys()))) {
      const { limit, exceeded } = this.#watched.get(pid)!;
      if (used <= limit) continue;
      this.limit(pid, undefined, exceeded);
      exceeded(used);
    }
  }
}
