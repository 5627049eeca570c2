/** The dialling side of data connections (data-connection.ts). */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { formatNetworkAddress, type SocketAddress } from "../network-address.js";
import { tuneSocket } from "./socket.js";

/** The gateway of a data connection, its first bytes, and its end. */
export interface Via {
  /** The driver gateway, to which the connection is made. */
  readonly gateway: SocketAddress;
  /** The bytes with which it begins. */
  readonly opening: Uint8Array;
  /** Ends the connection when it is aborted. */
  readonly lifetime: AbortSignal;
}

/** Destroys a socket when the signal is aborted. */
export function endWith<S extends Socket>(socket: S, lifetime: AbortSignal): S {
  const end = () => socket.destroy(lifetime.reason as Error);
  lifetime.addEventListener("abort", end, { once: true });
  socket.once("close", () => lifetime.removeEventListener("abort", end));
  if (lifetime.aborted) end();
  return socket;
}

/**
 * Connects to the gateway, and sends the opening.
 * @param signal aborts the attempt
 * @returns a promise that rejects if nobody listens there
 */
export async function connectGateway({ gateway, opening, lifetime }: Via, signal: AbortSignal): Promise<Socket> {
  const { host, port } = gateway;
  const socket = endWith(tuneSocket(connect({ host, port })), lifetime);
  try {
    await once(socket, "connect", { signal });
  } catch (cause) {
    socket.on("error", () => {}).destroy();
    throw new Error(`cannot connect to ${formatNetworkAddress(gateway)}: ${(cause as Error).message}`, { cause });
  }
  socket.write(opening);
  return socket;
}
