/**
 * Which bytes of a message are there, of one that is fetched piece by piece. The reader asks before it looks; that all of a
 * message is there is the rule, and costs it nothing.
 */
export interface ByteAvailability {
  /**
   * @param at byte of the buffer
   * @throws CapnpError when one of the bytes is not there
   */
  requireBytes(at: number, length: number): void;
}

// By buffer, so that whatever opens a message in such memory, at whatever place in it, finds this.
const known = new WeakMap<ArrayBufferLike, ByteAvailability>();

export function setAvailability(buffer: ArrayBufferLike, presence: ByteAvailability): void {
  known.set(buffer, presence);
}

export function availabilityOf(buffer: ArrayBufferLike): ByteAvailability | undefined {
  return known.get(buffer);
}
