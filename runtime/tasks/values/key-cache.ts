/**
 * The names of properties that have been read, so that reading a name again takes no new string. Objects of programs have few
 * names, and V8 finds properties fastest by strings that it knows already.
 */
const SLOTS = 1024;
const names: (string | undefined)[] = new Array<undefined>(SLOTS).fill(undefined);

interface Latin1Slice {
  latin1Slice(this: Uint8Array, start: number, end: number): string;
}
const { latin1Slice } = Buffer.prototype as unknown as Latin1Slice;

/** Returns the short Latin-1 text in `bytes[from, to)`. */
export function readName(bytes: Uint8Array, from: number, to: number): string {
  let hash = to - from;
  for (let i = from; i < to; i++) hash = (Math.imul(hash, 31) + (bytes[i] as number)) | 0;
  const slot = (hash ^ (hash >>> 10)) & (SLOTS - 1);
  const known = names[slot];
  if (known !== undefined && isEqual(known, bytes, from, to)) return known;
  const name = latin1Slice.call(bytes, from, to);
  names[slot] = name;
  return name;
}

function isEqual(text: string, bytes: Uint8Array, from: number, to: number): boolean {
  if (text.length !== to - from) return false;
  for (let i = from; i < to; i++) if (text.charCodeAt(i - from) !== bytes[i]) return false;
  return true;
}
