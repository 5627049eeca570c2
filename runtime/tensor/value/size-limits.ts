/** Limits of sizes that are sent to a mesh. */

/**
 * The largest size in bytes of a tensor that is sent to a mesh. Messages and the send window of a session have limits.
 * docs/reference/limits.md
 */
const MAX_SENT_BYTES = 64 << 20;

/** Checks the size of a tensor that is sent to a mesh. @throws {RangeError} when it is too large */
export function checkSentSize(bytes: number): void {
  if (bytes > MAX_SENT_BYTES) {
    throw new RangeError(
      `cannot send a tensor of ${bytes} bytes to a mesh: at most ${MAX_SENT_BYTES} can be sent as one; send parts, and join them by torch.cat`,
    );
  }
}

/**
 * The number of bytes of a part in which files are sent to a mesh and received from it, so that other messages can be sent in
 * between. A multiple of every element size.
 */
export const FILE_PART_BYTES = 16 << 20;
