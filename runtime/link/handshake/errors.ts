/**
 * The reason why a handshake has failed.
 *
 * - `version`: the two sides speak different versions.
 * - `token`: the two sides do not have the same token.
 * - `unknown`: the host has no such proc, or the proc belongs to another program.
 * - `gone`: the link that was to be resumed has ended.
 * - `offset`: the link cannot be resumed from where it stopped.
 * - `busy`: there are too many connections.
 * - `protocol`: the peer does not follow the handshake.
 * - `lost`: the connection ended, or the time limit passed.
 * - `transport`: one side speaks TLS and the other one does not.
 * - `certificate`: one side does not trust the certificate of the other one.
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

/** The reasons in the order of their numbers on the wire. New reasons are added at the end. */
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

  /** Whether another attempt may succeed. */
  get isTransient(): boolean {
    return this.reason === "busy" || this.reason === "lost";
  }
}
