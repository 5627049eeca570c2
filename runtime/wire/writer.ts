/**
 * Where messages are written: a growing batch of bytes. A link keeps one per connection, appends frame after frame and
 * takes the whole batch once per tick. Fields rather than methods where generated code is hot: loads from one object.
 *
 * While a message is being written its strings are gathered in `text` and become its string heap when it is finished.
 */
import type { Codec } from "./codec.js";
import { chunkUnits, largestMessage, longLength, recycledPages, standardPage } from "./limits.js";
import { newPage, type Page, type TextBuffer } from "./page.js";
import { writeHeap } from "./text.js";

export class Writer {
  /** The batch so far is `bytes[0, position)`. Replaced when it grows: load it again after any reservation. */
  bytes: TextBuffer;
  view: DataView;
  doubles: Float64Array;
  capacity: number;
  position = 0;
  /** Arrays of bytes too large to be copied, in the order of the messages that hold them. Whoever takes the batch empties it. */
  readonly blocks: Uint8Array[] = [];

  /** Where the message being written starts; -1 between messages. */
  start = -1;
  /** Strings of the current chunk of the message's heap, concatenated. */
  text = "";
  /** Chunks of the heap that are full. */
  readonly chunks: string[] = [];
  /** How deep in recursive types. */
  depth = 0;

  #page: Page;
  readonly #size: number;
  readonly #lent: Page[] = [];
  readonly #idle: Page[] = [];

  /** @param size of a page in bytes; a larger batch grows beyond it */
  constructor(size: number = standardPage) {
    this.#size = (size + 7) & ~7;
    this.#page = newPage(this.#size);
    this.bytes = this.#page.bytes;
    this.view = this.#page.view;
    this.doubles = this.#page.doubles;
    this.capacity = this.#size;
  }

  /** Room for `size` bytes at the position returned. The caller writes every one of them. */
  reserve(size: number): number {
    const at = this.position;
    const end = at + size;
    if (end > this.capacity) this.#grow(end);
    this.position = end;
    return at;
  }

  /** Moves on to the next multiple of 8, filling with zeros. */
  align(): void {
    const size = -this.position & 7;
    if (size !== 0) {
      const at = this.reserve(size);
      this.bytes.fill(0, at, at + size);
    }
  }

  /** Appends a value with its slot. */
  append<T>(codec: Codec<T>, value: T): void {
    codec.write(this, this.reserve(codec.slot), value);
  }

  /** Appends a string: its length here, its text to the message's heap. */
  string(value: string): void {
    const at = this.reserve(1);
    const size = this.length(value.length);
    this.bytes[at] = size;
    this.addText(value);
  }

  /** What to put into a one-byte slot for `n`; from 255 on the number itself follows as four bytes. */
  length(n: number): number {
    if (n < longLength) return n;
    const at = this.reserve(4);
    this.view.setUint32(at, n, true);
    return longLength;
  }

  /** Adds one string to the heap. A chunk holds many short strings or one long one. */
  addText(value: string): void {
    const text = this.text;
    if (text.length + value.length <= chunkUnits) {
      this.text = text + value;
      return;
    }
    if (text.length > 0) this.chunks.push(text);
    this.text = value;
  }

  /**
   * Starts a message with `size` bytes of header and slot.
   * @returns where it starts, a multiple of 8
   */
  begin(size: number): number {
    if (this.start >= 0) throw new Error("cannot begin a message: the writer is inside another one");
    this.align();
    const start = this.reserve(size);
    this.start = start;
    return start;
  }

  /** Ends a message that has no heap and no blocks. */
  end(): void {
    this.start = -1;
  }

  /** Ends a message with text: appends its heap and notes at `at` where that starts. */
  endText(at: number): void {
    this.view.setUint32(at, this.position - this.start, true);
    writeHeap(this);
  }

  /** Forgets everything written since `position` and `blocks`, and any message begun since. */
  restore(position: number, blocks: number): void {
    this.position = position;
    this.blocks.length = blocks;
    this.start = -1;
    this.text = "";
    this.chunks.length = 0;
    this.depth = 0;
  }

  /** A copy of `[start, position)` with an array buffer of its own. */
  copy(start: number): Uint8Array {
    return this.#page.plain.slice(start, this.position);
  }

  /** Hands over the batch; the writer goes on at position 0 of another page. Does not touch `blocks`. */
  take(): Uint8Array {
    const page = this.#page;
    const batch = page.bytes.subarray(0, this.position);
    if (this.capacity === this.#size) {
      this.#lent.push(page);
      if (this.#lent.length > recycledPages) this.#lent.shift();
    }
    this.#use(this.#idle.pop() ?? newPage(this.#size));
    this.position = 0;
    return batch;
  }

  /** The bytes of an earlier `take` are not needed any more and may be written again. */
  recycle(batch: Uint8Array): void {
    const index = this.#lent.findIndex((page) => page.bytes.buffer === batch.buffer);
    if (index >= 0) this.#idle.push(...this.#lent.splice(index, 1));
  }

  #grow(need: number): void {
    if (need > largestMessage) throw new RangeError(`a batch of ${need} bytes is over the limit of ${largestMessage}`);
    const old = this.#page.bytes;
    let size = this.capacity;
    while (size < need) size *= 2;
    this.#use(newPage(Math.min(size, largestMessage)));
    this.bytes.set(old.subarray(0, this.position));
  }

  #use(page: Page): void {
    this.#page = page;
    this.bytes = page.bytes;
    this.view = page.view;
    this.doubles = page.doubles;
    this.capacity = page.bytes.length;
  }
}
