/** A byte pipe over TCP, for machines that trust their network or links that prove a token (handshake/). */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { Listener } from "../listener.js";
import {
  formatNetworkAddress,
  type ListenAddress,
  type SocketAddress,
  type WebSocketAddress,
} from "../network-address.js";
import type { PausablePipe, Pipe } from "../pipe.js";
import { connectPipe, socketPipe } from "../socket/pipe.js";

/**
 * The time without traffic, in milliseconds, after which the kernel sends TCP keep-alive probes. The kernel ends the
 * connection after ten probes without an answer, one per second. The kernel of the peer answers probes even if the
 * process is busy or stopped.
 */
const PROBE_AFTER_MS = 5000;

/**
 * Connects to an address.
 * @param signal aborts the attempt
 * @returns a promise that rejects if no process listens at the address
 */
export function connectTcp(address: SocketAddress, signal?: AbortSignal): Promise<PausablePipe> {
  const { host, port } = address;
  const make = (onread: Parameters<Parameters<typeof connectPipe>[0]>[0]) =>
    tuneSocket(connect({ host, port, onread }));
  return connectPipe(make, "connect", formatNetworkAddress(address), signal);
}

/**
 * Listens at `address`, or at a free port if the port is 0. Peers are not authenticated.
 * @returns a promise that rejects if the address cannot be used
 */
export function listenTcp(address: SocketAddress, accept: (pipe: Pipe, peer: string) => void): Promise<Listener> {
  const server = createServer((socket) => {
    // The address is unknown after another object has taken over the connection.
    const peer = peerAddress(socket);
    accept(socketPipe(tuneSocket(socket)), peer);
  });
  return startListening(server, address);
}

/**
 * Lets a server listen at an address, or at a free port if the port is 0. It does not keep the process alive.
 * @returns a promise that rejects if the address cannot be used
 */
export function startListening<Address extends SocketAddress | WebSocketAddress>(
  server: Server,
  address: Address,
): Promise<Listener<Address>> {
  const { host, port } = address;
  return new Promise((resolve, reject) => {
    const refused = (error: Error) => reject(listenError(address, error));
    server.once("error", refused);
    server.listen({ host, port }, () => {
      server.off("error", refused);
      // Accepting fails while no file descriptor is free. The waiting connections are accepted later.
      server.on("error", () => {});
      server.unref();
      resolve({
        address: { ...address, port: (server.address() as AddressInfo).port },
        close: () => void server.close(),
      });
    });
  });
}

/** Formats the address of a peer: `10.0.0.7:52576`, `[fe80::1]:52576`. */
export function peerAddress({ remoteAddress = "unknown", remotePort = 0 }: Socket): string {
  const address = remoteAddress.replace(/^::ffff:(?=\d+\.)/, "");
  return address.includes(":") ? `[${address}]:${remotePort}` : `${address}:${remotePort}`;
}

/** Disables Nagle's algorithm and enables keep-alive probes. */
export function tuneSocket<S extends Socket>(socket: S): S {
  return socket.setNoDelay(true).setKeepAlive(true, PROBE_AFTER_MS);
}

export function listenError(address: ListenAddress, cause: Error): Error {
  return new Error(`cannot listen at ${formatNetworkAddress(address)}: ${cause.message}`, { cause });
}
