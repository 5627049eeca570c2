/**
 * A growing batch of bytes. A link keeps one per connection, appends frame after frame and takes the whole batch once
 * per tick. Fields rather than methods where code is hot: loads from one object.
 */
import { largestMessage, lentPages, standardPageBytes } from "./limits.js";
import { newPage, noPage, type Page, recycledPage, recyclePage, type TextBuffer } from "./page.js";
import { Refused } from "./refused.js";

/** Up to so many bytes are copied one by one: a native call takes longer. */
const looped = 32;

export class Batch {
  /**
   * The memory of the batch, whose content is `bytes[0, position)`. Growing replaces it: load it again after every
   * reservation.
   */
  bytes: TextBuffer = noPage.bytes;
  /** A view of the memory as numbers of all sizes. */
  view: DataView = noPage.view;
  /** The memory as doubles. */
  doubles: Float64Array = noPage.doubles;
  /** The memory as integers of 32 bits. */
  words: Int32Array = noPage.words;
  /** The number of bytes of the memory. */
  capacity = 0;
  /** The number of bytes that have been written. */
  position = 0;

  #page: Page = noPage;
  #size: number;
  readonly #lent: Page[] = [];

  /**
   * Makes an empty batch, which allocates memory with the first write.
   *
   * @param size number of bytes of the first allocation; a larger batch grows beyond it
   */
  constructor(size: number = standardPageBytes) {
    this.#size = (size + 7) & ~7;
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
    if (room === 0 && size > looped) return this.#page.plain.slice(start, this.position);
    const copy = new Uint8Array(size + room);
    if (size <= looped) {
      const bytes = this.bytes;
      for (let i = 0; i < size; i++) copy[i] = bytes[start + i] as number;
      return copy;
    }
    copy.set(this.#page.plain.subarray(start, this.position));
    return copy;
  }

  /** Hands over the batch; writing goes on at position 0 of another page, and until then there is none. */
  take(): Uint8Array {
    const page = this.#page;
    const batch = page.bytes.subarray(0, this.position);
    if (this.capacity === this.#size || this.capacity === standardPageBytes) {
      this.#lent.push(page);
      if (this.#lent.length > lentPages) this.#lent.shift();
    }
    // Whoever has written much once will again.
    if (this.position > this.#size) this.#size = standardPageBytes;
    this.#use(noPage);
    this.position = 0;
    return batch;
  }

  /** The bytes of an earlier `take` are not needed any more and may be written again. */
  recycle(batch: Uint8Array): void {
    const index = this.#lent.findIndex((page) => page.bytes.buffer === batch.buffer);
    for (const page of index < 0 ? [] : this.#lent.splice(index, 1)) recyclePage(page);
  }

  /** Empties the batch, and gives back what it has grown by. */
  clear(): void {
    this.position = 0;
    if (this.capacity > this.#size) this.#use(noPage);
  }

  /** Makes room up to `need`. Called by `reserve`; by others after their own comparison with `capacity`. */
  grow(need: number): void {
    if (need > largestMessage) throw new Refused(`it takes more than ${largestMessage} bytes`, { final: true });
    const old = this.#page.bytes;
    let size = this.capacity || this.#size;
    while (size < need) size *= 2;
    const recycled = size === this.#size || size === standardPageBytes;
    this.#use(recycled ? recycledPage(size) : newPage(Math.min(size, largestMessage)));
    this.bytes.set(old.subarray(0, this.position));
  }

  #use(page: Page): void {
    this.#page = page;
    this.bytes = page.bytes;
    this.view = page.view;
    this.doubles = page.doubles;
    this.words = page.words;
    this.capacity = page.bytes.length;
  }
}
