/**
 * Cuts content into chunks at places that the content determines, so that an insertion changes the chunks around it and no
 * others. This is FastCDC with normalised chunking of level 2: Xia et al., "FastCDC: a Fast and Efficient Content-Defined Chunking
 * Approach for Data Deduplication", USENIX ATC 2016.
 */

/** Files of at most this size in bytes are one chunk. Most edits of source files change most of such a file anyway. */
export const WHOLE_BYTES = 256 * 1024;
/** The smallest size of a chunk in bytes, except for the last one of a file. */
export const MIN_CHUNK_BYTES = 16 * 1024;
/** The size in bytes from which on cuts are likely. */
export const NORMAL_CHUNK_BYTES = 64 * 1024;
/** The largest size of a chunk in bytes. */
export const MAX_CHUNK_BYTES = 256 * 1024;

const NORMAL_BITS = Math.log2(NORMAL_CHUNK_BYTES);
/** Cuts are four times as rare before the normal size, and four times as frequent behind it. */
const RARE = highBits(NORMAL_BITS + 2);
const FREQUENT = highBits(NORMAL_BITS - 2);

/** Returns a mask of the highest bits. They depend on the last 32 bytes, the lowest one on the last byte only. */
function highBits(count: number): number {
  return (-1 << (32 - count)) | 0;
}

/** One number for each byte. Other numbers would cut at other places, so they never change. Xorshift32 from the golden ratio. */
const gear = new Uint32Array(256);
let state = 0x9e3779b9;
for (let i = 0; i < gear.length; i++) {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  gear[i] = state;
}

/**
 * Returns the end of the chunk that begins at `start`.
 *
 * @param bytes content; at least {@link MAX_CHUNK_BYTES} from `start` on, or the rest of the file
 * @param start the offset of the chunk
 * @param end the offset at which the content ends
 */
export function chunkEnd(bytes: Uint8Array, start: number, end: number): number {
  if (end - start <= MIN_CHUNK_BYTES) return end;
  const last = Math.min(start + MAX_CHUNK_BYTES, end);
  const normal = Math.min(start + NORMAL_CHUNK_BYTES, last);
  let hash = 0;
  let at = start + MIN_CHUNK_BYTES;
  for (; at < normal; at++) {
    hash = ((hash << 1) + (gear[bytes[at] as number] as number)) | 0;
    if ((hash & RARE) === 0) return at + 1;
  }
  for (; at < last; at++) {
    hash = ((hash << 1) + (gear[bytes[at] as number] as number)) | 0;
    if ((hash & FREQUENT) === 0) return at + 1;
  }
  return last;
}

/** Yields the chunks of content that is completely in memory. */
export function* chunksOf(bytes: Uint8Array): Generator<Uint8Array, void> {
  if (bytes.length <= WHOLE_BYTES) {
    if (bytes.length > 0) yield bytes;
    return;
  }
  for (let start = 0; start < bytes.length; ) {
    const end = chunkEnd(bytes, start, bytes.length);
    yield bytes.subarray(start, end);
    start = end;
  }
}
