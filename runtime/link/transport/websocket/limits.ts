/** The limits of WebSockets, which are the same for the side that dials and the side that listens. */

/** Maximum number of bytes of a message. A message is collected before its bytes are passed on, so this bounds the memory of a connection. */
const MAX_MESSAGE_BYTES = 1024 * 1024;

/** The number of bytes of a message that this process sends, at most. The peer gets no byte of a message before it has all of them. */
export const MESSAGE_BYTES = 32 * 1024;

/** The interval between two pings, in milliseconds. Usual proxies cut connections that are idle for 30 to 60 s. */
const PING_MS = 10_000;

/** The number of pings that a peer may leave unanswered: with the next one, it has been silent for 30 s. */
const UNANSWERED_PINGS = 3;

/** The time for the peer to confirm the end of a connection, in milliseconds. Everything has been sent by then. */
const CLOSE_MS = 2000;

/** Maximum number of bytes of the headers of a request or an answer. */
export const MAX_HEADER_BYTES = 16 * 1024;

/** The limits for a peer that does not answer pings. */
export interface PingLimits {
  /** In milliseconds. */
  readonly interval: number;
  readonly unanswered: number;
}

export const pingLimits: PingLimits = { interval: PING_MS, unanswered: UNANSWERED_PINGS };

/** The options of the library that both sides use. Without compression, no message is longer than its bytes on the wire. */
export const socketOptions = {
  perMessageDeflate: false,
  maxPayload: MAX_MESSAGE_BYTES,
  maxFragments: 1024,
  maxBufferedChunks: 4096,
  maxPendingAutoPongs: 16,
  closeTimeout: CLOSE_MS,
} as const;
