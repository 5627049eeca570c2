/**
 * Memory to write messages into: one array buffer with every view on it that encoding needs. Views are costly to make
 * and cheap to keep, so pages are recycled whole.
 */
import { recycledPages, standardPageBytes } from "./limits.js";

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
  /** The same bytes, not as a Buffer: what `slice` of it makes is a Uint8Array with memory of its own. */
  readonly plain: Uint8Array;
}

/** What a batch has that nothing was written into: no room at all. */
export const noPage: Page = newPage(0);

/** Standard pages of all batches of this thread that nobody uses. */
const idle: Page[] = [];

/** A page of the standard size. */
export function standardPage(): Page {
  return idle.pop() ?? newPage(standardPageBytes);
}

/** What is in a standard page is not needed any more. */
export function recyclePage(page: Page): void {
  if (idle.length < recycledPages) idle.push(page);
}

/** `size` bytes, a multiple of 8. Not zeroed, neither when new nor when recycled: whoever writes must write every byte. */
export function newPage(size: number): Page {
  const bytes = Buffer.allocUnsafeSlow(size);
  const memory = bytes.buffer;
  return {
    bytes: bytes as Uint8Array as TextBuffer,
    view: new DataView(memory),
    doubles: new Float64Array(memory),
    plain: new Uint8Array(memory),
  };
}
