/**
 * Reads messages in the protobuf layout. The bytes are not trusted: lengths are checked before memory is allocated. A value
 * that crosses the end of its message is detected at that end (`leave`), not before.
 */
import { isAscii, isUtf8 } from "node:buffer";
import { CodecRefusal } from "../codec-refusal.js";
import { MAX_DEPTH } from "../limits.js";
import type { MessageHandles } from "../message-handles.js";
import type { TypedArray, TypedArrayConstructor } from "../typed-array.js";
import { enumAccessOf } from "./enum-access.js";
import { appendBytes, appendElements } from "./growing-array.js";
import { hasRead } from "./has-read.js";
import { skipGroup } from "./skip-group.js";

/** Methods of `Buffer` that its type declarations lack. */
interface TextSlices {
  latin1Slice(this: Uint8Array, start: number, end: number): string;
  utf8Slice(this: Uint8Array, start: number, end: number): string;
}
const { latin1Slice, utf8Slice } = Buffer.prototype as unknown as TextSlices;

/** The size in bytes from which a string is read with a native call of its own. */
const LONG_TEXT_BYTES = 256;
const MIN_TEXT_CHUNK = 512;
/** The largest number of bytes that are read as text at once. A string keeps the whole text in memory. */
const MAX_TEXT_CHUNK = 8192;
const MIN_ASCII_CHECK = 600;
const MAX_TEXT_GAP = 64;

const noBytes = new Uint8Array(0);
const noView = new DataView(noBytes.buffer);

/** One 64-bit number, viewed as two words and as a whole. */
const words = new Uint32Array(2);
const long = new BigInt64Array(words.buffer);
const unsignedLong = new BigUint64Array(words.buffer);

/** Aligned copies of packed doubles. The layout is little-endian, as all supported machines are. */
const aligned = new Float64Array(1024);
const alignedBytes = new Uint8Array(aligned.buffer);

/** The part of a codec that reads the fields of a message. */
export interface FieldsReader<T> {
  readFields(r: ProtobufReader, end: number, into: T | undefined): T;
}

/**
 * Reads messages in the protobuf layout, for generated code. Methods named after a scalar type read one value; those
 * that start with `packed` read a packed field and append its elements to `into`. In all methods, `size` is a number of
 * bytes, `tag` is `number << 3 | wire type`, and `end` is a byte offset.
 */
export class ProtobufReader {
  /** The bytes that contain the message. */
  input: Uint8Array = noBytes;
  /** A view of the same bytes. */
  view: DataView = noView;
  /** The byte offset at which the next field is read. */
  position = 0;
  /** The byte offset of the end of the message. */
  end = 0;
  /** The number of messages and groups around the current field. */
  depth = 0;
  /** Whether this is the second attempt, which finds the field that an error is about. */
  tracing = false;
  /**
   * The codecs of handles that this message uses in place of the registered ones.
   *
   * @internal
   */
  handles: MessageHandles | undefined = undefined;
  /** The byte offset of the last tag. */
  #fieldStart = 0;
  /** The upper word of the last varint. */
  #varintHigh = 0;
  /** The bytes `[textStart, textEnd)` as text, one character for each byte. */
  #text = "";
  #textStart = 0;
  #textEnd = 0;
  #textSize = 0;
  #isAsciiText = false;

  /**
   * Starts to read a message.
   *
   * @param input bytes that contain the message
   * @param view of the same bytes
   * @param start byte offset of the message
   */
  reset(input: Uint8Array, view: DataView, start: number, end: number): void {
    this.input = input;
    this.view = view;
    this.position = start;
    this.end = end;
    this.depth = 0;
    this.#textEnd = 0;
    hasRead.messages = true;
  }

  /**
   * Refuses the message. A second attempt finds the field and the reason.
   *
   * @param reason what is wrong
   */
  refuse(reason?: string): never {
    throw new CodecRefusal(reason);
  }

