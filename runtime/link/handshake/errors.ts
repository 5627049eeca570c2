/**
 * Why a handshake did not lead to a link. `version`: the two sides speak different ones. `token`: they do not have the
 * same. `unknown`: no such proc there, or of another tree. `gone`: the link that was to be resumed has ended. `offset`:
 * it cannot be resumed from where it stopped. `busy`: there are too many connections. `protocol`: the peer does not keep
 * to the handshake. `lost`: the connection ended, or nothing came in time. `transport`: one side speaks TLS and the other one
 * does not. `certificate`: one side does not trust the certificate of the other one.
 */
export type HandshakeReason =
  | "version"
  | "token"
  | "unknown"
  | "gone"
  | "offset"
  | "busy"
  | "protocol"
  | "lost"
  | "transport"
  | "certificate";

/** The order is that of their numbers in answers: what is new goes to the end. */
export const handshakeReasons: readonly HandshakeReason[] = [
  "version",
  "token",
  "unknown",
  "gone",
  "offset",
  "busy",
  "protocol",
  "lost",
  "transport",
  "certificate",
];

export class HandshakeError extends Error {
  override readonly name = "HandshakeError";
  readonly reason: HandshakeReason;

  constructor(reason: HandshakeReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }

  /** Whether another attempt may end otherwise. */
  get isTransient(): boolean {
    return this.reason === "busy" || this.reason === "lost";
  }
}
