/**
 * Finds the faults of a simulation that may have affected a process. A failure of a process that no fault has affected
 * is an error of the protocol.
 */
import type { CausedFault, ProcessView, Simulation } from "../../runtime/testing/index.js";

/** The shortest silence in ms after which a process may count as dead. */
const noticeable = 600;
/**
 * Time in ms without a beat after which a driver has vanished. It is less than the limit, because beats take time to
 * arrive.
 */
const keptAlive = 9000;

/** @param lasting whether links between hosts are resumable; faults of connections then excuse nothing */
export function hasSuffered({ faults }: Simulation, process: ProcessView, lasting: boolean): boolean {
  return faults.some((fault) => concerns(fault, process, lasting));
}

function concerns({ kind, ms, did }: CausedFault, { pid, host }: ProcessView, lasting: boolean): boolean {
  switch (kind) {
    case "crash":
      return names(did, pid) || did.startsWith(`host@${host}#`);
    case "crash-host":
      return did === host;
    case "pause":
      if (did.startsWith("watches hosts@")) return ms > keptAlive;
      return lasting && ms > noticeable && (names(did, pid) || did.startsWith(`host@${host}#`));
    case "pause-host":
      return ms > noticeable && did.startsWith(`${host} `);
    case "partition":
      return lasting && ms > noticeable && did.split(" ").includes(host);
    case "cut":
    case "mute":
      return !lasting && names(did, pid);
    default:
      return false;
  }
}

/** Returns whether the description of a fault names a process: `gpus=1@n0#7 - host@n1#2`. */
function names(did: string, pid: number): boolean {
  return [...did.matchAll(/#(\d+)/g)].some(([, number]) => Number(number) === pid);
}
