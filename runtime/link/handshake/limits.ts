/** The limits on unauthenticated peers of a process that listens. */
export interface HandshakeLimits {
  /** The time limit of a handshake, in milliseconds. */
  readonly handshakeMs: number;
  /** The number of connections in their handshake. One more closes the oldest of them, which is the likeliest to be idle. */
  readonly halfOpen: number;
  /** The number of all connections. One more is refused. */
  readonly connections: number;
}

export const defaultHandshakeLimits: HandshakeLimits = { handshakeMs: 5000, halfOpen: 64, connections: 4096 };
