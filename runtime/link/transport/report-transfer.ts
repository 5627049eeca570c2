/** Reports large transfers over sockets and shared memory, with the waiting time that Linux counts for each thread. */
import { readFileSync } from "node:fs";
import { systemClock } from "../clock.js";
import { coreContention } from "../core-contention.js";

/** Transfers of at least this size in bytes are reported. */
const LARGE_TRANSFER = 32 * 1024;
/** Time on the core, time of waiting for it, both in nanoseconds, and number of turns. */
const SCHEDULER_STATISTICS = "/proc/thread-self/schedstat";

/** A transport has read or written `bytes` bytes at once. */
export function reportTransfer(bytes: number): void {
  if (bytes >= LARGE_TRANSFER) coreContention.transferred(systemClock.now, waitingTime);
}

/** Returns how long this thread has waited for a core, in milliseconds, or undefined where the operating system does not tell. */
export function waitingTime(): number | undefined {
  try {
    const waiting = Number(readFileSync(SCHEDULER_STATISTICS, "latin1").split(" ")[1]);
    return Number.isFinite(waiting) ? waiting / 1e6 : undefined;
  } catch {
    // The file exists on Linux only.
    return undefined;
  }
}
