/**
 * The bytes of a resumable link that may have to be sent again, copied into pages of this buffer. The sender may reuse
 * its own memory after the copy. The owner of the buffer limits its size.
 */
import { SEGMENT_HEADER, SegmentKind, writeSegmentHeader } from "./segment.js";

const PAGE_BYTES = 64 * 1024;

/**
 * The number of spare pages that are kept while bytes are unacknowledged. Links never share pages, so that no bytes
 * leak from one link to another.
 */
const MAX_SPARE_PAGES = 64;

/** A new page is begun unless the current page has room for a header and this number of bytes. */
const MIN_PIECE_BYTES = 256;

/** The number of acknowledged entries at the front of the array after which the array is shortened. */
const COMPACT_AFTER = 256;

interface BufferPage {
  readonly bytes: Uint8Array;
  /** The number of pieces in the page that are not acknowledged. */
  pieces: number;
}

/** Consecutive bytes of the link, behind room for the header of a segment. */
interface BufferedPiece {
  readonly page: BufferPage;
  /** The offset of the bytes in the page. */
  readonly at: number;
  /** The offsets in the link at which the bytes begin and end. */
  readonly from: number;
  to: number;
}

export class ResendBuffer {
  /** The offset in the link before which all bytes are acknowledged. */
  start = 0;
  /** The offset in the link behind the last byte that was added. */
  end = 0;
  #pieces: (BufferedPiece | undefined)[] = [];
  #head = 0;
  #page: BufferPage | undefined;
  #position = 0;
  readonly #sparePages: BufferPage[] = [];
  /** The index of the next piece to be sent, and below the number of its bytes that were sent. */
  #next = 0;
  #skip = 0;

  /** The number of bytes in the buffer. */
  get size(): number {
    return this.end - this.start;
  }

  /** The offset in the link behind the last byte that `takeSegment` has returned for this connection. */
  get sent(): number {
    const piece = this.#pieces[this.#next];
    return piece === undefined ? this.end : piece.from + this.#skip;
  }

  /**
   * Copies the first bytes of `bytes`, at most `limit`. Both are at least 1.
   * @returns the number of copied bytes
   */
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
   * Appends a segment of unsent bytes to `chunks`, of about `limit` bytes at most.
   * @returns the number of bytes of data, or 0 if there are none
   */
  takeSegment(chunks: Uint8Array[], limit: number): number {
    const first = this.#pieces[this.#next];
    if (first === undefined) return 0;
    const start = first.at + this.#skip;
    let size = first.to - first.from - this.#skip;
    // The header is written in front of the data in the page, unless a part of the piece has been sent.
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

  /** The peer has received all bytes before `offset`, which is between `start` and `end`. */
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

  /**
   * Prepares for a new connection: sending continues at `offset`, which is between `start` and `end`. All bytes before
   * it are acknowledged.
   */
  rewind(offset: number): void {
    this.#next = this.#head;
    this.#skip = 0;
    this.confirm(offset);
    const piece = this.#pieces[this.#next];
    if (piece !== undefined) this.#skip = offset - piece.from;
  }

  /** Drops all bytes. */
  clear(): void {
    this.#pieces = [];
    this.#head = 0;
    this.#next = 0;
    this.#page = undefined;
    this.#sparePages.length = 0;
    this.start = this.end;
  }

  /** The last piece, if more bytes can be added to it. */
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
