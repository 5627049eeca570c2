/** What strangers may cost a process that listens. */
export interface HandshakeLimits {
  /** How long a handshake may take, in ms. */
  readonly handshakeMs: number;
  /** Connections whose handshake is not complete; one more ends the oldest of them, which is the likeliest to be idle. */
  readonly halfOpen: number;
  /** Connections in all; one more is refused. */
  readonly connections: number;
}

export const defaultHandshakeLimits: HandshakeLimits = { handshakeMs: 5000, halfOpen: 64, connections: 4096 };
