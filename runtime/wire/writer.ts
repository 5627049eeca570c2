/**
 * Writes messages in the lockstep layout to a batch. The strings of a message are collected and become its string heap when
 * the message ends; large blocks are listed. Generated code writes numbers directly through `view`.
 */
import { Batch } from "./batch.js";
import { CodecRefusal } from "./codec-refusal.js";
import { isRecord } from "./is-record.js";
import { LONG_LENGTH_MARK, MAX_CHUNK_UNITS, MAX_DEPTH, MIN_BLOCK_BYTES } from "./limits.js";
import type { MessageHandles } from "./message-handles.js";
import { writeChunk } from "./string-heap.js";
import type { TypedArray } from "./typed-array.js";

/** The part of a codec that writes a value into a slot. */
export interface SlotWriter<T> {
  /** The number of bytes of the slot. */
  readonly slot: number;
  /** @param at byte offset of the slot, which has been reserved */
  write(w: Writer, at: number, value: T): void;
}

/**
 * Writes messages in the lockstep layout, for generated code. In all methods, `at` is the byte offset of a slot, and `size`
 * a number of bytes. A `value` without the type, or `values` that are not an array of the type, are refused.
 */
export class Writer extends Batch {
  /** Arrays of bytes that are too large to be copied, in the order of the messages that contain them. */
  readonly blocks: Uint8Array[] = [];
  /** The byte offset of the message that is being written; -1 between messages. */
  start = -1;
  /** The current chunk of the string heap of the message. */
  text = "";
  /** The number of recursive types around the current value. */
  depth = 0;
  /** Whether this is the second attempt, which finds the field that an error is about. */
  tracing = false;
  /**
   * The codecs of handles that this message uses in place of the registered ones. Whoever sets it resets it after the
   * message.
   *
   * @internal
   */
  handles: MessageHandles | undefined = undefined;
  /** Full chunks of the string heap. */
  readonly #chunks: string[] = [];

  /** Appends a value with its slot. */
  append<T>(codec: SlotWriter<T>, value: T): void {
    codec.write(this, this.reserve(codec.slot), value);
  }

  /** Appends a string: its length here, its text in the string heap. */
  string(value: string): void {
    this.putString(this.reserve(1), value);
  }

  /**
   * Writes a length into its slot of one byte; from 255 on, four bytes follow.
   *
   * @param n length, from 0
   */
  putLength(at: number, n: number): void {
    if (n < LONG_LENGTH_MARK) this.view.setUint8(at, n);
    else this.putLong(at, n);
  }

  /**
   * Writes the number of entries of a map, set or record.
   *
   * @param n number of entries, from 0
   */
  putCount(at: number, n: number): void {
    this.view.setUint32(at, n, true);
  }

  /**
   * Writes a length that does not fit into one byte.
   *
   * @param n length, from 255
   */
  putLong(at: number, n: number): void {
    const to = this.reserve(4);
    this.view.setUint32(to, n, true);
    this.view.setUint8(at, LONG_LENGTH_MARK);
  }

  /** Writes a string: its length into the slot, its text to the string heap. */
  putString(at: number, value: string): void {
    if (typeof value !== "string") this.refuse();
    this.putLength(at, value.length);
    this.text = this.join(this.text, value);
  }

  /**
   * Appends a string to a chunk of the string heap. A chunk contains many short strings or one long one. The caller
   * assigns the result to `text` before anything else is added.
   *
   * @param text the current chunk
   */
  join(text: string, value: string): string {
    return text.length + value.length <= MAX_CHUNK_UNITS ? text + value : this.nextChunk(text, value);
  }

  /**
   * Starts a new chunk of the string heap with `value`.
   *
   * @param text the chunk that is full
   */
  nextChunk(text: string, value: string): string {
    if (text.length > 0) this.#chunks.push(text);
    return value;
  }

  /** Refuses a value that is not an object. */
  requireObject(value: unknown): void {
    if (typeof value !== "object" || value === null) this.refuse();
  }

  /** Refuses a value that is not an object whose properties are entries. */
  requireRecord(value: unknown): void {
    if (!isRecord(value)) this.refuse();
  }

  /** Refuses a value that is not an array. */
  requireArray(value: unknown): void {
    if (!Array.isArray(value)) this.refuse();
  }

  /** Refuses a value that is not a Map. */
  requireMap(value: unknown): void {
    if (!(value instanceof Map)) this.refuse();
  }

  /** Refuses a value that is not a Set. */
  requireSet(value: unknown): void {
    if (!(value instanceof Set)) this.refuse();
  }

  /** Writes a boolean. */
  putBoolean(at: number, value: boolean): void {
    if (typeof value !== "boolean") this.refuse();
    this.view.setUint8(at, value ? 1 : 0);
  }

  /** Writes a double. */
  putDouble(at: number, value: number): void {
    if (typeof value !== "number") this.refuse();
    this.view.setFloat64(at, value, true);
  }

  /** Writes an integer of 32 bits, from -2^31 to 2^31 - 1. */
  putInt32(at: number, value: number): void {
    if (value !== (value | 0)) this.refuse();
    this.view.setInt32(at, value, true);
  }

  /** Writes an integer of 32 bits, from 0 to 2^32 - 1. */
  putUint32(at: number, value: number): void {
    if (value !== value >>> 0) this.refuse();
    this.view.setUint32(at, value, true);
  }

