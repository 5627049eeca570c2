/** Chooses the transport for an address, for dialling and for listening. */
import { systemClock } from "../clock.js";
import type { Listener } from "./listener.js";
import { formatNetworkAddress, type NetworkAddress, type SocketAddress } from "./network-address.js";
import type { PausablePipe, Pipe } from "./pipe.js";
import type { TakePipe } from "./tls/accept-over.js";
import type { Credentials } from "./tls/credentials.js";
import type { TlsLimits } from "./tls/half-open.js";
import type { Identity } from "./tls/identity.js";
import { connectUnix, listenUnix } from "./unix/connect.js";

export interface ListenOptions {
  /** The certificate and its key, required for `tls://`. */
  readonly credentials?: Credentials;
  readonly tlsLimits?: Partial<TlsLimits>;
  /**
   * Called with the reason why TLS has refused a peer.
   * @param peer the address of the peer
   */
  readonly onRefused?: (error: Error, peer?: string) => void;
}

export const defaultTlsLimits: TlsLimits = { clock: systemClock, halfOpen: 64, handshakeMs: 5000 };

/**
 * Dials an address. The modules for TCP and TLS are loaded when they are first needed.
 * @param signal aborts the attempt
 * @returns a promise of the pipe, which rejects with an error that names the address if no process listens there
 */
export async function connectTo(
  address: NetworkAddress,
  credentials: Credentials | undefined,
  signal?: AbortSignal,
): Promise<Pipe> {
  if (address.kind === "unix") return connectUnix(address.path, signal);
  if (address.kind === "tcp") return (await import("./tcp/connect.js")).connectTcp(address, signal);
  if (credentials === undefined) throw new Error(missingTlsFiles("connect to", address));
  return (await import("./tls/connect.js")).connectTls(address, credentials, signal);
}

/** Makes a TCP connection, whatever it is used for. @param signal aborts the attempt */
export async function connectSocket({ host, port }: SocketAddress, signal: AbortSignal): Promise<PausablePipe> {
  return (await import("./tcp/connect.js")).connectTcp({ kind: "tcp", host, port }, signal);
}

/**
 * Does with a connection to an address that exists already what `connectTo` does with a new one: `tls://` is encrypted
 * between this process and the peer, whatever lies between them.
 * @param signal aborts the attempt
 */
export async function secureConnection(
  pipe: PausablePipe,
  address: NetworkAddress,
  credentials: Credentials | undefined,
  signal: AbortSignal,
): Promise<PausablePipe> {
  if (address.kind !== "tls") return pipe;
  if (credentials === undefined) throw new Error(missingTlsFiles("connect to", address));
  return (await import("./tls/connect.js")).connectTls(address, credentials, signal, pipe);
}

/**
 * Gets an accepted pipe.
 * @param peer the address of the peer, if it has one
 * @param identity the identity of the peer in the job of this process, if both have one
 */
export type AcceptPipe = (pipe: Pipe, peer?: string, identity?: Identity) => void;

/** Listens at an address. Peers are not authenticated, except with TLS. */
export async function listenAt(
  address: NetworkAddress,
  accept: AcceptPipe,
  { credentials, tlsLimits, onRefused }: ListenOptions = {},
): Promise<Listener> {
  if (address.kind === "unix") {
    const server = await listenUnix(address.path, accept);
    return { address, close: () => void server.close() };
  }
  if (address.kind === "tcp") return (await import("./tcp/connect.js")).listenTcp(address, accept);
  if (credentials === undefined) throw new Error(missingTlsFiles("listen at", address));
  if (address.identity !== undefined) {
    const text = `cannot listen at ${formatNetworkAddress(address)}: the identity of this process is in its certificate`;
    throw new TypeError(`${text}; leave it out of the address`);
  }
  const limits = { ...defaultTlsLimits, ...tlsLimits };
  return (await import("./tls/connect.js")).listenTls(address, credentials, limits, accept, onRefused);
}

/**
 * Does with accepted connections that exist already, such as WebSockets, what `listenAt` does with those to a `tls://` address.
 * @returns what takes the connections
 */
export async function takeSecurely(
  credentials: Credentials,
  accept: AcceptPipe,
  refused: (error: Error, peer?: string) => void,
): Promise<TakePipe> {
  return (await import("./tls/accept-over.js")).tlsOverPipes(credentials, accept, refused);
}

function missingTlsFiles(verb: string, address: NetworkAddress): string {
  return `cannot ${verb} ${formatNetworkAddress(address)}: TLS needs a certificate, its key and an authority; give their files`;
}
