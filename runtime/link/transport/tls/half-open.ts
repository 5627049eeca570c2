/** The connections to a TLS listener that have not presented their certificate yet, and their limits. */
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../clock.js";
import { peerAddress } from "../tcp/connect.js";

export interface TlsLimits {
  readonly clock: Clock;
  /** The number of connections that have not presented their certificate yet. One more closes the oldest of them. */
  readonly halfOpen: number;
  /** The time limit for presenting the certificate, in milliseconds. */
  readonly handshakeMs: number;
}

export class HalfOpenConnections {
  readonly #limits: TlsLimits;
  readonly #sockets = new Map<string, Socket>();

  constructor(limits: TlsLimits) {
    this.#limits = limits;
  }

  add(socket: Socket): void {
    const { clock, halfOpen, handshakeMs } = this.#limits;
    const peer = peerAddress(socket);
    this.#sockets.set(peer, socket);
    // The limit counts from the start of the connection, and not from its last byte.
    const timer = clock.after(handshakeMs, () => {
      if (this.#sockets.delete(peer)) socket.destroy();
    });
    socket.once("close", () => {
      timer.cancel();
      this.#sockets.delete(peer);
    });
    const [oldest] = this.#sockets.values();
    if (oldest !== undefined && this.#sockets.size > halfOpen) {
      // The entry is removed at once. The end of the connection is reported later, and until then the next connections
      // would drop the same entry again.
      this.#sockets.delete(peerAddress(oldest));
      oldest.destroy();
    }
  }

  /** Returns the TCP socket below a TLS socket. */
  find(socket: TLSSocket): Socket | undefined {
    return this.#sockets.get(peerAddress(socket));
  }

  /** @param socket the socket, or a TLS socket over it */
  delete(socket: Socket): void {
    this.#sockets.delete(peerAddress(socket));
  }
}
