/** The accepted connections that have not shown yet what they are, and their limits. */
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../clock.js";
import { peerAddress } from "./socket.js";

export interface HalfOpenLimits {
  readonly clock: Clock;
  /** The number of connections that have not shown what they are: with TLS, presented their certificate. One more closes the oldest of them. */
  readonly halfOpen: number;
  /** The time limit for that, in milliseconds. */
  readonly handshakeMs: number;
}

export class HalfOpenConnections {
  readonly #limits: HalfOpenLimits;
  readonly #sockets = new Map<string, Socket>();

  constructor(limits: HalfOpenLimits) {
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
