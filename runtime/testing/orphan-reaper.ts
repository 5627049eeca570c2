/** The simulated orphan reaper: ends the processes whose parent has ended. */
import type { ProcessRef, WorldRef } from "./references.js";

/** Time in ms that the processes have to leave by themselves. */
const ORPHAN_GRACE_MS = 1000;

/** Wakes the processes that their parent has left behind, and kills those that do not leave by themselves. */
export function killOrphansLater({ scheduler }: WorldRef, left: readonly ProcessRef[]): void {
  for (const one of left) {
    if (one.ended) continue;
    one.busyUntil = Math.min(one.busyUntil, scheduler.now);
    scheduler.schedule(scheduler.now + ORPHAN_GRACE_MS, undefined, "watcher", () => one.kill());
  }
}
