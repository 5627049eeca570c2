/**
 * What was sent on a lasting link and may have to be sent again: copies, in pages of its own, as the segments that carry
 * it. The memory of users is free as soon as it has been copied here. Bounds are its owner's concern.
 */
import { SEGMENT_HEADER, SegmentKind, writeSegmentHeader } from "./segment.js";

const PAGE = 64 * 1024;

/** Pages that are kept when nobody needs them. They are never shared between links: nothing leaks from one to another. */
const SPARE = 8;

/** Room for a header and this much is wanted at the end of a page, or the next one is begun. */
const SMALLEST = 256;

/** The array is cut down when so many of its first entries have been confirmed. */
const SPENT = 256;

interface Page {
  readonly bytes: Uint8Array;
  /** Pieces in it that are not confirmed. */
  pieces: number;
}

interface Piece {
  /** Where its data begins and ends in the bytes of the link. */
  readonly from: number;
  readonly to: number;
  /** Header and data. */
  readonly bytes: Uint8Array;
  readonly page: Page;
}

export class ResendBuffer {
  /** All bytes before this one are confirmed. */
  start = 0;
  /** Behind the last byte that was added. */
  end = 0;
  #pieces: (Piece | undefined)[] = [];
  #head = 0;
  #page: Page | undefined;
  #position = 0;
  readonly #spare: Page[] = [];
  /** The next piece to be sent, and where in it to begin. */
  #next = 0;
  #skip = 0;

  /** Bytes of data that it holds. */
  get size(): number {
    return this.end - this.start;
  }

  /** Behind the last byte that `take` has handed out. */
  get sent(): number {
    const piece = this.#pieces[this.#next];
    return piece === undefined ? this.end : piece.from + this.#skip;
  }

  /** Copies the first bytes of `bytes`, at most `limit`. @returns how many */
  add(bytes: Uint8Array, limit: number): number {
    let page = this.#page;
    if (page === undefined || PAGE - this.#position < SEGMENT_HEADER + Math.min(bytes.length, SMALLEST)) {
      page = this.#spare.pop() ?? { bytes: Buffer.allocUnsafeSlow(PAGE), pieces: 0 };
      this.#page = page;
      this.#position = 0;
    }
    const at = this.#position;
    const size = Math.min(bytes.length, limit, PAGE - at - SEGMENT_HEADER);
    const data = at + SEGMENT_HEADER;
    writeSegmentHeader(page.bytes, at, SegmentKind.data, size);
    page.bytes.set(size === bytes.length ? bytes : bytes.subarray(0, size), data);
    this.#position = data + size;
    page.pieces++;
    this.#pieces.push({ from: this.end, to: this.end + size, bytes: page.bytes.subarray(at, data + size), page });
    this.end += size;
    return size;
  }

  /** Puts the next segment that was not sent on this connection behind `chunks`. @returns its bytes; 0: there is none */
  take(chunks: Uint8Array[]): number {
    const piece = this.#pieces[this.#next];
    if (piece === undefined) return 0;
    const skip = this.#skip;
    this.#next++;
    this.#skip = 0;
    if (skip === 0) {
      chunks.push(piece.bytes);
      return piece.bytes.length;
    }
    const header = new Uint8Array(SEGMENT_HEADER);
    const rest = piece.bytes.subarray(SEGMENT_HEADER + skip);
    writeSegmentHeader(header, 0, SegmentKind.data, rest.length);
    chunks.push(header, rest);
    return header.length + rest.length;
  }

  /** The peer has everything before `offset`, which is between `start` and `end`. */
  confirm(offset: number): void {
    this.start = offset;
    for (let piece = this.#pieces[this.#head]; piece !== undefined && piece.to <= offset; ) {
      this.#pieces[this.#head++] = undefined;
      this.#free(piece.page);
      piece = this.#pieces[this.#head];
    }
    if (this.#next < this.#head) {
      this.#next = this.#head;
      this.#skip = 0;
    }
    if (this.#head < SPENT && this.#head < this.#pieces.length) return;
    this.#pieces = this.#pieces.slice(this.#head);
    this.#next -= this.#head;
    this.#head = 0;
  }

  /** Another connection: sending goes on at `offset`, which is between `start` and `end`; what is before is confirmed. */
  rewind(offset: number): void {
    this.#next = this.#head;
    this.#skip = 0;
    this.confirm(offset);
    const piece = this.#pieces[this.#next];
    if (piece !== undefined) this.#skip = offset - piece.from;
  }

  /** Nothing will be sent again. */
  clear(): void {
    this.#pieces = [];
    this.#head = 0;
    this.#next = 0;
    this.#page = undefined;
    this.#spare.length = 0;
    this.start = this.end;
  }

  #free(page: Page): void {
    if (--page.pieces > 0) return;
    if (page === this.#page) this.#position = 0;
    else if (this.#spare.length < SPARE) this.#spare.push(page);
  }
}
