/** Chooses the transport for an address, for dialling and for listening. */
import { systemClock } from "../clock.js";
import type { Listener } from "./listener.js";
import { formatNetworkAddress, type NetworkAddress, type SocketAddress } from "./network-address.js";
import type { PausablePipe, Pipe } from "./pipe.js";
import type { TakeDataConnection } from "./socket/data-connection.js";
import type { HalfOpenLimits } from "./socket/half-open.js";
import type { Via } from "./socket/via.js";
import type { TakePipe } from "./tls/accept-over.js";
import type { Credentials } from "./tls/credentials.js";
import type { PeerIdentity } from "./tls/identity.js";
import { connectUnix, listenUnix } from "./unix/connect.js";

export interface ListenOptions {
  /** The certificate and its key, required for `tls://`. */
  readonly credentials?: Credentials;
  readonly halfOpenLimits?: Partial<HalfOpenLimits>;
  /**
   * Called with the reason why TLS has refused a peer.
   * @param peer the address of the peer
   */
  readonly onRefused?: (error: Error, peer?: string) => void;
  /** Takes data connections to `tcp://` and `tls://` addresses. Without it, they are refused. */
  readonly takeData?: TakeDataConnection;
}

export const defaultHalfOpenLimits: HalfOpenLimits = { clock: systemClock, halfOpen: 64, handshakeMs: 5000 };

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
 * Checks that a host of the job of this process listens at an address: it proves its certificate over a connection of its own.
 * @param signal aborts the attempt
 */
export async function checkIsHost(
  address: SocketAddress,
  credentials: Credentials,
  signal: AbortSignal,
): Promise<void> {
  await (await import("./tls/connect.js")).checkIsHost(address, credentials, signal);
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
 * Makes a data connection, and does with it what `connectTo` does with one to the address.
 * @param signal aborts the attempt
 * @returns a promise that rejects if no process listens at the gateway, or as that of `connectTo` does
 */
export async function connectVia(
  via: Via,
  address: SocketAddress,
  credentials: Credentials | undefined,
  signal: AbortSignal,
): Promise<PausablePipe> {
  if (address.kind === "tcp") return (await import("./tcp/connect.js")).connectTcpVia(via, signal);
  if (credentials === undefined) throw new Error(missingTlsFiles("connect to", address));
  const [{ connectGateway }, { connectTls }] = await Promise.all([
    import("./socket/via.js"),
    import("./tls/connect.js"),
  ]);
  return connectTls(address, credentials, signal, await connectGateway(via, signal));
}

/**
 * Gets an accepted pipe.
 * @param peer the address of the peer, if it has one
 * @param identity the identity of the peer in the job of this process, if both have one
 */
export type AcceptPipe = (pipe: Pipe, peer?: string, identity?: PeerIdentity) => void;

/** Listens at an address. Peers are not authenticated, except with TLS. */
export async function listenAt(
  address: NetworkAddress,
  accept: AcceptPipe,
  { credentials, halfOpenLimits, onRefused, takeData }: ListenOptions = {},
): Promise<Listener> {
  if (address.kind === "unix") {
    const server = await listenUnix(address.path, accept);
    return { address, close: () => void server.close() };
  }
  const limits = { ...defaultHalfOpenLimits, ...halfOpenLimits };
  if (address.kind === "tcp") {
    const data = takeData && { limits, take: takeData };
    return (await import("./tcp/connect.js")).listenTcp(address, accept, data);
  }
  if (credentials === undefined) throw new Error(missingTlsFiles("listen at", address));
  if (address.identity !== undefined) {
    const text = `cannot listen at ${formatNetworkAddress(address)}: the identity of this process is in its certificate`;
    throw new TypeError(`${text}; leave it out of the address`);
  }
  return (await import("./tls/connect.js")).listenTls(address, credentials, limits, accept, onRefused, takeData);
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
