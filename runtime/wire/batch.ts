/**
 * A growing batch of bytes. A link has one for each connection, appends frames to it and sends the whole batch once per tick.
 * Hot code reads public fields instead of calling methods.
 */

import { CodecRefusal } from "./codec-refusal.js";
import {
  MAX_KEPT_PAGE_BYTES,
  MAX_LENT_PAGES,
  MAX_MESSAGE_BYTES,
  MIN_DETACHED_BYTES,
  STANDARD_PAGE_BYTES,
} from "./limits.js";
import { emptyPage, newPage, type Page, returnPage, type TextBuffer, takePage } from "./page.js";

/** Up to this number, bytes are copied one by one, since a native call takes longer. */
const MAX_LOOPED_BYTES = 32;

export class Batch {
  /**
   * The memory of the batch, whose content is `bytes[0, position)`. Growing replaces it: load it again after every
   * reservation.
   */
  bytes: TextBuffer = emptyPage.bytes;
  /** A view of the memory as numbers of all sizes. */
  view: DataView = emptyPage.view;
  /** The memory as doubles. */
  doubles: Float64Array = emptyPage.doubles;
  /** The memory as integers of 32 bits. */
  words: Int32Array = emptyPage.words;
  /** The number of bytes of the memory. */
  capacity = 0;
  /** The number of bytes that have been written. */
  position = 0;

  #page: Page = emptyPage;
  #firstPageBytes: number;
  readonly #lentPages: Page[] = [];

  /**
   * Makes an empty batch, which allocates memory with the first write.
   *
   * @param size number of bytes of the first allocation; a larger batch grows beyond it
   */
  constructor(size: number = STANDARD_PAGE_BYTES) {
    this.#firstPageBytes = (size + 7) & ~7;
  }

  /** Reserves `size` bytes and returns their byte offset. The caller writes every one of them. */
  reserve(size: number): number {
    const at = this.position;
    const end = at + size;
    if (end > this.capacity) this.grow(end);
    this.position = end;
    return at;
  }

  /** Fills with zeros up to the next multiple of 8 bytes. */
  align(): void {
    const at = this.position;
    const end = (at + 7) & ~7;
    for (let i = at; i < end; i++) this.bytes[i] = 0;
    this.position = end;
  }

  /** Returns a copy of `[start, position)` with memory of its own, followed by `room` zero bytes. */
  copy(start: number, room = 0): Uint8Array {
    const size = this.position - start;
    if (room === 0 && size > MAX_LOOPED_BYTES) return this.#page.plain.slice(start, this.position);
    const copy = new Uint8Array(size + room);
    if (size <= MAX_LOOPED_BYTES) {
      const bytes = this.bytes;
      for (let i = 0; i < size; i++) copy[i] = bytes[start + i] as number;
      return copy;
    }
    copy.set(this.#page.plain.subarray(start, this.position));
    return copy;
  }

  /**
   * Returns the content with memory of its own, and empties the batch. A large batch gives its memory away, and a smaller
   * one is copied.
   */
  detach(): Uint8Array {
    const { position } = this;
    const page = this.#page;
    const isFull = position >= MIN_DETACHED_BYTES && position * 2 > page.plain.length;
    const content = isFull ? page.plain.subarray(0, position) : this.copy(0);
    if (isFull) this.#usePage(emptyPage);
    this.clear();
    return content;
  }

  /** Returns the batch and empties it. The next write allocates another page. */
  take(): Uint8Array {
    const page = this.#page;
    const batch = page.bytes.subarray(0, this.position);
    if (this.#hasRecycledPage) {
      this.#lentPages.push(page);
      if (this.#lentPages.length > MAX_LENT_PAGES) this.#lentPages.shift();
    }
    this.#leavePage();
    return batch;
  }

  /**
   * Empties the batch after its content was used. Other batches can use the memory at once, unless the page is small: to
   * return it and to take another one takes as long as to write a short message.
   */
  release(): void {
    if (this.capacity <= MAX_KEPT_PAGE_BYTES) {
      this.position = 0;
      return;
    }
    if (this.#hasRecycledPage) returnPage(this.#page);
    this.#leavePage();
  }

  /** Whether the page has a size that pages are recycled with. */
  get #hasRecycledPage(): boolean {
    return this.capacity === this.#firstPageBytes || this.capacity === STANDARD_PAGE_BYTES;
  }

  #leavePage(): void {
    // A large batch predicts further large ones.
    if (this.position > this.#firstPageBytes) this.#firstPageBytes = STANDARD_PAGE_BYTES;
    this.#usePage(emptyPage);
    this.position = 0;
  }

  /** Gives back the bytes of an earlier `take`, which may then be overwritten. */
  recycle(batch: Uint8Array): void {
    const index = this.#lentPages.findIndex((page) => page.bytes.buffer === batch.buffer);
    for (const page of index < 0 ? [] : this.#lentPages.splice(index, 1)) returnPage(page);
  }

  /** Empties the batch. Releases its memory if it has grown. */
  clear(): void {
    this.position = 0;
    if (this.capacity > this.#firstPageBytes) this.#usePage(emptyPage);
  }

  /** Grows the memory to at least `need` bytes. Callers first compare `need` with `capacity`. */
  grow(need: number): void {
    if (need > MAX_MESSAGE_BYTES) throw tooLarge();
    const old = this.#page.bytes;
    let size = this.capacity || this.#firstPageBytes;
    while (size < need) size *= 2;
    // One large value is mostly the last one, and room for another of its size would be wasted.
    if (need >= MIN_DETACHED_BYTES && need > (this.capacity || this.#firstPageBytes) * 2)
      size = (Math.min(need + (need >>> 4), MAX_MESSAGE_BYTES - 7) + 7) & ~7;
    const recycled = size === this.#firstPageBytes || size === STANDARD_PAGE_BYTES;
    this.#usePage(recycled ? takePage(size) : newPage(Math.min(size, MAX_MESSAGE_BYTES)));
    if (this.position > 0) this.bytes.set(old.subarray(0, this.position));
  }

  #usePage(page: Page): void {
    this.#page = page;
    this.bytes = page.bytes;
    this.view = page.view;
    this.doubles = page.doubles;
    this.words = page.words;
    this.capacity = page.bytes.length;
  }
}

/** Returns the refusal of a message that is larger than the largest batch. */
export function tooLarge(): CodecRefusal {
  return new CodecRefusal(`it takes more than ${MAX_MESSAGE_BYTES} bytes`, { isFinal: true });
}
