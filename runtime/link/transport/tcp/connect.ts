/** A byte pipe over TCP: between machines that trust their network, or whose links prove a token (handshake/). */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Listener } from "../listener.js";
import { formatNetworkAddress, type SocketAddress } from "../network-address.js";
import type { Pipe } from "../pipe.js";
import { connectPipe, socketPipe } from "../socket/pipe.js";

/**
 * In ms: after so long without traffic the kernel asks the peer's kernel whether the connection is still there, and
 * gives it up after ten questions, one a second. A process that is busy or stopped does not matter to it.
 */
const PROBE_AFTER_MS = 5000;

/**
 * @param signal gives the attempt up
 * @returns rejects when nobody listens there
 */
export function connectTcp(address: SocketAddress, signal?: AbortSignal): Promise<Pipe> {
  const { host, port } = address;
  const make = (onread: Parameters<Parameters<typeof connectPipe>[0]>[0]) =>
    tuneSocket(connect({ host, port, onread }));
  return connectPipe(make, "connect", formatNetworkAddress(address), signal);
}

/**
 * Listens at `address`; port 0: at one that is free. Whoever connects is not to be trusted yet.
 * @returns rejects when the address cannot be listened at
 */
export function listenTcp(address: SocketAddress, accept: (pipe: Pipe, peer: string) => void): Promise<Listener> {
  const { host, port } = address;
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      // Known as long as nobody has taken the connection over.
      const peer = peerAddress(socket);
      accept(socketPipe(tuneSocket(socket)), peer);
    });
    const refused = (error: Error) => reject(listenError(address, error));
    server.once("error", refused);
    server.listen({ host, port }, () => {
      server.off("error", refused);
      // Accepting can fail when file descriptors run out: those who wait are taken when there are some again.
      server.on("error", () => {});
      server.unref();
      resolve({
        address: { ...address, port: (server.address() as AddressInfo).port },
        close: () => void server.close(),
      });
    });
  });
}

/** The address of a peer, as people read it: `10.0.0.7:52576`, `[fe80::1]:52576`. */
export function peerAddress({ remoteAddress = "unknown", remotePort = 0 }: Socket): string {
  const address = remoteAddress.replace(/^::ffff:(?=\d+\.)/, "");
  return address.includes(":") ? `[${address}]:${remotePort}` : `${address}:${remotePort}`;
}

/** What a batch holds goes at once, and a peer whose machine is gone is found out. */
export function tuneSocket<S extends Socket>(socket: S): S {
  return socket.setNoDelay(true).setKeepAlive(true, PROBE_AFTER_MS);
}

export function listenError(address: SocketAddress, cause: Error): Error {
  return new Error(`cannot listen at ${formatNetworkAddress(address)}: ${cause.message}`, { cause });
}
