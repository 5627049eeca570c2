/** The queues of a simulation, which must stay within what credit and buffers allow. */
import type { World } from "./world.js";

/** Bytes that may wait in one link, beyond what its senders have credit for. */
const outboxLimit = 64 * 1024 * 1024;

/** @throws Error that names the queue that has grown beyond its bounds */
export function checkQueues(world: World): void {
  const living = [...world.living];
  const senders = living.reduce((sum, { local }) => sum + countCells(local), 0);
  for (const { name, local } of living) {
    for (const { proc } of local?.procs.values() ?? []) {
      const most = proc.limits.creditMessages * senders;
      for (const cell of proc.cells()) {
        if (cell.waitingCount <= most) continue;
        throw new Error(`${cell.waitingCount} messages wait for ${cell.name} in ${name}: credit allows ${most}`);
      }
      for (const { outbox } of proc.routes.all()) {
        if (outbox.waiting <= outboxLimit) continue;
        throw new Error(`${outbox.waiting} bytes wait in a link of ${name}: at most ${outboxLimit} should`);
      }
    }
  }
}

/** Actors and roots. */
function countCells(local: World["processes"][number]["local"]): number {
  let count = 0;
  for (const { proc } of local?.procs.values() ?? []) count += 1 + [...proc.cells()].length;
  return count;
}
