/**
 * Which of the faults of a simulation a process may have suffered from: what goes wrong with one that has suffered from none is
 * a mistake of the protocol, since nothing but faults makes anything go wrong.
 */
import type { CausedFault, ProcessView, Simulation } from "../../runtime/testing/index.js";

/** In ms: shorter ones are no silence that anybody calls an end. */
const noticeable = 600;
/** In ms: a driver whose sign of life does not come for longer has vanished. Less than the limit, for what is on its way. */
const keptAlive = 9000;

/** @param lasting its links to other hosts outlive their connections: what happens to connections alone is no excuse */
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

/** Whether what a fault did names a process: `gpus=1@n0#7 - host@n1#2`. */
function names(did: string, pid: number): boolean {
  return [...did.matchAll(/#(\d+)/g)].some(([, number]) => Number(number) === pid);
}
