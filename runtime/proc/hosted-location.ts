/**
 * Where procs on attached hosts are: `host:<id of the host's agent, 16 hex digits>`. On the same host they find each other's
 * sockets in the run directory of their driver there; from elsewhere they are reached through others.
 */
import { hex64, type Location, type ProcId } from "../link/address.js";

export function hostedLocation(host: ProcId): Location {
  return `host:${hex64(host)}`;
}

/** The host that a location is on; undefined: that of the driver, or none. */
export function hostOf(location: Location): ProcId | undefined {
  const [, digits] = /^host:([\da-f]{16})$/.exec(location) ?? [];
  return digits === undefined ? undefined : BigInt(`0x${digits}`);
}
