/**
 * The memory that messages are written into: one array buffer with all views on it that encoding needs. Creating views is
 * expensive, so that pages are recycled together with their views.
 */
import { MAX_RECYCLED_BYTES, STANDARD_PAGE_BYTES } from "./limits.js";

// Layouts are little-endian, and typed arrays are copied from memory as they are. Both layouts load this module, so that the
// check always runs.
if (new Uint8Array(Uint16Array.of(1).buffer)[0] !== 1) {
  throw new Error("cannot load viceroy: it needs a little-endian processor");
}

/** The internal string methods of `Buffer`: one native call each, without options and bounds checks. */
export interface TextBuffer extends Uint8Array {
  latin1Write(text: string, offset: number, length: number): number;
  utf8Write(text: string, offset: number, length: number): number;
  ucs2Write(text: string, offset: number, length: number): number;
  latin1Slice(start: number, end: number): string;
}

export interface Page {
  readonly bytes: TextBuffer;
  readonly view: DataView;
  readonly doubles: Float64Array;
  readonly words: Int32Array;
  /** The same bytes as a Uint8Array, whose `slice` copies; that of a Buffer does not. */
  readonly plain: Uint8Array;
}

/** The page of an empty batch: it has no bytes. */
export const emptyPage: Page = newPage(0);

/** Unused pages of this thread, by their size in bytes. */
const idlePages = new Map<number, Page[]>();
/** Unused pages of the standard size. */
const standardPages: Page[] = [];
idlePages.set(STANDARD_PAGE_BYTES, standardPages);

/** Returns an unused page of `size` bytes. The caller gives it back with `returnPage`. */
export function takePage(size: number): Page {
  const pages = size === STANDARD_PAGE_BYTES ? standardPages : idlePages.get(size);
  return pages?.pop() ?? newPage(size);
}

/** Gives back a page whose content is not needed any more. */
export function returnPage(page: Page): void {
  const size = page.bytes.length;
  let pages = size === STANDARD_PAGE_BYTES ? standardPages : idlePages.get(size);
  if (pages === undefined) {
    pages = [];
    idlePages.set(size, pages);
  }
  if (pages.length * size < MAX_RECYCLED_BYTES) pages.push(page);
}

/** Allocates a page of `size` bytes, a multiple of 8. New and recycled pages are not zeroed: writers write every byte. */
export function newPage(size: number): Page {
  const bytes = Buffer.allocUnsafeSlow(size);
  const memory = bytes.buffer;
  return {
    bytes: bytes as Uint8Array as TextBuffer,
    view: new DataView(memory),
    doubles: new Float64Array(memory),
    words: new Int32Array(memory),
    plain: new Uint8Array(memory),
  };
}