  /** Writes a single-precision number: rounded to the nearest, refused if the result would be infinite. */
  putFloat32(at: number, value: number): void {
    if (typeof value !== "number") this.refuse();
    const rounded = Math.fround(value);
    if (!Number.isFinite(rounded) && Number.isFinite(value)) this.refuse();
    this.view.setFloat32(at, rounded, true);
  }

  /** Writes an integer of 64 bits, from -2^63 to 2^63 - 1. */
  putInt64(at: number, value: bigint): void {
    if (typeof value !== "bigint" || value !== BigInt.asIntN(64, value)) this.refuse();
    this.view.setBigInt64(at, value, true);
  }

  /** Writes an integer of 64 bits, from 0 to 2^64 - 1. */
  putUint64(at: number, value: bigint): void {
    if (typeof value !== "bigint" || value !== BigInt.asUintN(64, value)) this.refuse();
    this.view.setBigUint64(at, value, true);
  }

  /** Writes a date as milliseconds since 1970. Refuses invalid dates. */
  putDate(at: number, value: Date): void {
    if (!(value instanceof Date)) this.refuse();
    const time = value.getTime();
    if (Number.isNaN(time)) this.refuse();
    this.view.setFloat64(at, time, true);
  }

  /** Writes a `number[]` as doubles, aligned to 8 bytes. */
  putNumbers(at: number, values: readonly number[]): void {
    if (!Array.isArray(values)) this.refuse();
    const n = values.length;
    this.putLength(at, n);
    if (n === 0) return;
    this.align();
    const first = this.reserve(n * 8) >> 3;
    const doubles = this.doubles;
    let i = 0;
    // Four at a time: the checks overlap with the stores of the ones before.
    for (; i + 3 < n; i += 4) {
      const a = values[i];
      const b = values[i + 1];
      const c = values[i + 2];
      const d = values[i + 3];
      if (typeof a !== "number" || typeof b !== "number" || typeof c !== "number" || typeof d !== "number") {
        this.refuse();
      }
      doubles[first + i] = a;
      doubles[first + i + 1] = b;
      doubles[first + i + 2] = c;
      doubles[first + i + 3] = d;
    }
    for (; i < n; i++) {
      const a = values[i];
      if (typeof a !== "number") this.refuse();
      doubles[first + i] = a;
    }
  }

  /** Writes bytes. From 32 KiB on, they become a block and are not copied. */
  putBytes(at: number, value: Uint8Array): void {
    if (!(value instanceof Uint8Array)) this.refuse();
    const n = value.length;
    this.view.setUint32(at, n, true);
    if (n >= MIN_BLOCK_BYTES) this.#addBlock(value);
    else if (n > 0) {
      const to = this.reserve(n);
      this.bytes.set(value, to);
    }
  }

  /**
   * Writes a typed array of any class but Uint8Array, aligned to 8 bytes. From 32 KiB on, it becomes a block and is not
   * copied.
   */
  putTyped(at: number, value: TypedArray): void {
    this.view.setUint32(at, value.length, true);
    const size = value.byteLength;
    if (size >= MIN_BLOCK_BYTES) {
      this.#addBlock(new Uint8Array(value.buffer, value.byteOffset, size));
    } else if (size > 0) {
      this.align();
      const to = this.reserve(size);
      if (value instanceof Float64Array) this.doubles.set(value, to >> 3);
      else this.bytes.set(new Uint8Array(value.buffer, value.byteOffset, size), to);
    }
  }

  /** Memory that others can write at the same time is copied: what is sent is what was checked. */
  #addBlock(block: Uint8Array): void {
    this.blocks.push(block.buffer instanceof ArrayBuffer ? block : new Uint8Array(block));
  }

  /** Enters a recursive type. Refuses more than the limit of levels. */
  enter(): void {
    if (++this.depth > MAX_DEPTH) throw new CodecRefusal(`nested deeper than ${MAX_DEPTH}`);
  }

  /** Leaves a recursive type. */
  leave(): void {
    this.depth--;
  }

  /** Refuses the value. A second attempt finds the field and the reason. */
  refuse(): never {
    throw new CodecRefusal();
  }

  /** Starts a message whose header and slot have `size` bytes. Returns its byte offset, a multiple of 8. */
  begin(size: number): number {
    const position = this.position;
    const start = (position + 7) & ~7;
    const end = start + size;
    if (end > this.capacity) this.grow(end);
    this.start = start;
    this.position = end;
    // Zeros up to the message and a little into it; there is room, since capacities are multiples of 8.
    this.view.setFloat64(position, 0, true);
    return start;
  }

  /** Empties the writer. */
  override clear(): void {
    super.clear();
    if (this.blocks.length > 0) this.blocks.length = 0;
  }

  /** Appends the string heap, and writes its offset into the header. */
  finishText(at: number): void {
    this.words[at >> 2] = this.position - this.start;
    if (this.#chunks.length > 0) this.#writeFullChunks();
    if (this.text.length > 0) {
      writeChunk(this, this.text);
      this.text = "";
    }
  }

  #writeFullChunks(): void {
    for (const chunk of this.#chunks) writeChunk(this, chunk);
    this.#chunks.length = 0;
  }

  /** Writes into the header where the blocks start. */
  finishBulk(at: number): void {
    this.view.setUint32(at, this.position - this.start, true);
  }

  /**
   * Removes everything that was written since a position, the message that was begun included.
   *
   * @param position byte offset
   * @param blocks number of blocks
   */
  restore(position: number, blocks: number): void {
    this.position = position;
    this.blocks.length = blocks;
    this.start = -1;
    this.text = "";
    this.#chunks.length = 0;
    this.depth = 0;
  }
}
