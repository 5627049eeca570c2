/**
 * The locations of procs that do not listen, such as threads and inline procs: `relayed:<id>@<location>`, with the id and
 * the location of the proc that has started them, in 16 hex digits. Others reach them through that proc.
 */
import { formatId, type Location, type ProcId } from "./address.js";

/** The proc that relays to a proc which does not listen. */
export interface RelayedLocation {
  readonly via: ProcId;
  /** The location of the relaying proc. It may be a relayed one itself. */
  readonly location: Location;
}

export function formatRelayedLocation({ via, location }: RelayedLocation): Location {
  return `relayed:${formatId(via)}@${location}`;
}

/** Returns the proc that relays to this location, or undefined if a proc listens there, or the location is empty. */
export function parseRelayedLocation(location: Location): RelayedLocation | undefined {
  const [, via, rest] = /^relayed:([\da-f]{16})@(.*)$/.exec(location) ?? [];
  return via === undefined || rest === undefined ? undefined : { via: BigInt(`0x${via}`), location: rest };
}
