/** Chooses the driver gateway of a job: the host through which the driver reaches the others. */
import type { JobHosts } from "./kernel.js";
import type { ReadyHost } from "./provider.js";

/**
 * Returns the hosts that can be the driver gateway: those that the driver does not dial by their addresses.
 * @param hosts returns the hosts as they are now
 * @returns undefined if the driver dials all of them
 */
export function gatewayOf(hosts: () => Iterable<ReadyHost>): JobHosts["gateway"] {
  const candidates = () => [...hosts()].flatMap(({ address, dial }) => (dial === undefined ? [] : [{ address, dial }]));
  return candidates().length === 0 ? undefined : { candidates };
}
