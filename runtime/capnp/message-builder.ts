/** The memory that a message is written into: the segment table, followed by one segment. */

import { PathError } from "./error.js";
import { defaultDepth } from "./message.js";

/** The options of {@link writeMessage}. */
export interface WriteOptions {
  /** Memory to write into, for example shared or registered memory. Default: new memory of the needed size. */
  readonly into?: Uint8Array;
  /**
   * The largest number of structs and lists inside one another. Default: 64, which is what readers accept by default.
   */
  readonly depth?: number;
}

/** The largest number of words that a pointer can span. */
const mostWords = 2 ** 29 - 1;

export class MessageBuilder {
  bytes: Uint8Array;
  view: DataView;
  readonly depth: number;
  readonly #fixed: boolean;
  #end = 0;

  constructor({ into, depth = defaultDepth }: WriteOptions = {}) {
    this.bytes = into ?? new Uint8Array(1024);
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength);
    this.#fixed = into !== undefined;
    this.depth = depth;
    // The segment table: the number of segments and the size of the only one.
    this.allocate(1);
  }

  /**
   * Allocates `words` words, which are zero. Returns their byte offset.
   *
   * @throws {PathError} when they do not fit
   */
  allocate(words: number): number {
    const at = this.#end;
    const end = at + words * 8;
    if (end > this.bytes.byteLength) this.#grow(end);
    this.#end = end;
    if (this.#fixed) this.bytes.fill(0, at, end);
    return at;
  }

  #grow(end: number): void {
    if (this.#fixed) {
      throw new PathError("write", `it does not fit into the ${this.bytes.byteLength} bytes that it was given`);
    }
    if (end > mostWords * 8) throw new PathError("write", "a message has at most 4 GiB");
    const bytes = new Uint8Array(Math.max(end, Math.min(2 * this.bytes.byteLength, mostWords * 8)));
    bytes.set(this.bytes);
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer);
  }

  /** Enters a level. Returns the number of levels below it. @throws {PathError} when `left` is 0 */
  descend(left: number): number {
    if (left <= 0) throw new PathError("write", `it nests deeper than ${this.depth} levels, or contains itself`);
    return left - 1;
  }

  /** Writes a pointer at byte `at` to the struct at byte `to`. */
  structPointer(at: number, to: number, dataWords: number, pointerWords: number): void {
    // The pointer to an empty struct has the offset -1, since 0 would be null.
    const offset = dataWords + pointerWords === 0 ? -1 : (to - at - 8) / 8;
    this.view.setInt32(at, offset * 4, true);
    this.view.setUint16(at + 4, dataWords, true);
    this.view.setUint16(at + 6, pointerWords, true);
  }

  /** @param count number of elements; for composite ones the number of words without the tag */
  listPointer(at: number, to: number, size: number, count: number): void {
    if (count >= 2 ** 29)
      throw new PathError("write", `a list has at most ${2 ** 29 - 1} elements or words, got ${count}`);
    this.view.setInt32(at, ((to - at - 8) / 8) * 4 + 1, true);
    this.view.setUint32(at + 4, count * 8 + size, true);
  }

  /** Returns the whole message. */
  finish(): Uint8Array {
    this.view.setUint32(0, 0, true);
    this.view.setUint32(4, this.#end / 8 - 1, true);
    return this.bytes.subarray(0, this.#end);
  }
}
