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

/** The socket at which a host expects calls of its issuer. */
export type IssuerEntrance =
  /** A Unix socket, to which the issuer connects when a line asks it to. */
  | { readonly path: string; readonly print: (line: string) => void }
  /** An address of the network, which the issuer calls by itself again and again. */
  | { readonly host: string; readonly port: number };

/** Returns the route to an issuer that calls this host. @throws Error if the socket or the address cannot be used */
export async function awaitedIssuer(entrance: IssuerEntrance): Promise<AwaitedIssuer> {
  const waiting = new Set<(pipe: Pipe) => void>();
  const server = createServer((socket) => {
    const [next] = waiting;
    // Callers come and go: one that is not needed now is told so by the end of its connection.
    socket.on("error", () => {});
    if (next === undefined) socket.destroy();
    else next(socketPipe(socket));
  });
  if ("path" in entrance) await listenPrivately(server, entrance.path);
  else await listenAt(server, entrance);
  server.unref();
  return {
    name: "through the job that has started this host",
    connect: () =>
      new Promise<Pipe>((resolve, reject) => {
        const take = (pipe: Pipe) => {
          timer?.cancel();
          waiting.delete(take);
          resolve(pipe);
        };
        const late = () => {
          waiting.delete(take);
          reject(new Error(`it has not called within ${connectLimit} ms`));
        };
        // Nobody can be asked to call over the network. There may be no driver now, and one later.
        const timer = "path" in entrance ? systemClock.after(connectLimit, late) : undefined;
        waiting.add(take);
        if ("path" in entrance) entrance.print(ISSUER_REQUEST);
      }),
    close: () => void server.close(),
  };
}

function listenAt(server: Server, { host, port }: { readonly host: string; readonly port: number }): Promise<void> {
  return new Promise((resolve, reject) => server.once("error", reject).listen({ host, port }, resolve));
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
