/** The transports behind addresses that people write: which one dials, and which one listens. */
import { systemClock } from "../clock.js";
import type { Listener } from "./listener.js";
import { formatNetworkAddress, type NetworkAddress } from "./network-address.js";
import type { Pipe } from "./pipe.js";
import type { TlsLimits } from "./tls/connect.js";
import type { Credentials } from "./tls/credentials.js";
import { connectUnix, listenUnix } from "./unix/connect.js";

export interface ListenOptions {
  /** Needed for `tls://`. */
  readonly credentials?: Credentials;
  readonly tlsLimits?: Partial<TlsLimits>;
  /** Told of peers that TLS has not let in. @param peer their address */
  readonly onRefused?: (error: Error, peer?: string) => void;
}

const defaultTlsLimits: TlsLimits = { clock: systemClock, halfOpen: 64, handshakeMs: 5000 };

/**
 * Dials an address. TCP and TLS are loaded when they are first needed.
 * @param signal gives the attempt up
 * @returns a pipe to whoever listens there; rejects when nobody does, with an error that names the address
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

/**
 * Listens at an address; nobody who connects is trusted yet, but with TLS, where certificates were shown. `accept` is told the
 * address of the peer where it has one.
 */
export async function listenAt(
  address: NetworkAddress,
  accept: (pipe: Pipe, peer?: string) => void,
  { credentials, tlsLimits, onRefused }: ListenOptions = {},
): Promise<Listener> {
  if (address.kind === "unix") {
    const server = await listenUnix(address.path, accept);
    return { address, close: () => void server.close() };
  }
  if (address.kind === "tcp") return (await import("./tcp/connect.js")).listenTcp(address, accept);
  if (credentials === undefined) throw new Error(missingTlsFiles("listen at", address));
  const limits = { ...defaultTlsLimits, ...tlsLimits };
  return (await import("./tls/connect.js")).listenTls(address, credentials, limits, accept, onRefused);
}

function missingTlsFiles(verb: string, address: NetworkAddress): string {
  return `cannot ${verb} ${formatNetworkAddress(address)}: TLS needs a certificate, its key and an authority; give their files`;
}
