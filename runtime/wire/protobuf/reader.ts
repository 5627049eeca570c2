/**
 * Where a message of the protobuf layout is read from. Methods named after a protobuf type read a value behind its tag;
 * what is malformed is refused. Nothing of the bytes is trusted: lengths are compared with what is there before anything
 * is made. A value that crosses the end of the message it is in is noticed at that end (`leave`), not before.
 */
import { isAscii, isUtf8 } from "node:buffer";
import type { Codec } from "../codec.js";
import { deepest } from "../limits.js";
import { Refused } from "../refused.js";
import type { TypedArray, TypedArrayConstructor } from "../typed.js";
import { append, joined } from "./grow.js";
import { positionOf } from "./position.js";
import { hasRead } from "./read-so-far.js";
import { skipGroup } from "./skip.js";

/** What `Buffer` has and its types don't. */
interface TextSlices {
  latin1Slice(this: Uint8Array, start: number, end: number): string;
  utf8Slice(this: Uint8Array, start: number, end: number): string;
}
const { latin1Slice, utf8Slice } = Buffer.prototype as unknown as TextSlices;

/** Bytes of a string that is read by a call of its own. */
const longText = 256;
const smallestText = 512;
/** A string keeps no more than this alive. */
const largestText = 8192;
const worthAsking = 600;
const sparse = 64;

const nothing = new Uint8Array(0);
const nothingView = new DataView(nothing.buffer);

/** One 64-bit number, as two words and as such. */
const words = new Uint32Array(2);
const long = new BigInt64Array(words.buffer);
const unsignedLong = new BigUint64Array(words.buffer);

/** Doubles on their way out of a packed field. Machines are little-endian, as the layout is. */
const aligned = new Float64Array(1024);
const alignedBytes = new Uint8Array(aligned.buffer);

export class ProtobufReader {
  input: Uint8Array = nothing;
  view: DataView = nothingView;
  position = 0;
  /** End of the whole message. */
  end = 0;
  /** How many messages and groups are around what is being read. */
  depth = 0;
  /** Whether this is the second attempt, which finds out where the first one failed. */
  tracing = false;
  /** Where the last tag was. */
  #field = 0;
  /** The upper word of the last varint. */
  #high = 0;
  /** The bytes `[textStart, textEnd)`, a character each; plain if all of them are ASCII. */
  #text = "";
  #textStart = 0;
  #textEnd = 0;
  #textSize = 0;
  #plain = false;

  /** @param view over the same memory as `input` */
  reset(input: Uint8Array, view: DataView, start: number, end: number): void {
    this.input = input;
    this.view = view;
    this.position = start;
    this.end = end;
    this.depth = 0;
    this.#textEnd = 0;
    hasRead.messages = true;
  }

  /** The bytes are no message of this type. Why and where, a second attempt finds out. */
  refuse(reason?: string): never {
    throw new Refused(reason);
  }

