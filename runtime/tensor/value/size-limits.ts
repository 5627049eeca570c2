/** What can be sent to a mesh at once. */

/**
 * Elements that one tensor brings to a mesh at most, in bytes: messages have a limit, and what waits to be sent has one as well.
 * docs/reference/limits.md
 */
const MAX_SENT_BYTES = 64 << 20;

/** @throws RangeError for a tensor that cannot be sent as one */
export function checkSentSize(bytes: number): void {
  if (bytes > MAX_SENT_BYTES) {
    throw new RangeError(
      `cannot send a tensor of ${bytes} bytes to a mesh: at most ${MAX_SENT_BYTES} can be sent as one; send parts, and join them by torch.cat`,
    );
  }
}

/** Files go to a mesh, and come from it, in parts of so many bytes: others' messages get between them. A multiple of each element's size. */
export const FILE_PART_BYTES = 16 << 20;
