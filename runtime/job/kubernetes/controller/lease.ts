/** The lease of provisioned hosts: the time after which they end if nothing is heard of the program that has asked for them. */
import { durationMs } from "../../duration.js";

/** The shortest lease in ms: programs renew it each 10 s at the latest. */
const shortestLease = 15_000;

/**
 * Returns the lease in ms.
 * @param act what cannot be done with another lease, for the error
 * @throws TypeError if it is malformed or too short
 */
export function leaseMs(act: string, lease: string): number {
  const ms = durationMs(lease, "--lease");
  if (ms >= shortestLease) return ms;
  throw new TypeError(`cannot ${act}: expected --lease of at least ${shortestLease} ms, got "${lease}"`);
}
