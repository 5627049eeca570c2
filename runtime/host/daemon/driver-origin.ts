/** Describes drivers for the log of a host: by the facts of their connections, and by what they say of themselves. */
import type { HostTerms } from "../../../generated/host-agent.js";
import { formatIdentity, type PeerIdentity } from "../../link/transport/tls/identity.js";

/** The facts of the connection of a driver. */
export interface DriverOrigin {
  /** Its address, or that of the driver gateway; absent for a driver on this machine. */
  readonly peer?: string | undefined;
  /** Its identity in the job of this host, if both have one. */
  readonly identity?: PeerIdentity | undefined;
}

/** Maximum length of what a driver says of itself. */
const longestName = 200;

/** Returns one line about a driver, in which what it says of itself cannot look like another line. */
export function describeDriver(
  { driver = "a process", viceroy }: Pick<HostTerms, "driver" | "viceroy">,
  origin: DriverOrigin,
): string {
  return `${printable(driver)}${describeOrigin(origin)}, Viceroy ${printable(viceroy)}`;
}

/** Returns from where a connection has come, and by which identity: `, from 10.0.0.7:4711, as viceroy://3f9c/driver`. */
export function describeOrigin({ peer, identity }: DriverOrigin): string {
  const from = peer === undefined ? "" : `, from ${peer}`;
  return identity === undefined ? from : `${from}, as ${formatIdentity(identity)}`;
}

/** Replaces what ends a line, moves a cursor, or changes the direction of text. */
function printable(text: string): string {
  return text.slice(0, longestName).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "?");
}
