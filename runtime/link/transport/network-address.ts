/**
 * The addresses that users write and that processes of other hosts dial: `tcp://host:port`, `tls://host:port`,
 * `unix:///absolute/path`. The address of a host of a job also says who must answer there:
 * `tls://host:port#viceroy://job/hosts/mesh/rank`. The locations in actor references have another form (address.ts). A host
 * can also listen at `ws://host:port`, which only drivers reach, by the URL of whatever is in front of it.
 */
import { parseIdentity } from "./tls/identity.js";

/** The port of an address that has none. */
export const DEFAULT_PORT = 26_600;

export interface SocketAddress {
  readonly kind: "tcp" | "tls";
  /** A host name, an IPv4 address, or an IPv6 address without brackets. */
  readonly host: string;
  /** The port. When listening, 0 stands for a free port. */
  readonly port: number;
  /** The URI of the identity that the peer must have in its certificate. Without one, TLS checks the name of the host. */
  readonly identity?: string;
  /** Whether any host of the job of this process may answer, because it is not known which one is behind the address. */
  readonly isAnyHost?: true;
}

export interface PathAddress {
  readonly kind: "unix";
  readonly path: string;
}

export type NetworkAddress = SocketAddress | PathAddress;

/** An address at which a host listens for WebSockets. It is never given to other processes. */
export interface WebSocketAddress {
  readonly kind: "ws";
  readonly host: string;
  /** The port; 0 stands for a free one. */
  readonly port: number;
  /** The URI of the identity in the certificate of this process. */
  readonly identity?: string;
}

export type ListenAddress = NetworkAddress | WebSocketAddress;

/**
 * Parses an address.
 * @throws TypeError if the address is invalid
 */
export function parseNetworkAddress(text: string): NetworkAddress {
  const [, scheme, rest = ""] = /^([a-z]+):\/\/(.*)$/.exec(text) ?? [];
  if (scheme === "unix") {
    if (!rest.startsWith("/") || rest === "/")
      refuseAddress(text, "the path must be absolute, as in unix:///run/viceroy.sock");
    return { kind: "unix", path: rest };
  }
  if (scheme !== "tcp" && scheme !== "tls") {
    refuseAddress(text, "expected tcp://host:port, tls://host:port or unix:///path");
  }
  const [, v6, name, digits, identity] =
    /^(?:\[([0-9a-fA-F:.]+)\]|([^:/?#@[\]\s]+))(?::(\d{1,5}))?\/?(?:#(.+))?$/.exec(rest) ?? [];
  const host = v6 ?? name;
  if (host === undefined) refuseAddress(text, `expected ${scheme}://host:port, an IPv6 address in brackets`);
  const port = digits === undefined ? DEFAULT_PORT : Number(digits);
  if (port > 65_535) refuseAddress(text, "the port must be at most 65535");
  if (identity === undefined) return { kind: scheme, host, port };
  if (scheme !== "tls") refuseAddress(text, "only tls:// can check the identity of a peer");
  parseIdentity(identity);
  return { kind: scheme, host, port, identity };
}

/**
 * Parses an address at which a host listens.
 * @throws TypeError if the address is invalid
 */
export function parseListenAddress(text: string): ListenAddress {
  if (text.startsWith("wss://")) {
    refuseAddress(text, "a host listens at ws://host:port, and what is in front of it ends the TLS of wss://");
  }
  if (!text.startsWith("ws://")) return parseNetworkAddress(text);
  // A port that is left out would be 80 in a URL, and another one here.
  if (!/^ws:\/\/[^/?#@]+:\d+\/?$/.test(text)) refuseAddress(text, "expected ws://host:port");
  const address = parseNetworkAddress(text.replace("ws", "tcp")) as SocketAddress;
  return { kind: "ws", host: address.host, port: address.port };
}

export function formatNetworkAddress(address: ListenAddress): string {
  if (address.kind === "unix") return `unix://${address.path}`;
  const { kind, host, port, identity } = address;
  const place = `${kind}://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return identity === undefined ? place : `${place}#${identity}`;
}

/** Returns whether only processes of this machine can reach the address. */
export function isLocalAddress(address: ListenAddress): boolean {
  if (address.kind === "unix") return true;
  const { host } = address;
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

function refuseAddress(text: string, why: string): never {
  throw new TypeError(`cannot read address "${text}": ${why}`);
}
