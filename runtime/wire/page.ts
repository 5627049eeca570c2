/**
 * Memory to write messages into: one array buffer with every view on it that encoding needs. Views are costly to make
 * and cheap to keep, so pages are recycled whole.
 */
import { MAX_RECYCLED_BYTES, STANDARD_PAGE_BYTES } from "./limits.js";

// Layouts are little-endian, and typed arrays are copied as they are in memory. The check is in this module since both layouts
// need its pages: of a module that has types alone nothing would be loaded.
if (new Uint8Array(Uint16Array.of(1).buffer)[0] !== 1) {
  throw new Error("cannot load viceroy: it needs a little-endian processor");
}

/** `Buffer`'s own string methods: a native call each, no options, no bounds arithmetic (Node has them since 0.x). */
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
  /** The same bytes, not as a Buffer: what `slice` of it makes is a Uint8Array with memory of its own. */
  readonly plain: Uint8Array;
}

/** What a batch has that nothing was written into: no room at all. */
export const emptyPage: Page = newPage(0);

/** Pages of all batches of this thread that nobody uses, by their size. */
const idlePages = new Map<number, Page[]>();
/** Those of the standard size. */
const standardPages: Page[] = [];
idlePages.set(STANDARD_PAGE_BYTES, standardPages);

/** A page that is handed back by `recyclePage`, of `size` bytes. */
export function takePage(size: number): Page {
  const pages = size === STANDARD_PAGE_BYTES ? standardPages : idlePages.get(size);
  return pages?.pop() ?? newPage(size);
}

/** What is in a page is not needed any more. */
export function returnPage(page: Page): void {
  const size = page.bytes.length;
  let pages = size === STANDARD_PAGE_BYTES ? standardPages : idlePages.get(size);
  if (pages === undefined) {
    pages = [];
    idlePages.set(size, pages);
  }
  if (pages.length * size < MAX_RECYCLED_BYTES) pages.push(page);
}

/** `size` bytes, a multiple of 8. Not zeroed, neither when new nor when recycled: whoever writes must write every byte. */
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
