/**
 * What was sent on a lasting link and may have to be sent again: copies, in pages of its own. The memory of users is free
 * as soon as it has been copied here. Bounds are its owner's concern.
 */
import { SEGMENT_HEADER, SegmentKind, writeSegmentHeader } from "./segment.js";

const PAGE_BYTES = 64 * 1024;

/** Pages that are kept while anything is unconfirmed. They are never shared: nothing leaks from one link to another. */
const MAX_SPARE_PAGES = 64;

/** Room for a header and this much is wanted at the end of a page, or the next one is begun. */
const MIN_PIECE_BYTES = 256;

/** The array is cut down when so many of its first entries have been confirmed. */
const COMPACT_AFTER = 256;

interface BufferPage {
  readonly bytes: Uint8Array;
  /** Pieces in it that are not confirmed. */
  pieces: number;
}

/** Bytes of the link that stand together, behind room for the header of a segment. */
interface BufferedPiece {
  readonly page: BufferPage;
  /** Where its data begins in the page. */
  readonly at: number;
  /** Where its data begins and ends in the bytes of the link. */
  readonly from: number;
  to: number;
}

export class ResendBuffer {
  /** All bytes before this one are confirmed. */
  start = 0;
  /** Behind the last byte that was added. */
  end = 0;
  #pieces: (BufferedPiece | undefined)[] = [];
  #head = 0;
  #page: BufferPage | undefined;
  #position = 0;
  readonly #sparePages: BufferPage[] = [];
  /** The next piece to be sent, and where in it to begin. */
  #next = 0;
  #skip = 0;

  /** Bytes that it holds. */
  get size(): number {
    return this.end - this.start;
  }

  /** Behind the last byte that `take` has handed out on this connection. */
  get sent(): number {
    const piece = this.#pieces[this.#next];
    return piece === undefined ? this.end : piece.from + this.#skip;
  }

  /** Copies the first bytes of `bytes`, at most `limit`; both are at least 1. @returns how many */
  add(bytes: Uint8Array, limit: number): number {
    const piece = this.#openPiece() ?? this.#newPiece(bytes.length);
    const { page } = piece;
    const size = Math.min(bytes.length, limit, PAGE_BYTES - this.#position);
    page.bytes.set(size === bytes.length ? bytes : bytes.subarray(0, size), this.#position);
    this.#position += size;
    this.end += size;
    piece.to = this.end;
    return size;
  }

  /**
   * Puts a segment with what was not sent on this connection behind `chunks`, of about `limit` bytes at most.
   * @returns its bytes of data; 0: there is nothing
   */
  takeSegment(chunks: Uint8Array[], limit: number): number {
    const first = this.#pieces[this.#next];
    if (first === undefined) return 0;
    const start = first.at + this.#skip;
    let size = first.to - first.from - this.#skip;
    // In front of its data, unless a part of that has been sent: then there is no room for it.
    const header = this.#skip === 0 ? first.page.bytes : new Uint8Array(SEGMENT_HEADER);
    const at = this.#skip === 0 ? start - SEGMENT_HEADER : 0;
    if (this.#skip === 0) chunks.push(header.subarray(at, start + size));
    else chunks.push(header, first.page.bytes.subarray(start, start + size));
    this.#skip = 0;
    for (let piece = this.#pieces[++this.#next]; piece !== undefined && size < limit; ) {
      const length = piece.to - piece.from;
      chunks.push(piece.page.bytes.subarray(piece.at, piece.at + length));
      size += length;
      piece = this.#pieces[++this.#next];
    }
    writeSegmentHeader(header, at, SegmentKind.data, size);
    return size;
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
    if (this.#head === this.#pieces.length) this.#sparePages.length = 0;
    else if (this.#head < COMPACT_AFTER) return;
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
    this.#sparePages.length = 0;
    this.start = this.end;
  }

  /** The last piece, if more can be added to it. */
  #openPiece(): BufferedPiece | undefined {
    const last = this.#pieces.length - 1;
    return last >= this.#next && this.#position < PAGE_BYTES ? this.#pieces[last] : undefined;
  }

  #newPiece(wanted: number): BufferedPiece {
    let page = this.#page;
    if (page === undefined || PAGE_BYTES - this.#position < SEGMENT_HEADER + Math.min(wanted, MIN_PIECE_BYTES)) {
      page = this.#sparePages.pop() ?? { bytes: Buffer.allocUnsafeSlow(PAGE_BYTES), pieces: 0 };
      this.#page = page;
      this.#position = 0;
    }
    this.#position += SEGMENT_HEADER;
    page.pieces++;
    const piece = { page, at: this.#position, from: this.end, to: this.end };
    this.#pieces.push(piece);
    return piece;
  }

  #free(page: BufferPage): void {
    if (--page.pieces > 0) return;
    if (page === this.#page) this.#position = 0;
    else if (this.#sparePages.length < MAX_SPARE_PAGES) this.#sparePages.push(page);
  }
}
