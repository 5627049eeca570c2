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
import { sortConnection, type TakeDataConnection } from "../socket/data-connection.js";
import { HalfOpenConnections, type HalfOpenLimits } from "../socket/half-open.js";
import { connectPipe, socketPipe } from "../socket/pipe.js";
import { peerAddress, tuneSocket } from "../socket/socket.js";
import { endWith, type Via } from "../socket/via.js";

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
 * Makes a data connection, whose bytes are not encrypted.
 * @param signal aborts the attempt
 * @returns a promise that rejects if no process listens at the gateway
 */
export async function connectTcpVia({ gateway, opening, lifetime }: Via, signal: AbortSignal): Promise<PausablePipe> {
  const { host, port } = gateway;
  const make = (onread: Parameters<Parameters<typeof connectPipe>[0]>[0]) =>
    endWith(tuneSocket(connect({ host, port, onread })), lifetime);
  const pipe = await connectPipe(make, "connect", formatNetworkAddress(gateway), signal);
  pipe.write([opening], () => {});
  return pipe;
}

/** The handler of data connections of a listener, and the limits on connections that have not shown yet whether they are data connections. */
export interface DataConnectionTaker {
  readonly limits: HalfOpenLimits;
  readonly take: TakeDataConnection;
}

/**
 * Listens at `address`, or at a free port if the port is 0. Peers are not authenticated.
 * @param data takes data connections; without it, they are connections like all
 * @returns a promise that rejects if the address cannot be used
 */
export function listenTcp(
  address: SocketAddress,
  accept: (pipe: Pipe, peer: string) => void,
  data?: DataConnectionTaker,
): Promise<Listener> {
  const takeSocket = (socket: Socket, seen?: Uint8Array) => {
    // The address is unknown after another object has taken over the connection.
    const peer = peerAddress(socket);
    accept(socketPipe(tuneSocket(socket), seen), peer);
  };
  return startListening(createServer(data === undefined ? takeSocket : sortedBy(data, takeSocket)), address);
}

/** Returns what takes the data connections out of accepted ones, and passes on the others. */
function sortedBy(
  { limits, take }: DataConnectionTaker,
  other: (socket: Socket, seen: Uint8Array) => void,
): (socket: Socket) => void {
  const halfOpen = new HalfOpenConnections(limits);
  return (socket) => {
    halfOpen.add(socket);
    sortConnection(socket, halfOpen, take, (...sorted) => {
      halfOpen.delete(socket);
      other(...sorted);
    });
  };
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

export function listenError(address: ListenAddress, cause: Error): Error {
  return new Error(`cannot listen at ${formatNetworkAddress(address)}: ${cause.message}`, { cause });
}
