/**
 * The URLs by which drivers reach a driver gateway: `wss://host/path`, `ws://host:port/path`. The fragment can say who must
 * answer inside: `wss://host/path#viceroy://job/hosts/mesh/rank`.
 */
import { parseIdentity } from "../tls/identity.js";

export interface WebSocketUrl {
  /** The URL without its fragment. It may contain a password. */
  readonly url: URL;
  /** The URL as messages show it, without what may be secret: user, password, query. */
  readonly name: string;
  /** A host name, an IPv4 address, or an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  /** The URI of the identity that the peer must have in its certificate. Without one, TLS inside checks the name of the host. */
  readonly identity: string | undefined;
}

/** Returns whether a text has the scheme of a WebSocket. */
export function isWebSocketUrl(text: unknown): text is string {
  return typeof text === "string" && /^wss?:\/\//.test(text);
}

/** @throws TypeError if the URL is malformed */
export function parseWebSocketUrl(text: string): WebSocketUrl {
  const [, place = "", identity] = /^([^#]*)(?:#(.*))?$/s.exec(text) ?? [];
  let url: URL;
  try {
    url = new URL(place);
  } catch {
    const shown = place.replace(/\/\/[^/]*@/, "//…@").replace(/\?.*/s, "");
    throw new TypeError(`cannot read the URL "${shown}": expected wss://host/path or ws://host:port/path`);
  }
  if (identity !== undefined) parseIdentity(identity);
  return { url, name: formatWebSocketUrl(url), ...placeOf(url), identity };
}

/** Returns a URL without user, password and query. */
export function formatWebSocketUrl({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}

/** Returns the host and the port that a URL means. */
export function placeOf({ protocol, hostname, port }: URL): { readonly host: string; readonly port: number } {
  const isSecure = protocol === "wss:" || protocol === "https:";
  return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? (isSecure ? 443 : 80) : Number(port) };
}
