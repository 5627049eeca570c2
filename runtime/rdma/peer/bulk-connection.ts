/** A connection that carries memory bytes, and whether its pipe may access registered memory directly. */
import type { Pipe } from "../../link/transport/pipe.js";

export interface BulkConnection {
  readonly pipe: Pipe;
  /**
   * Whether the pipe stops accessing memory that it was given as soon as it reports completion or is destroyed, and
   * takes data at once if the peer reads. A Unix socket does. Other pipes are slower or keep the memory for longer, so
   * they get copies.
   */
  readonly isDirect: boolean;
}

/** Returns whether a pipe may access this memory directly. Sockets cannot use a SharedArrayBuffer. */
export function canLend({ isDirect }: BulkConnection, bytes: Uint8Array): boolean {
  return isDirect && bytes.buffer instanceof ArrayBuffer;
}
