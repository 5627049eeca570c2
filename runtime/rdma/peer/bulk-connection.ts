/** How the bytes of a connection go, and what memory of others it may be given. */
import type { Pipe } from "../../link/transport/pipe.js";

export interface BulkConnection {
  readonly pipe: Pipe;
  /**
   * Whether the pipe touches memory that it was given only until it has said so, or was destroyed, and takes what it is given at once if its
   * peer reads: a socket of this machine. Others are slower, or hold what they have longer than whoever gave it: they get copies.
   */
  readonly isDirect: boolean;
}

/** Whether a pipe may have this memory itself. What several threads share is not for sockets. */
export function canLend({ isDirect }: BulkConnection, bytes: Uint8Array): boolean {
  return isDirect && bytes.buffer instanceof ArrayBuffer;
}
