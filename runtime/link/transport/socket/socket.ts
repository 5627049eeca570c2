/** The address of the peer of a socket, and the settings of all sockets of a network. */
import type { Socket } from "node:net";

/**
 * The time without traffic, in milliseconds, after which the kernel sends TCP keep-alive probes. The kernel ends the
 * connection after ten probes without an answer, one per second. The kernel of the peer answers probes even if the
 * process is busy or stopped.
 */
const PROBE_AFTER_MS = 5000;

/** Formats the address of a peer: `10.0.0.7:52576`, `[fe80::1]:52576`. */
export function peerAddress({ remoteAddress = "unknown", remotePort = 0 }: Socket): string {
  const address = remoteAddress.replace(/^::ffff:(?=\d+\.)/, "");
  return address.includes(":") ? `[${address}]:${remotePort}` : `${address}:${remotePort}`;
}

/** Disables Nagle's algorithm and enables keep-alive probes. */
export function tuneSocket<S extends Socket>(socket: S): S {
  return socket.setNoDelay(true).setKeepAlive(true, PROBE_AFTER_MS);
}
