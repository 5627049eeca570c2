/**
 * How a host gets a connection to the issuer of its certificates: it connects to an address, or is called by an issuer that
 * it cannot reach itself, such as that of a job over `ssh`.
 */
import { createServer, type Server } from "node:net";
import { systemClock } from "../../link/clock.js";
import { formatNetworkAddress, parseNetworkAddress } from "../../link/transport/network-address.js";
import type { Pipe } from "../../link/transport/pipe.js";
import { socketPipe } from "../../link/transport/socket/pipe.js";
import { connectTcp } from "../../link/transport/tcp/connect.js";
import { ISSUER_REQUEST } from "./issuer-request.js";

export interface IssuerRoute {
  /** Where the issuer is, in errors: `at tcp://n1:20001`. */
  readonly name: string;
  /** Returns a new connection to the issuer. Rejects if there is none now. */
  connect(): Promise<Pipe>;
}

/** The time in milliseconds for the network, or for a call of the issuer. */
const connectLimit = 5000;

/**
 * Returns the route to an issuer that listens at an address.
 * @throws TypeError if the address is malformed, or is not a `tcp://` one: a host has no certificate yet
 */
export function dialledIssuer(text: string): IssuerRoute {
  const address = parseNetworkAddress(text);
  if (address.kind !== "tcp") throw new TypeError(`cannot reach an issuer at ${text}: expected tcp://host:port`);
  return {
    name: `at ${formatNetworkAddress(address)}`,
    connect: () => connectTcp(address, AbortSignal.timeout(connectLimit)),
  };
}

/** The route to an issuer that calls, and its end. */
export interface AwaitedIssuer extends IssuerRoute {
  close(): void;
}

/**
 * Returns the route to an issuer that connects to a Unix socket of this host when a line asks it to.
 * @param print prints the line where the issuer reads it
 */
export async function awaitedIssuer(path: string, print: (line: string) => void): Promise<AwaitedIssuer> {
  const waiting = new Set<(pipe: Pipe) => void>();
  const server = createServer((socket) => {
    const [next] = waiting;
    if (next === undefined) socket.destroy();
    else next(socketPipe(socket));
  });
  await listenPrivately(server, path);
  server.unref();
  return {
    name: "through the job that has started this host",
    connect: () =>
      new Promise<Pipe>((resolve, reject) => {
        const take = (pipe: Pipe) => {
          timer.cancel();
          waiting.delete(take);
          resolve(pipe);
        };
        const timer = systemClock.after(connectLimit, () => {
          waiting.delete(take);
          reject(new Error(`it has not called within ${connectLimit} ms`));
        });
        waiting.add(take);
        print(ISSUER_REQUEST);
      }),
    close: () => void server.close(),
  };
}

/** Listens at a socket to which only this user can connect. */
async function listenPrivately(server: Server, path: string): Promise<void> {
  const mask = process.umask(0o177);
  try {
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve));
  } finally {
    process.umask(mask);
  }
}
