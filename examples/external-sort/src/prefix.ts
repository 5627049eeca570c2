/** The first bytes of a line as a number, in place of a comparison of bytes. */

/** The number of bytes: a JavaScript number holds 6 of them exactly. */
export const prefixBytes = 6;

/** Returns the first bytes of a line as a number. A line that is shorter counts as if zeros followed it. */
export function prefixOf(bytes: Uint8Array, start: number, end: number): number {
  let prefix = 0;
  for (let i = start; i < start + prefixBytes; i++) prefix = prefix * 256 + (i < end ? bytes[i]! : 0);
  return prefix;
}