  /** The tag of the next field: `number << 3 | wire type`. Those that no message can have get to `unknown` or `skip`. */
  tag(): number {
    const at = this.position;
    this.#field = at;
    const byte = this.input[at] as number;
    if (byte < 128) {
      this.position = at + 1;
      return byte;
    }
    const tag = this.varint();
    if (this.#high !== 0) throw new Refused("invalid tag: it has more than 32 bits");
    return tag >>> 0;
  }

  /** The lower 32 bits of a varint. */
  varint(): number {
    const input = this.input;
    const at = this.position;
    const first = input[at] as number;
    if (first < 128) {
      this.position = at + 1;
      return first;
    }
    const second = input[at + 1] as number;
    if (second < 128) {
      this.#high = 0;
      this.position = at + 2;
      return (first & 127) | (second << 7);
    }
    return this.#longVarint();
  }

  #longVarint(): number {
    const { input, end } = this;
    let at = this.position;
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (at >= end) throw new Refused("the message ends too early");
      const byte = input[at++] as number;
      const bits = byte & 127;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte < 128) {
        this.position = at;
        this.#high = high;
        return low;
      }
    }
    throw new Refused("invalid varint: it has more than 10 bytes");
  }

  /** Reads a varint of 64 bits into `words`. */
  #varint64(): void {
    this.#high = 0;
    words[0] = this.varint();
    words[1] = this.#high;
  }

  uint32(): number {
    return this.varint() >>> 0;
  }

  int32(): number {
    return this.varint() | 0;
  }

  sint32(): number {
    const n = this.varint();
    return (n >>> 1) ^ -(n & 1);
  }

  bool(): boolean {
    this.#high = 0;
    return (this.varint() | this.#high) !== 0;
  }

  uint64(): bigint {
    this.#varint64();
    return unsignedLong[0] as bigint;
  }

  int64(): bigint {
    this.#varint64();
    return long[0] as bigint;
  }

  sint64(): bigint {
    this.#varint64();
    const low = words[0] as number;
    const high = words[1] as number;
    const sign = -(low & 1);
    words[0] = ((low >>> 1) | (high << 31)) ^ sign;
    words[1] = (high >>> 1) ^ sign;
    return long[0] as bigint;
  }

  /** The place of the next `size` bytes. */
  take(size: number): number {
    const at = this.position;
    const next = at + size;
    if (next > this.end) throw new Refused("the message ends too early");
    this.position = next;
    return at;
  }

  fixed32(): number {
    return this.view.getUint32(this.take(4), true);
  }

  sfixed32(): number {
    return this.view.getInt32(this.take(4), true);
  }

  float(): number {
    return this.view.getFloat32(this.take(4), true);
  }

  double(): number {
    return this.view.getFloat64(this.take(8), true);
  }

  fixed64(): bigint {
    return this.view.getBigUint64(this.take(8), true);
  }

  sfixed64(): bigint {
    return this.view.getBigInt64(this.take(8), true);
  }

  /** A length, of which so much is there. */
  length(): number {
    const length = this.varint() >>> 0;
    if (length > this.end - this.position) throw new Refused("a length goes past the end of the message");
    return length;
  }

  string(): string {
    const size = this.length();
    const from = this.position;
    const to = from + size;
    this.position = to;
    if (to > this.#textEnd && !this.#nextText(from, to)) return this.#utf8(from, to);
    if (!this.#plain) {
      const input = this.input;
      let bits = 0;
      for (let i = from; i < to; i++) bits |= input[i] as number;
      if (bits > 127) return this.#utf8(from, to);
    }
    const start = this.#textStart;
    return this.#text.substring(from - start, to - start);
  }

  /**
   * Takes what comes next as text, though other fields are between the strings: one native call for many of them. False
   * for a long string, which is better on its own.
   */
  #nextText(from: number, to: number): boolean {
    if (to - from > longText) return false;
    // A message of few strings should not pay for more than there are.
    const dense = from - this.#textEnd < sparse && this.#textEnd > 0;
    this.#textSize = dense ? Math.min(this.#textSize * 4, largestText) : smallestText;
    const end = Math.min(Math.max(from + this.#textSize, to), this.end);
    this.#text = latin1Slice.call(this.input, from, end);
    this.#textStart = from;
    this.#textEnd = end;
    this.#plain = end - from > worthAsking && isAscii(this.input.subarray(from, end));
    return true;
  }

  #utf8(from: number, to: number): string {
    const text = utf8Slice.call(this.input, from, to);
    // What is no UTF-8 becomes this character. It may have been there, too.
    if (text.includes("\ufffd") && !isUtf8(this.input.subarray(from, to))) {
      throw new Refused("invalid string: expected UTF-8");
    }
    return text;
  }

  /** `bytes`: a copy with memory of its own. */
  getBytes(): Uint8Array {
    const size = this.length();
    const at = this.take(size);
    return new Uint8Array(this.input.subarray(at, at + size));
  }

  /** `bytes` as a Uint8ClampedArray. */
  clamped(): Uint8ClampedArray {
    return new Uint8ClampedArray(this.getBytes().buffer as ArrayBuffer);
  }

  /** A `google.protobuf.Timestamp`, merged into an earlier one. What is finer than milliseconds is cut off. */
  date(into?: Date): Date {
    const end = this.enter();
    const date = this.dateFields(end, into);
    this.leave(end);
    return date;
  }

  /** The fields of a `google.protobuf.Timestamp` up to `end`. */
  dateFields(end: number, into?: Date): Date {
    const before = into?.getTime() ?? 0;
    let seconds = Math.floor(before / 1000);
    let millis = before - seconds * 1000;
    while (this.position < end) {
      const tag = this.tag();
      // 64 bits as a double: where that is not exact, no date is either.
      if (tag === 0x08) seconds = Number(this.int64());
      else if (tag === 0x10) millis = Math.floor(this.int32() / 1_000_000);
      else this.skip(tag);
    }
    const date = new Date(seconds * 1000 + millis);
    if (Number.isNaN(date.getTime())) throw new Refused("invalid date: expected a time from -8.64e15 to 8.64e15 ms");
    return date;
  }

  /** An enum's value as the schema has it. */
  enumeration<T>(codec: Codec<T>): T {
    const position = positionOf(codec);
    if (position.kind !== "enum") this.refuse();
    return position.valueOf(this.int32());
  }

  /** Reads the length of a message and goes into it. Its end, for `leave`. */
  enter(): number {
    if (++this.depth > deepest) throw new Refused(`nested deeper than ${deepest}`);
    const length = this.length();
    return this.position + length;
  }

  /** Out of a message that ends at `end`, where its last field must end, too. */
  leave(end: number): void {
    if (this.position !== end) throw new Refused("a field goes past the end of its message");
    this.depth--;
  }

  /** A part that is a message, by its codec; merged into what was read before. */
  message<T>(codec: Codec<T>, into?: T): T {
    const end = this.enter();
    const value = codec.readFields(this, end, into);
    this.leave(end);
    return value;
  }

  /** A message with nothing in it: what stands for one that is not there. */
  absent<T>(codec: Codec<T>): T {
    if (++this.depth > deepest) throw new Refused(`nested deeper than ${deepest}`);
    const value = codec.readFields(this, this.position, undefined);
    this.depth--;
    return value;
  }

  /** The field whose tag was just read is not in the schema: puts it, with its tag, behind the other unknown ones. */
  unknown(tag: number, others?: Uint8Array): Uint8Array {
    const from = this.#field;
    this.skip(tag);
    hasRead.unknownFields = true;
    return append(others, this.input, from, this.position);
  }

  /** Leaves out the field whose tag was just read. */
  skip(tag: number): void {
    if (tag < 8) throw new Refused("invalid tag: field number 0");
    switch (tag & 7) {
      case 0:
        this.varint();
        return;
      case 1:
        this.take(8);
        return;
      case 2:
        this.take(this.length());
        return;
      case 3:
        skipGroup(this, tag >>> 3);
        return;
      case 4:
        throw new Refused(`invalid group: group ${tag >>> 3} ends where it did not begin`);
      case 5:
        this.take(4);
        return;
      default:
        throw new Refused(`invalid tag: wire type ${tag & 7}`);
    }
  }

  /** The end of a packed field of elements of `size` bytes each. */
  #block(size: number): number {
    const length = this.length();
    if (length % size !== 0) throw new Refused(`invalid packed field: ${length} bytes are not whole elements`);
    return this.position + length;
  }

  #packedEnd(end: number): void {
    if (this.position !== end) throw new Refused("the last element of a packed field goes past its end");
  }

  // Packed fields: elements are put behind those of `into`.

  packedDouble(into?: number[]): number[] {
    const end = this.#block(8);
    const from = this.position;
    this.position = end;
    if (into === undefined) return this.#doubles(from, (end - from) >> 3);
    const { view } = this;
    for (let p = from; p < end; p += 8) into.push(view.getFloat64(p, true));
    return into;
  }

  /** `n` doubles from `from` on, through memory in which they are aligned: read from there in a third of the time. */
  #doubles(from: number, n: number): number[] {
    const values = new Array<number>(n);
    for (let done = 0; done < n; done += aligned.length) {
      const count = Math.min(n - done, aligned.length);
      const start = from + done * 8;
      alignedBytes.set(this.input.subarray(start, start + count * 8));
      let i = 0;
      // Four at a time: the loads overlap with the stores of the ones before.
      for (; i + 3 < count; i += 4) {
        values[done + i] = aligned[i] as number;
        values[done + i + 1] = aligned[i + 1] as number;
        values[done + i + 2] = aligned[i + 2] as number;
        values[done + i + 3] = aligned[i + 3] as number;
      }
      for (; i < count; i++) values[done + i] = aligned[i] as number;
    }
    return values;
  }

  packedFloat(into: number[] = []): number[] {
    const end = this.#block(4);
    const { view } = this;
    for (let p = this.position; p < end; p += 4) into.push(view.getFloat32(p, true));
    this.position = end;
    return into;
  }

  packedFixed32(into: number[] = []): number[] {
    const end = this.#block(4);
    while (this.position < end) into.push(this.fixed32());
    return into;
  }

  packedSfixed32(into: number[] = []): number[] {
    const end = this.#block(4);
    while (this.position < end) into.push(this.sfixed32());
    return into;
  }

  packedFixed64(into: bigint[] = []): bigint[] {
    const end = this.#block(8);
    while (this.position < end) into.push(this.fixed64());
    return into;
  }

  packedSfixed64(into: bigint[] = []): bigint[] {
    const end = this.#block(8);
    while (this.position < end) into.push(this.sfixed64());
    return into;
  }

  packedBool(into: boolean[] = []): boolean[] {
    const end = this.#block(1);
    while (this.position < end) into.push(this.bool());
    this.#packedEnd(end);
    return into;
  }

  packedUint32(into: number[] = []): number[] {
    const end = this.#block(1);
    while (this.position < end) into.push(this.varint() >>> 0);
    this.#packedEnd(end);
    return into;
  }

  packedInt32(into: number[] = []): number[] {
    const end = this.#block(1);
    while (this.position < end) into.push(this.varint() | 0);
    this.#packedEnd(end);
    return into;
  }

  packedSint32(into: number[] = []): number[] {
    const end = this.#block(1);
    while (this.position < end) into.push(this.sint32());
    this.#packedEnd(end);
    return into;
  }

  packedUint64(into: bigint[] = []): bigint[] {
    const end = this.#block(1);
    while (this.position < end) into.push(this.uint64());
    this.#packedEnd(end);
    return into;
  }

  packedInt64(into: bigint[] = []): bigint[] {
    const end = this.#block(1);
    while (this.position < end) into.push(this.int64());
    this.#packedEnd(end);
    return into;
  }

  packedSint64(into: bigint[] = []): bigint[] {
    const end = this.#block(1);
    while (this.position < end) into.push(this.sint64());
    this.#packedEnd(end);
    return into;
  }

  packedEnumeration<T>(codec: Codec<T>, into: T[] = []): T[] {
    const position = positionOf(codec);
    if (position.kind !== "enum") this.refuse();
    const end = this.#block(1);
    while (this.position < end) into.push(position.valueOf(this.varint() | 0));
    this.#packedEnd(end);
    return into;
  }

  /** Elements of a typed array of `type`, packed (a field of wire type 2). Uint8ClampedArray is `clamped`. */
  typed<T extends TypedArray>(type: TypedArrayConstructor<T>, into?: T): T {
    const narrow = type.BYTES_PER_ELEMENT < 4;
    const end = this.#block(narrow ? 1 : type.BYTES_PER_ELEMENT);
    if (!narrow) {
      const from = this.position;
      this.position = end;
      return joined(type, into, this.input, from, end);
    }
    const from = this.position;
    let count = 0;
    for (let i = from; i < end; i++) if ((this.input[i] as number) < 128) count++;
    const elements = new type(new ArrayBuffer(count * type.BYTES_PER_ELEMENT)) as unknown as number[];
    for (let i = 0; this.position < end; i++) elements[i] = this.#narrow(type);
    this.#packedEnd(end);
    const bytes = new Uint8Array((elements as unknown as Uint8Array).buffer);
    return into === undefined ? (elements as unknown as T) : joined(type, into, bytes, 0, bytes.length);
  }

  /** One element of a typed array of `type`, not packed. */
  typedElement<T extends TypedArray>(type: TypedArrayConstructor<T>, into?: T): T {
    const size = type.BYTES_PER_ELEMENT;
    if (size >= 4) {
      const at = this.take(size);
      return joined(type, into, this.input, at, at + size);
    }
    const element = new type(new ArrayBuffer(size));
    element[0] = this.#narrow(type);
    return joined(type, into, new Uint8Array(element.buffer), 0, size);
  }

  /** An element of 8 or 16 bits. */
  #narrow(type: { readonly name: string; readonly BYTES_PER_ELEMENT: number }): number {
    const isSigned = type.name !== "Uint16Array";
    const value = isSigned ? this.sint32() : this.uint32();
    const half = 2 ** (type.BYTES_PER_ELEMENT * 8 - 1);
    if (isSigned ? value < -half || value >= half : value >= half * 2) {
      throw new Refused(`invalid ${type.name}: ${value} is not in the range of its elements`);
    }
    return value;
  }

  /** Sets a property of an object with any keys. */
  define(record: Record<string, unknown>, key: string, value: unknown): void {
    defineProperty(record, key, value);
  }
}

/** Sets a property; `__proto__` is one like any other. */
export function defineProperty(record: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    record[key] = value;
  }
}
