/** Checks that the queues of a simulation stay within the limits of credit and buffers. */
import type { World } from "./world.js";

/** Maximum number of bytes that wait in one link, in addition to those for which its senders have credit. */
const MAX_OUTBOX_BYTES = 64 * 1024 * 1024;

/** @throws Error that names a queue that exceeds its limit */
export function checkQueues(world: World): void {
  const living = [...world.living];
  const senders = living.reduce((sum, { runtime }) => sum + countSenders(runtime), 0);
  for (const { name, runtime } of living) {
    for (const { proc } of runtime?.procs.values() ?? []) {
      const most = proc.limits.creditMessages * senders;
      for (const cell of proc.cells()) {
        if (cell.waitingCount <= most) continue;
        throw new Error(`${cell.waitingCount} messages wait for ${cell.name} in ${name}: credit allows ${most}`);
      }
      for (const { outbox } of proc.routes.allLinks()) {
        if (outbox.unsentBytes <= MAX_OUTBOX_BYTES) continue;
        throw new Error(`${outbox.unsentBytes} bytes wait in a link of ${name}: at most ${MAX_OUTBOX_BYTES} should`);
      }
    }
  }
}

/** Returns the number of actors and roots. */
function countSenders(runtime: World["processes"][number]["runtime"]): number {
  let count = 0;
  for (const { proc } of runtime?.procs.values() ?? []) count += 1 + [...proc.cells()].length;
  return count;
}
