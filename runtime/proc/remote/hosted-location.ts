/**
 * The locations of procs on attached hosts: `host:<id of the host's agent>@<address of the host>`, followed by `/<id>`
 * for each ancestor of the proc on the host, outermost first, if another proc on the host has started it. Ids are 16
 * hex digits. Procs on the same host find each other's sockets in the run directory of their driver there; others reach
 * a proc through the last id of its location.
 */
import { formatId, type Location, type ProcId } from "../../link/address.js";
import {
  formatNetworkAddress,
  type NetworkAddress,
  parseNetworkAddress,
} from "../../link/transport/network-address.js";

export interface HostedLocation {
  readonly agent: ProcId;
  /** The address as processes of other hosts dial it, and the driver too, unless it has a route of its own. */
  readonly address: NetworkAddress;
  readonly ancestors: readonly ProcId[];
}

export function formatHostedLocation({ agent, address, ancestors }: HostedLocation): Location {
  const above = ancestors.map((parent) => `/${formatId(parent)}`).join("");
  return `host:${formatId(agent)}@${formatNetworkAddress(address)}${above}`;
}

/**
 * Returns the host of a location, or undefined if the location is not on a host.
 * @throws TypeError if its address is invalid
 */
export function parseHostedLocation(location: Location): HostedLocation | undefined {
  const [, agent, address, above] = /^host:([\da-f]{16})@(.+?)((?:\/[\da-f]{16})*)$/.exec(location) ?? [];
  if (agent === undefined || address === undefined || above === undefined) return undefined;
  const ancestors = above.split("/").slice(1).map(parseProcId);
  return { agent: parseProcId(agent), address: parseNetworkAddress(address), ancestors };
}

/** Returns the location of a proc that `parent` has started; `location` is that of `parent`. */
export function childLocation(location: Location, parent: ProcId): Location {
  return `${location}/${formatId(parent)}`;
}

/** Returns the location of the last ancestor, or that of the agent if there is no ancestor. */
export function parentLocation(place: HostedLocation): Location {
  return formatHostedLocation({ ...place, ancestors: place.ancestors.slice(0, -1) });
}

function parseProcId(digits: string): ProcId {
  return BigInt(`0x${digits}`);
}
