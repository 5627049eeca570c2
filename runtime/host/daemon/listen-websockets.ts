/** Listens at `ws://` addresses: what is inside of a WebSocket is treated like a connection to `tls://` or `tcp://`. */
import {
  type AcceptPipe,
  defaultHalfOpenLimits,
  type ListenOptions,
  takeSecurely,
} from "../../link/transport/connect.js";
import type { Listener } from "../../link/transport/listener.js";
import type { WebSocketAddress } from "../../link/transport/network-address.js";
import { loadWebSockets } from "../websockets.js";

/** With credentials, TLS is inside of each WebSocket. */
export async function listenWebSockets(
  address: WebSocketAddress,
  accept: AcceptPipe,
  { credentials, onRefused = () => {} }: ListenOptions,
): Promise<Listener<WebSocketAddress>> {
  const { listenWebSocket } = await loadWebSockets();
  const take = credentials && (await takeSecurely(credentials, accept, onRefused));
  return listenWebSocket({
    address,
    limits: defaultHalfOpenLimits,
    refused: onRefused,
    accept(pipe, peer, admitted) {
      if (take !== undefined) {
        take(pipe, peer, admitted);
        return;
      }
      // From here on, the limits of the handshake count.
      admitted();
      accept(pipe, peer);
    },
  });
}
