/**
 * What codecs write messages into: a batch, and while a message is being written its strings, which become its string
 * heap when it is finished, and its blocks. The methods are those that generated code uses; what is one machine
 * instruction it does itself, through `view`.
 */
import { Batch } from "./batch.js";
import type { Codec } from "./codec.js";
import { blockBytes, chunkUnits, deepest, longLength } from "./limits.js";
import { isRecord } from "./record.js";
import { Refused } from "./refused.js";
import { writeChunk } from "./text.js";
import type { TypedArray } from "./typed.js";

export class Writer extends Batch {
  /** Arrays of bytes too large to be copied, in the order of the messages that hold them. Whoever takes the batch empties it. */
  readonly blocks: Uint8Array[] = [];
  /** Where the message being written starts; -1 between messages. */
  start = -1;
  /** Strings of the current chunk of the message's heap, concatenated. */
  text = "";
  /** How deep in recursive types. */
  depth = 0;
  /** Whether this is the second attempt, which finds out where the first one failed. */
  tracing = false;
  /** Chunks of the heap that are full. */
  readonly #chunks: string[] = [];

  /** Appends a value with its slot. */
  append<T>(codec: Codec<T>, value: T): void {
    codec.write(this, this.reserve(codec.slot), value);
  }

  /** Appends a string: its length here, its text to the message's heap. */
  string(value: string): void {
    this.putString(this.reserve(1), value);
  }

  /** A length into its one-byte slot; from 255 on the number itself follows as four bytes. */
  putLength(at: number, n: number): void {
    if (n < longLength) this.view.setUint8(at, n);
    else this.putLong(at, n);
  }

  /** The count of a map, a set or a record, into its slot. */
  putCount(at: number, n: number): void {
    this.view.setUint32(at, n, true);
  }

  /** A length that one byte cannot hold: 255 and up. */
  putLong(at: number, n: number): void {
    const to = this.reserve(4);
    this.view.setUint32(to, n, true);
    this.view.setUint8(at, longLength);
  }

  /** A string: its length into its slot, its text to the heap. */
  putString(at: number, value: string): void {
    if (typeof value !== "string") this.refuse();
    this.putLength(at, value.length);
    this.text = this.join(this.text, value);
  }

  /**
   * The chunk `text` of the heap with one more string. A chunk holds many short strings or one long one. The caller puts
   * the result into `text` before anyone else adds to it.
   */
  join(text: string, value: string): string {
    return text.length + value.length <= chunkUnits ? text + value : this.nextChunk(text, value);
  }

  /** Sets a chunk aside that has no room for `value`, and begins the next one with it. */
  nextChunk(text: string, value: string): string {
    if (text.length > 0) this.#chunks.push(text);
    return value;
  }

  /** Refuses what is no object. */
  requireObject(value: unknown): void {
    if (typeof value !== "object" || value === null) this.refuse();
  }

  /** Refuses what is no object whose properties are entries. */
  requireRecord(value: unknown): void {
    if (!isRecord(value)) this.refuse();
  }

  requireArray(value: unknown): void {
    if (!Array.isArray(value)) this.refuse();
  }

  requireMap(value: unknown): void {
    if (!(value instanceof Map)) this.refuse();
  }

  requireSet(value: unknown): void {
    if (!(value instanceof Set)) this.refuse();
  }

  putBoolean(at: number, value: boolean): void {
    if (typeof value !== "boolean") this.refuse();
    this.view.setUint8(at, value ? 1 : 0);
  }

  putDouble(at: number, value: number): void {
    if (typeof value !== "number") this.refuse();
    this.view.setFloat64(at, value, true);
  }

  putInt32(at: number, value: number): void {
    if (value !== (value | 0)) this.refuse();
    this.view.setInt32(at, value, true);
  }

  putUint32(at: number, value: number): void {
    if (value !== value >>> 0) this.refuse();
    this.view.setUint32(at, value, true);
  }

  /** A `float32` into its slot: rounded to the nearest, refused where that would be infinite. */
  putFloat32(at: number, value: number): void {
    if (typeof value !== "number") this.refuse();
    const rounded = Math.fround(value);
    if (!Number.isFinite(rounded) && Number.isFinite(value)) this.refuse();
    this.view.setFloat32(at, rounded, true);
  }

  putInt64(at: number, value: bigint): void {
    if (typeof value !== "bigint" || value !== BigInt.asIntN(64, value)) this.refuse();
    this.view.setBigInt64(at, value, true);
  }

  putUint64(at: number, value: bigint): void {
    if (typeof value !== "bigint" || value !== BigInt.asUintN(64, value)) this.refuse();
    this.view.setBigUint64(at, value, true);
  }

  /** A date as milliseconds since 1970. Invalid dates are refused. */
  putDate(at: number, value: Date): void {
    if (!(value instanceof Date)) this.refuse();
    const time = value.getTime();
    if (Number.isNaN(time)) this.refuse();
    this.view.setFloat64(at, time, true);
  }

  /** `number[]` as a block of doubles, 8-aligned. */
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

  putBytes(at: number, value: Uint8Array): void {
    if (!(value instanceof Uint8Array)) this.refuse();
    const n = value.length;
    this.view.setUint32(at, n, true);
    if (n >= blockBytes) this.#addBlock(value);
    else if (n > 0) {
      const to = this.reserve(n);
      this.bytes.set(value, to);
    }
  }

  /** Of any kind but Uint8Array, which is `putBytes`; the caller has checked which. Aligned to 8. */
  putTyped(at: number, value: TypedArray): void {
    this.view.setUint32(at, value.length, true);
    const size = value.byteLength;
    if (size >= blockBytes) {
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

  /** One level deeper in recursive types. */
  enter(): void {
    if (++this.depth > deepest) throw new Refused(`nested deeper than ${deepest}`);
  }

  leave(): void {
    this.depth--;
  }

  /** The value is not of its type. Why and where, a second attempt finds out. */
  refuse(): never {
    throw new Refused();
  }

  /**
   * Starts a message with `size` bytes of header and slot.
   * @returns where it starts, a multiple of 8
   */
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

  override clear(): void {
    super.clear();
    if (this.blocks.length > 0) this.blocks.length = 0;
  }

  /** Ends the body of a message with text: appends the string heap and notes at `at` where it starts. */
  finishText(at: number): void {
    this.view.setUint32(at, this.position - this.start, true);
    if (this.#chunks.length > 0) {
      for (const chunk of this.#chunks) writeChunk(this, chunk);
      this.#chunks.length = 0;
    }
    if (this.text.length > 0) {
      writeChunk(this, this.text);
      this.text = "";
    }
  }

  /** Notes at `at` where the part of a message ends that is not blocks. */
  finishBulk(at: number): void {
    this.view.setUint32(at, this.position - this.start, true);
  }

  /** Forgets everything written since `position` and `blocks`, and the message begun since. */
  restore(position: number, blocks: number): void {
    this.position = position;
    this.blocks.length = blocks;
    this.start = -1;
    this.text = "";
    this.#chunks.length = 0;
    this.depth = 0;
  }
}
