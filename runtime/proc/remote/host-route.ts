/** The ways by which a process reaches hosts whose addresses it does not dial itself. */
import type { NetworkAddress } from "../../link/transport/network-address.js";
import type { PausablePipe, Pipe } from "../../link/transport/pipe.js";
import type { Credentials } from "../../link/transport/tls/credentials.js";
import type { Platform } from "../platform/platform.js";

/** A way to hosts. */
export interface HostRoute {
  /** The time for which links over this way go on without a connection, in milliseconds; absent: the usual one. */
  readonly absence?: number;
  /** Connects to an address of a host, as `connect` of a platform does. */
  connect(address: NetworkAddress, credentials: Credentials | undefined, signal: AbortSignal): Promise<Pipe>;
}

/**
 * Makes a connection that ends at the listener of one host, whatever lies between: a WebSocket, a forwarded port.
 * Rejects with an error that names the way if it cannot. `signal` aborts the attempt.
 */
export type DialHost = (signal: AbortSignal) => Promise<PausablePipe>;

/** Returns the way to the one host that `dial` reaches. The peer must prove there that it is the host of the address. */
export function routeByDialling(platform: Platform, dial: DialHost, absence: number): HostRoute {
  return {
    absence,
    connect: async (address, credentials, signal) => platform.secure(await dial(signal), address, credentials, signal),
  };
}
