/**
 * Which bytes of a message are there, of one that is fetched piece by piece. The reader asks before it looks; that all of a
 * message is there is the rule, and costs it nothing.
 */
export interface Presence {
  /**
   * @param at byte of the buffer
   * @throws CapnpError when one of the bytes is not there
   */
  need(at: number, length: number): void;
}

// By buffer, so that whatever opens a message in such memory, at whatever place in it, finds this.
const known = new WeakMap<ArrayBufferLike, Presence>();

export function setPresence(buffer: ArrayBufferLike, presence: Presence): void {
  known.set(buffer, presence);
}

export function presenceOf(buffer: ArrayBufferLike): Presence | undefined {
  return known.get(buffer);
}
