/** Chooses the driver gateway of a job: the host through which the driver reaches the others. */
import type { JobHosts } from "./kernel.js";
import type { ReadyHost } from "./provider.js";

/** Returns the first of the hosts that the driver does not dial by its address; undefined if it dials all of them. */
export function gatewayOf(hosts: readonly ReadyHost[]): JobHosts["gateway"] {
  for (const { address, dial } of hosts) if (dial !== undefined) return { address, dial };
  return undefined;
}
