/**
 * The availability of the bytes of a message that is fetched in pieces. Readers check it before they access bytes. Messages
 * that are completely in memory have no availability and need no check.
 */
export interface ByteAvailability {
  /**
   * @param at byte of the buffer
   * @throws CapnpError when one of the bytes is not there
   */
  requireBytes(at: number, length: number): void;
}

// Availability by buffer, so that a message that is opened at any offset of the buffer finds it.
const known = new WeakMap<ArrayBufferLike, ByteAvailability>();

export function setAvailability(buffer: ArrayBufferLike, presence: ByteAvailability): void {
  known.set(buffer, presence);
}

export function availabilityOf(buffer: ArrayBufferLike): ByteAvailability | undefined {
  return known.get(buffer);
}
