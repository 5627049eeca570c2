/**
 * Where procs on attached hosts are: `host:<id of the host's agent, 16 hex digits>@<address of the host>`. On the same host
 * they find each other's sockets in the run directory of their driver there; from elsewhere they are reached through the agent.
 */
import { hex64, type Location, type ProcId } from "../link/address.js";
import { formatNetworkAddress, type NetworkAddress, parseNetworkAddress } from "../link/network-address.js";

export interface HostPlace {
  readonly agent: ProcId;
  /** As the driver dials it. */
  readonly address: NetworkAddress;
}

export function hostedLocation({ agent, address }: HostPlace): Location {
  return `host:${hex64(agent)}@${formatNetworkAddress(address)}`;
}

/** The host that a location is on; undefined: that of the driver, or none. @throws TypeError if its address is none */
export function hostOf(location: Location): HostPlace | undefined {
  const [, digits, address] = /^host:([\da-f]{16})@(.+)$/.exec(location) ?? [];
  if (digits === undefined || address === undefined) return undefined;
  return { agent: BigInt(`0x${digits}`), address: parseNetworkAddress(address) };
}
