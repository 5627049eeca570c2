/**
 * Limits memory without the help of the system. The resident memory of processes is read from time to time, so that a process can
 * exceed its limit for a short while.
 */
import type { MemoryExceeded, MemoryGuard } from "./memory-guard.js";
import { memoryUse } from "./memory-use.js";

/** The time in ms between two readings. */
const interval = 100;

interface Watched {
  readonly limit: number;
  readonly exceeded: MemoryExceeded;
}

export class MemoryWatch implements MemoryGuard {
  readonly groups = undefined;
  readonly #watched = new Map<number, Watched>();
  #timer: NodeJS.Timeout | undefined;

  started(): void {}

  limit(pid: number, bytes: number | undefined, exceeded: MemoryExceeded): void {
    if (bytes === undefined) this.#forget(pid);
    else this.#watched.set(pid, { limit: bytes, exceeded });
    if (this.#watched.size > 0) this.#timer ??= setInterval(() => this.#look(), interval).unref();
  }

  ended(pid: number): boolean {
    this.#forget(pid);
    return false;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#watched.clear();
  }

  #forget(pid: number): void {
    this.#watched.delete(pid);
    if (this.#watched.size === 0) this.close();
  }

  #look(): void {
    for (const [pid, used] of memoryUse(new Set(this.#watched.keys()))) {
      const { limit, exceeded } = this.#watched.get(pid)!;
      if (used <= limit) continue;
      this.#forget(pid);
      exceeded(used);
    }
  }
}
