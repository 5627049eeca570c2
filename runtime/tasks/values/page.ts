/** The memory that values are encoded into. It grows, and the encoded value is copied out of it once. */
import { MAX_BYTES } from "./layout.js";
import { PlainRefusal } from "./plain-refusal.js";

/** Methods of `Buffer` that its type declarations lack: one native call each, without options and bounds checks. */
interface TextBytes extends Uint8Array {
  latin1Write(text: string, offset: number, length: number): number;
  utf8Write(text: string, offset: number, length: number): number;
  ucs2Write(text: string, offset: number, length: number): number;
  latin1Slice(start: number, end: number): string;
}

/** The size of a new page in bytes. */
const INITIAL_BYTES = 16 * 1024;
/** A larger page is not kept for the next value. */
const MAX_KEPT_BYTES = 1024 * 1024;
/** V8 keeps the bytes of arrays up to this size inside of the array, which takes less time than memory of their own. */
const MAX_INNER_BYTES = 64;
/** Larger values have memory of their own. Smaller ones share slabs, since separate memory takes long to allocate. */
const MAX_SHARED_BYTES = 2048;
const SLAB_BYTES = 16 * 1024;
/** From this part of a page on, a large value keeps the page as its memory, because a copy would take longer. */
const MIN_FILLED = 0.75;

/** Grows while a value is written, and then contains it up to `position`. */
export class Page {
  bytes: TextBytes;
  view: DataView;
  position = 0;
  #slab: ArrayBuffer = new ArrayBuffer(0);
  #slabUsed = 0;

  constructor() {
    this.bytes = allocate(INITIAL_BYTES);
    this.view = viewOf(this.bytes);
  }

  /** Reserves `size` bytes, and returns where they start. */
  take(size: number): number {
    const at = this.position;
    const end = at + size;
    if (end > this.bytes.length) this.grow(end);
    this.position = end;
    return at;
  }

  /** Makes room for `size` bytes after the position. */
  ensure(size: number): void {
    const end = this.position + size;
    if (end > this.bytes.length) this.grow(end);
  }

  /** Makes the page at least `size` bytes large. */
  grow(size: number): void {
    if (size > MAX_BYTES)
      throw new PlainRefusal({ path: "", got: `more than ${MAX_BYTES} bytes`, hint: "pass less at once" });
    const larger = allocate(Math.min(MAX_BYTES, Math.max(size + 64, this.bytes.length * 2)));
    larger.set(this.bytes.subarray(0, this.position));
    this.bytes = larger;
    this.view = viewOf(larger);
  }

  /** Returns the encoded value in memory that the caller owns, and empties the page. */
  finish(): Uint8Array {
    const { bytes, position } = this;
    this.position = 0;
    if (position <= MAX_INNER_BYTES) {
      const result = new Uint8Array(position);
      for (let i = 0; i < position; i++) result[i] = bytes[i] as number;
      return result;
    }
    if (position <= MAX_SHARED_BYTES) return this.#share(position);
    const isKept = bytes.length <= MAX_KEPT_BYTES;
    if (!isKept) this.release();
    if (!isKept && position >= bytes.length * MIN_FILLED) return new Uint8Array(bytes.buffer, 0, position);
    return new Uint8Array(bytes.buffer.slice(0, position));
  }

  #share(size: number): Uint8Array {
    if (this.#slabUsed + size > this.#slab.byteLength) {
      this.#slab = new ArrayBuffer(SLAB_BYTES);
      this.#slabUsed = 0;
    }
    const result = new Uint8Array(this.#slab, this.#slabUsed, size);
    result.set(new Uint8Array(this.bytes.buffer, 0, size));
    this.#slabUsed += size;
    return result;
  }

  /** Empties the page. Called after a refused value, too. */
  clear(): void {
    this.position = 0;
    if (this.bytes.length > MAX_KEPT_BYTES) this.release();
  }

  /** Gives up the memory. */
  release(): void {
    this.bytes = allocate(INITIAL_BYTES);
    this.view = viewOf(this.bytes);
  }
}

function allocate(size: number): TextBytes {
  return Buffer.allocUnsafeSlow(size) as Uint8Array as TextBytes;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer);
}
