/**
 * Where procs on attached hosts are: `host:<id of the host's agent>@<address of the host>`, and for those that procs there have
 * made, `/<id>` for each of these, outermost first. Ids are 16 hex digits. On the same host they find each other's sockets in
 * the run directory of their driver there; from elsewhere they are reached through the last that is named.
 */
import { hex64, type Location, type ProcId } from "../../link/address.js";
import { formatNetworkAddress, type NetworkAddress, parseNetworkAddress } from "../../link/network-address.js";

export interface HostedLocation {
  readonly agent: ProcId;
  /** As the driver dials it. */
  readonly address: NetworkAddress;
  readonly ancestors: readonly ProcId[];
}

export function formatHostedLocation({ agent, address, ancestors: makers }: HostedLocation): Location {
  const above = makers.map((maker) => `/${hex64(maker)}`).join("");
  return `host:${hex64(agent)}@${formatNetworkAddress(address)}${above}`;
}

/** The host that a location is on; undefined: that of the driver, or none. @throws TypeError if its address is none */
export function parseHostedLocation(location: Location): HostedLocation | undefined {
  const [, agent, address, above] = /^host:([\da-f]{16})@(.+?)((?:\/[\da-f]{16})*)$/.exec(location) ?? [];
  if (agent === undefined || address === undefined || above === undefined) return undefined;
  const makers = above.split("/").slice(1).map(parseProcId);
  return { agent: parseProcId(agent), address: parseNetworkAddress(address), ancestors: makers };
}

/** Where a proc is that `maker`, which is at `location`, has made. */
export function childLocation(location: Location, maker: ProcId): Location {
  return `${location}/${hex64(maker)}`;
}

/** Where the last of the makers is; with none, the agent. */
export function parentLocation(place: HostedLocation): Location {
  return formatHostedLocation({ ...place, ancestors: place.ancestors.slice(0, -1) });
}

function parseProcId(digits: string): ProcId {
  return BigInt(`0x${digits}`);
}
