/** The driver gateway of which only a URL is reachable. What the driver would send over TCP is inside of a WebSocket. */
import { parseWebSocketUrl } from "../../link/transport/websocket/url.js";
import { loadWebSockets } from "../websockets.js";
import type { HostAddress, TargetRules } from "./host-targets.js";

/**
 * Returns how a driver reaches the host behind a URL. With a certificate, TLS inside of the WebSocket proves each side to the
 * other, whatever the proxies on the way do. The host of a URL without an identity can be any host of the job, because a load
 * balancer may choose it.
 *
 * @throws {TypeError} when the URL is malformed, or has an identity and the program has no certificate to check it
 */
export function webSocketTarget(text: string, { failed, hasCertificate }: TargetRules): HostAddress {
  const { url, name, host, port, identity } = parseWebSocketUrl(text);
  if (identity !== undefined && !hasCertificate) {
    const advice = "a certificate, its key and an authority; give their files as tls";
    throw new TypeError(`${failed}: ${name}#${identity} says who must answer, and to check that needs ${advice}`);
  }
  const address = hasCertificate
    ? ({ kind: "tls", host, port, ...(identity === undefined ? { isAnyHost: true as const } : { identity }) } as const)
    : ({ kind: "tcp", host, port } as const);
  return { address, name, dial: async (signal) => (await loadWebSockets()).dialWebSocket(url, {}, signal) };
}