  /** Reads the tag of the next field. Invalid tags are refused by `unknown` and `skip`. */
  tag(): number {
    const at = this.position;
    this.#fieldStart = at;
    const byte = this.input[at] as number;
    if (byte < 128) {
      this.position = at + 1;
      return byte;
    }
    const tag = this.varint();
    if (this.#varintHigh !== 0) throw new CodecRefusal("invalid tag: it has more than 32 bits");
    return tag >>> 0;
  }

  /** Reads the lower 32 bits of a varint. */
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
      this.#varintHigh = 0;
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
      if (at >= end) throw new CodecRefusal("the message ends too early");
      const byte = input[at++] as number;
      const bits = byte & 127;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte < 128) {
        this.position = at;
        this.#varintHigh = high;
        return low;
      }
    }
    throw new CodecRefusal("invalid varint: it has more than 10 bytes");
  }

  /** Reads a varint of 64 bits into `words`. */
  #varint64(): void {
    this.#varintHigh = 0;
    words[0] = this.varint();
    words[1] = this.#varintHigh;
  }

  /** Reads a `uint32`. */
  uint32(): number {
    return this.varint() >>> 0;
  }

  /** Reads a `int32`. */
  int32(): number {
    return this.varint() | 0;
  }

  /** Reads a `sint32`. */
  sint32(): number {
    const n = this.varint();
    return (n >>> 1) ^ -(n & 1);
  }

  /** Reads a `bool`. */
  bool(): boolean {
    this.#varintHigh = 0;
    return (this.varint() | this.#varintHigh) !== 0;
  }

  /** Reads a `uint64`. */
  uint64(): bigint {
    this.#varint64();
    return unsignedLong[0] as bigint;
  }

  /** Reads a `int64`. */
  int64(): bigint {
    this.#varint64();
    return long[0] as bigint;
  }

  /** Reads a `sint64`. */
  sint64(): bigint {
    this.#varint64();
    const low = words[0] as number;
    const high = words[1] as number;
    const sign = -(low & 1);
    words[0] = ((low >>> 1) | (high << 31)) ^ sign;
    words[1] = (high >>> 1) ^ sign;
    return long[0] as bigint;
  }

  /** Reserves the next `size` bytes, and returns their byte offset. */
  take(size: number): number {
    const at = this.position;
    const next = at + size;
    if (next > this.end) throw new CodecRefusal("the message ends too early");
    this.position = next;
    return at;
  }

  /** Reads a `fixed32`. */
  fixed32(): number {
    return this.view.getUint32(this.take(4), true);
  }

  /** Reads a `sfixed32`. */
  sfixed32(): number {
    return this.view.getInt32(this.take(4), true);
  }

  /** Reads a `float`. */
  float(): number {
    return this.view.getFloat32(this.take(4), true);
  }

  /** Reads a `double`. */
  double(): number {
    return this.view.getFloat64(this.take(8), true);
  }

  /** Reads a `fixed64`. */
  fixed64(): bigint {
    return this.view.getBigUint64(this.take(8), true);
  }

  /** Reads a `sfixed64`. */
  sfixed64(): bigint {
    return this.view.getBigInt64(this.take(8), true);
  }

  /** Reads a length, and refuses one that exceeds the message. */
  length(): number {
    const length = this.varint() >>> 0;
    if (length > this.end - this.position) throw new CodecRefusal("a length goes past the end of the message");
    return length;
  }

  /** Reads a `string`. Refuses invalid UTF-8. */
  string(): string {
    const size = this.length();
    const from = this.position;
    const to = from + size;
    this.position = to;
    if (to > this.#textEnd && !this.#nextText(from, to)) return this.#utf8(from, to);
    if (!this.#isAsciiText) {
      const input = this.input;
      let bits = 0;
      for (let i = from; i < to; i++) bits |= input[i] as number;
      if (bits > 127) return this.#utf8(from, to);
    }
    const start = this.#textStart;
    return this.#text.substring(from - start, to - start);
  }

  /**
   * Converts the next bytes to text, with the fields between the strings, so that one native call serves many strings.
   * Returns false for a long string, for which a native call of its own is faster.
   */
  #nextText(from: number, to: number): boolean {
    if (to - from > LONG_TEXT_BYTES) return false;
    // A message with few strings converts fewer bytes.
    const dense = from - this.#textEnd < MAX_TEXT_GAP && this.#textEnd > 0;
    this.#textSize = dense ? Math.min(this.#textSize * 4, MAX_TEXT_CHUNK) : MIN_TEXT_CHUNK;
    const end = Math.min(Math.max(from + this.#textSize, to), this.end);
    this.#text = latin1Slice.call(this.input, from, end);
    this.#textStart = from;
    this.#textEnd = end;
    this.#isAsciiText = end - from > MIN_ASCII_CHECK && isAscii(this.input.subarray(from, end));
    return true;
  }

  #utf8(from: number, to: number): string {
    const text = utf8Slice.call(this.input, from, to);
    // Invalid UTF-8 becomes this character, which valid text can also contain.
    if (text.includes("\ufffd") && !isUtf8(this.input.subarray(from, to))) {
      throw new CodecRefusal("invalid string: expected UTF-8");
    }
    return text;
  }

  /** Reads `bytes` into memory of their own. */
  getBytes(): Uint8Array {
    const size = this.length();
    const at = this.take(size);
    return new Uint8Array(this.input.subarray(at, at + size));
  }

  /** Reads `bytes` as a Uint8ClampedArray. */
  clamped(): Uint8ClampedArray {
    return new Uint8ClampedArray(this.getBytes().buffer as ArrayBuffer);
  }

  /** Reads a `google.protobuf.Timestamp`, merged into an earlier one, and cut off to milliseconds. */
  date(into?: Date): Date {
    const end = this.enter();
    const date = this.dateFields(end, into);
    this.leave(end);
    return date;
  }

  /** Reads the fields of a `google.protobuf.Timestamp` up to `end`. */
  dateFields(end: number, into?: Date): Date {
    const before = into?.getTime() ?? 0;
    let seconds = Math.floor(before / 1000);
    let millis = before - seconds * 1000;
    while (this.position < end) {
      const tag = this.tag();
      // Conversion to a double is exact for all seconds that a Date can hold.
      if (tag === 0x08) seconds = Number(this.int64());
      else if (tag === 0x10) millis = Math.floor(this.int32() / 1_000_000);
      else this.skip(tag);
    }
    const date = new Date(seconds * 1000 + millis);
    if (Number.isNaN(date.getTime()))
      throw new CodecRefusal("invalid date: expected a time from -8.64e15 to 8.64e15 ms");
    return date;
  }

  /** Reads an enum value, by its codec. */
  enumeration<T>(codec: FieldsReader<T>): T {
    const access = enumAccessOf<T>(codec) ?? this.refuse();
    return access.valueOf(this.int32());
  }

  /** Reads the length of a message and enters the message. Returns its end, for `leave`. */
  enter(): number {
    if (++this.depth > MAX_DEPTH) throw new CodecRefusal(`nested deeper than ${MAX_DEPTH}`);
    const length = this.length();
    return this.position + length;
  }

  /** Leaves a message. Refuses a message whose last field does not end at `end`. */
  leave(end: number): void {
    if (this.position !== end) throw new CodecRefusal("a field goes past the end of its message");
    this.depth--;
  }

  /** Reads a message, by its codec, merged into an earlier occurrence. */
  message<T>(codec: FieldsReader<T>, into?: T): T {
    const end = this.enter();
    const value = codec.readFields(this, end, into);
    this.leave(end);
    return value;
  }

  /** Returns the value of a message without fields, which stands for a field that is missing. */
  absent<T>(codec: FieldsReader<T>): T {
    if (++this.depth > MAX_DEPTH) throw new CodecRefusal(`nested deeper than ${MAX_DEPTH}`);
    const value = codec.readFields(this, this.position, undefined);
    this.depth--;
    return value;
  }

  /**
   * Reads a field that the schema does not have.
   *
   * @param others the unknown fields before it
   * @returns all unknown fields so far, as bytes
   */
  unknown(tag: number, others?: Uint8Array): Uint8Array {
    const from = this.#fieldStart;
    this.skip(tag);
    hasRead.unknownFields = true;
    return appendBytes(others, this.input, from, this.position);
  }

  /** Skips a field. */
  skip(tag: number): void {
    if (tag < 8) throw new CodecRefusal("invalid tag: field number 0");
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
        throw new CodecRefusal(`invalid group: group ${tag >>> 3} ends where it did not begin`);
      case 5:
        this.take(4);
        return;
      default:
        throw new CodecRefusal(`invalid tag: wire type ${tag & 7}`);
    }
  }

  /** Reads the length of a packed field with elements of `size` bytes. Returns the end of the field. */
  #packedLength(size: number): number {
    const length = this.length();
    if (length % size !== 0) throw new CodecRefusal(`invalid packed field: ${length} bytes are not whole elements`);
    return this.position + length;
  }

  #checkPackedEnd(end: number): void {
    if (this.position !== end) throw new CodecRefusal("the last element of a packed field goes past its end");
  }

  // Packed fields. Elements are appended to `into`.

  /** Reads a packed field of `double`. */
  packedDouble(into?: number[]): number[] {
    const end = this.#packedLength(8);
    const from = this.position;
    this.position = end;
    if (into === undefined) return this.#doubles(from, (end - from) >> 3);
    const { view } = this;
    for (let p = from; p < end; p += 8) into.push(view.getFloat64(p, true));
    return into;
  }

  /** Reads `n` doubles from `from` on. Copying them to aligned memory first takes a third of the time. */
  #doubles(from: number, n: number): number[] {
    const values = new Array<number>(n);
    for (let done = 0; done < n; done += aligned.length) {
      const count = Math.min(n - done, aligned.length);
      const start = from + done * 8;
      alignedBytes.set(this.input.subarray(start, start + count * 8));
      let i = 0;
      // Unrolled four times, so that loads overlap with earlier stores.
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

  /** Reads a packed field of `float`. */
  packedFloat(into: number[] = []): number[] {
    const end = this.#packedLength(4);
    const { view } = this;
    for (let p = this.position; p < end; p += 4) into.push(view.getFloat32(p, true));
    this.position = end;
    return into;
  }

  /** Reads a packed field of `fixed32`. */
  packedFixed32(into: number[] = []): number[] {
    const end = this.#packedLength(4);
    while (this.position < end) into.push(this.fixed32());
    return into;
  }

  /** Reads a packed field of `sfixed32`. */
  packedSfixed32(into: number[] = []): number[] {
    const end = this.#packedLength(4);
    while (this.position < end) into.push(this.sfixed32());
    return into;
  }

  /** Reads a packed field of `fixed64`. */
  packedFixed64(into: bigint[] = []): bigint[] {
    const end = this.#packedLength(8);
    while (this.position < end) into.push(this.fixed64());
    return into;
  }

  /** Reads a packed field of `sfixed64`. */
  packedSfixed64(into: bigint[] = []): bigint[] {
    const end = this.#packedLength(8);
    while (this.position < end) into.push(this.sfixed64());
    return into;
  }

  /** Reads a packed field of `bool`. */
  packedBool(into: boolean[] = []): boolean[] {
    const end = this.#packedLength(1);
    while (this.position < end) into.push(this.bool());
    this.#checkPackedEnd(end);
    return into;
  }

  /** Reads a packed field of `uint32`. */
  packedUint32(into: number[] = []): number[] {
    const end = this.#packedLength(1);
    while (this.position < end) into.push(this.varint() >>> 0);
    this.#checkPackedEnd(end);
    return into;
  }

  /** Reads a packed field of `int32`. */
  packedInt32(into: number[] = []): number[] {
    const end = this.#packedLength(1);
    while (this.position < end) into.push(this.varint() | 0);
    this.#checkPackedEnd(end);
    return into;
  }

  /** Reads a packed field of `sint32`. */
  packedSint32(into: number[] = []): number[] {
    const end = this.#packedLength(1);
    while (this.position < end) into.push(this.sint32());
    this.#checkPackedEnd(end);
    return into;
  }

  /** Reads a packed field of `uint64`. */
  packedUint64(into: bigint[] = []): bigint[] {
    const end = this.#packedLength(1);
    while (this.position < end) into.push(this.uint64());
    this.#checkPackedEnd(end);
    return into;
  }

  /** Reads a packed field of `int64`. */
  packedInt64(into: bigint[] = []): bigint[] {
    const end = this.#packedLength(1);
    while (this.position < end) into.push(this.int64());
    this.#checkPackedEnd(end);
    return into;
  }

  /** Reads a packed field of `sint64`. */
  packedSint64(into: bigint[] = []): bigint[] {
    const end = this.#packedLength(1);
    while (this.position < end) into.push(this.sint64());
    this.#checkPackedEnd(end);
    return into;
  }

  /** Reads a packed field of enum values, by their codec. */
  packedEnumeration<T>(codec: FieldsReader<T>, into: T[] = []): T[] {
    const access = enumAccessOf<T>(codec) ?? this.refuse();
    const end = this.#packedLength(1);
    while (this.position < end) into.push(access.valueOf(this.varint() | 0));
    this.#checkPackedEnd(end);
    return into;
  }

  /** Reads a packed field into a typed array of the class `type`. */
  typed<T extends TypedArray>(type: TypedArrayConstructor<T>, into?: T): T {
    const narrow = type.BYTES_PER_ELEMENT < 4;
    const end = this.#packedLength(narrow ? 1 : type.BYTES_PER_ELEMENT);
    if (!narrow) {
      const from = this.position;
      this.position = end;
      return appendElements(type, into, this.input, from, end);
    }
    const from = this.position;
    let count = 0;
    for (let i = from; i < end; i++) if ((this.input[i] as number) < 128) count++;
    const elements = new type(new ArrayBuffer(count * type.BYTES_PER_ELEMENT)) as unknown as number[];
    for (let i = 0; this.position < end; i++) elements[i] = this.#narrowElement(type);
    this.#checkPackedEnd(end);
    const bytes = new Uint8Array((elements as unknown as Uint8Array).buffer);
    return into === undefined ? (elements as unknown as T) : appendElements(type, into, bytes, 0, bytes.length);
  }

  /** Reads one element that is not packed, and appends it to a typed array of the class `type`. */
  typedElement<T extends TypedArray>(type: TypedArrayConstructor<T>, into?: T): T {
    const size = type.BYTES_PER_ELEMENT;
    if (size >= 4) {
      const at = this.take(size);
      return appendElements(type, into, this.input, at, at + size);
    }
    const element = new type(new ArrayBuffer(size));
    element[0] = this.#narrowElement(type);
    return appendElements(type, into, new Uint8Array(element.buffer), 0, size);
  }

  /** Reads an element of 8 or 16 bits. */
  #narrowElement(type: { readonly name: string; readonly BYTES_PER_ELEMENT: number }): number {
    const isSigned = type.name !== "Uint16Array";
    const value = isSigned ? this.sint32() : this.uint32();
    const half = 2 ** (type.BYTES_PER_ELEMENT * 8 - 1);
    if (isSigned ? value < -half || value >= half : value >= half * 2) {
      throw new CodecRefusal(`invalid ${type.name}: ${value} is not in the range of its elements`);
    }
    return value;
  }

  /**
   * Sets a property of an object with arbitrary keys, `__proto__` included.
   *
   * @param key of the property
   */
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
