/** What becomes of simulated processes whose maker has ended. */
import type { SimulatedProcess } from "./process.js";
import type { World } from "./world.js";

/** How long they have to leave by themselves, in ms. */
const grace = 1000;

/** What the watcher does: it wakes whom their maker has left behind, and kills who does not leave by itself. */
export function killSoon({ scheduler }: World, left: readonly SimulatedProcess[]): void {
  for (const one of left) {
    if (one.ended) continue;
    one.busyUntil = Math.min(one.busyUntil, scheduler.now);
    scheduler.at(scheduler.now + grace, undefined, "watcher", () => one.kill());
  }
}
