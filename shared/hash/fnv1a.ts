/** The hash FNV-1a, which is short and fast, and spreads short texts well. It is no protection against forged texts. */

/** The hash of nothing, in 32 bits. */
export const FNV1A_START = 0x811c_9dc5;

/** Returns a 32-bit hash that continues `hash` by one byte. A larger integer of up to 32 bits is mixed in one step. */
export function fnv1a(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x0100_0193);
}

/** Returns the 64-bit hash of the UTF-16 units of a text, as 16 hex digits. */
export function fnv1aText(text: string): string {
  let low = 0x84222325;
  let high = 0xcbf29ce4;
  for (let i = 0; i < text.length; i++) {
    low ^= text.charCodeAt(i);
    const product = (low >>> 0) * 0x1b3;
    high = (Math.imul(high, 0x1b3) + Math.floor(product / 2 ** 32) + (low << 8)) | 0;
    low = product | 0;
  }
  return [high, low].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}
