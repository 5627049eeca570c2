/**
 * Writes messages in the protobuf layout. The caller decides whether a field is written at all, for example whether a
 * default value is omitted.
 */
import { Batch, tooLarge } from "../batch.js";
import { CodecRefusal } from "../codec-refusal.js";
import { MAX_DEPTH, MAX_MESSAGE_BYTES, MIN_BLOCK_BYTES } from "../limits.js";
import type { MessageHandles } from "../message-handles.js";
import type { TypedArray, TypedArrayConstructor } from "../typed-array.js";
import { enumAccessOf } from "./enum-access.js";

/** One 64-bit number, viewed as a whole and as two words. */
const long = new BigInt64Array(1);
const unsignedLong = new BigUint64Array(long.buffer);
const words = new Int32Array(long.buffer);

/** Texts up to this size are written unit by unit: a native call takes longer. */
const SHORT_UNITS = 32;

/** Bytes of the value that belong to the message and have not been copied into the writer. */
interface SplicedBytes {
  /** The byte offset in the writer before which they belong. */
  at: number;
  readonly bytes: Uint8Array;
}

/** The part of a codec that writes the fields of a message. */
export interface FieldsWriter<T> {
  writeFields(w: ProtobufWriter, value: T): void;
}

/**
 * Writes messages in the protobuf layout, for generated code. Methods named after a scalar type write one field; those
 * that start with `packed` write a packed field. In all methods, `tag` is `number << 3 | wire type`, and `p` is a byte
 * offset. A `value` without the type, or `values` that are not an array of the type, are refused.
 */
export class ProtobufWriter extends Batch {
  /** The number of messages around the current field. */
  depth = 0;
  /** Whether this is the second attempt, which finds the field that an error is about. */
  tracing = false;
  /**
   * The codecs of handles that this message uses in place of the registered ones.
   *
   * @internal
   */
  handles: MessageHandles | undefined = undefined;
  /** Whether a message is being written. */
  busy = false;
  /** Large bytes of the message that stay where they are, in order. Undefined: everything is copied. */
  #spliced: SplicedBytes[] | undefined = undefined;

  /**
   * Leaves large bytes and typed arrays of the next messages where they are. `takeParts` then returns the message.
   *
   * @internal
   */
  splice(): void {
    this.#spliced = [];
  }

  /**
   * Returns the written message and empties the writer. The message consists of all parts, one after the other. Parts can be
   * memory of the value, and others are memory of their own.
   *
   * @internal
   * @throws {CodecRefusal} when the message is too large
   */
  takeParts(): Uint8Array[] {
    const spliced = this.#spliced ?? [];
    let total = this.position;
    for (const { bytes } of spliced) total += bytes.length;
    if (total > MAX_MESSAGE_BYTES) throw tooLarge();
    const own = this.detach();
    const parts: Uint8Array[] = [];
    let from = 0;
    for (const { at, bytes } of spliced) {
      if (at > from) parts.push(own.subarray(from, at));
      parts.push(bytes);
      from = at;
    }
    if (from < own.length) parts.push(own.subarray(from));
    spliced.length = 0;
    return parts;
  }

  /** Refuses the value. A second attempt finds the field and the reason. */
  refuse(): never {
    throw new CodecRefusal();
  }

  /** Refuses a value that is not an object. */
  requireObject(value: unknown): void {
    if (typeof value !== "object" || value === null) this.refuse();
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

  /**
   * Writes a tag, and reserves room behind it. The caller sets `position`.
   *
   * @param room number of bytes
   * @returns the byte offset behind the tag
   */
  tag(tag: number, room: number): number {
    let p = this.position;
    if (p + room + 5 > this.capacity) this.grow(p + room + 5);
    const bytes = this.bytes;
    if (tag < 128) {
      bytes[p] = tag;
      return p + 1;
    }
    let rest = tag;
    while (rest > 127) {
      bytes[p++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    bytes[p++] = rest;
    return p;
  }

  /** Writes a varint of 32 bits where room has been reserved. Returns the byte offset behind it. */
  varint(p: number, value: number): number {
    const bytes = this.bytes;
    let at = p;
    let rest = value >>> 0;
    while (rest > 127) {
      bytes[at++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    bytes[at++] = rest;
    return at;
  }

  /** Writes a `uint32`. */
  uint32(tag: number, value: number): void {
    if (value !== value >>> 0) this.refuse();
    const p = this.tag(tag, 5);
    this.position = this.varint(p, value);
  }

  /** Writes a `int32`. */
  int32(tag: number, value: number): void {
    if (value !== (value | 0)) this.refuse();
    const p = this.tag(tag, 10);
    this.position = value >= 0 ? this.varint(p, value) : this.varint64(p, value, -1);
  }

  /** Writes a `sint32`. */
  sint32(tag: number, value: number): void {
    if (value !== (value | 0)) this.refuse();
    const p = this.tag(tag, 5);
    this.position = this.varint(p, (value << 1) ^ (value >> 31));
  }

  /** Writes a `bool`. */
  bool(tag: number, value: boolean): void {
    if (typeof value !== "boolean") this.refuse();
    const p = this.tag(tag, 1);
    this.bytes[p] = value ? 1 : 0;
    this.position = p + 1;
  }

  /** Writes a `fixed32`. */
  fixed32(tag: number, value: number): void {
    if (value !== value >>> 0) this.refuse();
    const p = this.tag(tag, 4);
    this.view.setUint32(p, value, true);
    this.position = p + 4;
  }

  /** Writes a `sfixed32`. */
  sfixed32(tag: number, value: number): void {
    if (value !== (value | 0)) this.refuse();
    const p = this.tag(tag, 4);
    this.view.setInt32(p, value, true);
    this.position = p + 4;
  }

  /** Writes a `double`. */
  double(tag: number, value: number): void {
    if (typeof value !== "number") this.refuse();
    const p = this.tag(tag, 8);
    this.view.setFloat64(p, value, true);
    this.position = p + 8;
  }

  /** Writes a `float`: rounded to the nearest, refused if the result would be infinite. */
  float(tag: number, value: number): void {
    const rounded = this.rounded(value);
    const p = this.tag(tag, 4);
    this.view.setFloat32(p, rounded, true);
    this.position = p + 4;
  }

  /** Returns `value` as a single-precision number. Refuses a number that would become infinite. */
  rounded(value: number): number {
    if (typeof value !== "number") this.refuse();
    const rounded = Math.fround(value);
    if (!Number.isFinite(rounded) && Number.isFinite(value)) this.refuse();
    return rounded;
  }

  /** Writes a `int64`. */
  int64(tag: number, value: bigint): void {
    this.requireInt64(value);
    const p = this.tag(tag, 10);
    long[0] = value;
    this.position = this.varint64(p, words[0] as number, words[1] as number);
  }

  /** Writes a `uint64`. */
  uint64(tag: number, value: bigint): void {
    this.requireUint64(value);
    const p = this.tag(tag, 10);
    unsignedLong[0] = value;
    this.position = this.varint64(p, words[0] as number, words[1] as number);
  }

  /** Writes a `sint64`. */
  sint64(tag: number, value: bigint): void {
    this.requireInt64(value);
    const p = this.tag(tag, 10);
    this.position = this.zigzag64(p, value);
  }

  /** Writes a `fixed64`. */
  fixed64(tag: number, value: bigint): void {
    this.requireUint64(value);
    const p = this.tag(tag, 8);
    this.view.setBigUint64(p, value, true);
    this.position = p + 8;
  }

  /** Writes a `sfixed64`. */
  sfixed64(tag: number, value: bigint): void {
    this.requireInt64(value);
    const p = this.tag(tag, 8);
    this.view.setBigInt64(p, value, true);
    this.position = p + 8;
  }

  /** Refuses a value that is not an integer from -2^63 to 2^63 - 1. */
  requireInt64(value: bigint): void {
    if (typeof value !== "bigint" || value !== BigInt.asIntN(64, value)) this.refuse();
  }

  /** Refuses a value that is not an integer from 0 to 2^64 - 1. */
  requireUint64(value: bigint): void {
    if (typeof value !== "bigint" || value !== BigInt.asUintN(64, value)) this.refuse();
  }

  /** Writes a zigzag varint of 64 bits where room has been reserved. Returns the byte offset behind it. */
  zigzag64(p: number, value: bigint): number {
    long[0] = value;
    const low = words[0] as number;
    const high = words[1] as number;
    const sign = high >> 31;
    return this.varint64(p, (low << 1) ^ sign, ((high << 1) | (low >>> 31)) ^ sign);
  }

  /**
   * Writes a varint of 64 bits where room has been reserved. Returns the byte offset behind it.
   *
   * @param low the lower 32 bits
   * @param high the upper 32 bits
   */
  varint64(p: number, low: number, high: number): number {
    const bytes = this.bytes;
    let at = p;
    let lower = low >>> 0;
    let upper = high >>> 0;
    while (upper > 0) {
      bytes[at++] = (lower & 127) | 128;
      lower = ((lower >>> 7) | (upper << 25)) >>> 0;
      upper >>>= 7;
    }
    return this.varint(at, lower);
  }

  /** Writes a `string` as UTF-8. Refuses lone surrogates. */
  string(tag: number, value: string): void {
    if (typeof value !== "string") this.refuse();
    const units = value.length;
    if (units > SHORT_UNITS) {
      this.#longString(tag, value);
      return;
    }
    const p = this.tag(tag, units + 1);
    const bytes = this.bytes;
    let at = p + 1;
    let bits = 0;
    for (let i = 0; i < units; i++) {
      const unit = value.charCodeAt(i);
      bits |= unit;
      bytes[at++] = unit;
    }
    if (bits > 127) {
      this.#longString(tag, value);
      return;
    }
    bytes[p] = units;
    this.position = at;
  }

  #longString(tag: number, value: string): void {
    const units = value.length;
    const p = this.tag(tag, units * 3 + 5);
    const guess = varintSize(units);
    const size = this.bytes.utf8Write(value, p + guess, units * 3);
    // Text with as many bytes as UTF-16 units is ASCII.
    if (size !== units) {
      if (!value.isWellFormed()) this.refuse();
      const real = varintSize(size);
      if (real !== guess) this.bytes.copyWithin(p + real, p + guess, p + guess + size);
    }
    this.position = this.varint(p, size) + size;
  }

  /** Writes `bytes`. */
  putBytes(tag: number, value: Uint8Array): void {
    if (!(value instanceof Uint8Array)) this.refuse();
    this.#writeRaw(tag, value);
  }

  /** Writes a Uint8ClampedArray as `bytes`. */
  clamped(tag: number, value: Uint8ClampedArray): void {
    if (!(value instanceof Uint8ClampedArray)) this.refuse();
    this.#writeRaw(tag, new Uint8Array(value.buffer, value.byteOffset, value.length));
  }

  #writeRaw(tag: number, value: Uint8Array): void {
    const size = value.length;
    if (this.#spliced !== undefined && size >= MIN_BLOCK_BYTES) {
      this.position = this.varint(this.tag(tag, 5), size);
      this.#spliced.push({ at: this.position, bytes: value });
      return;
    }
    const p = this.varint(this.tag(tag, size + 5), size);
    this.bytes.set(value, p);
    this.position = p + size;
  }

  /** Writes a date as a `google.protobuf.Timestamp`. Refuses invalid dates. */
  date(tag: number, value: Date): void {
    const start = this.begin(tag);
    this.dateFields(value);
    this.end(start);
  }

  /** Writes the fields of a `google.protobuf.Timestamp`. */
  dateFields(value: Date): void {
    if (!(value instanceof Date)) this.refuse();
    const time = value.getTime();
    if (Number.isNaN(time)) this.refuse();
    const seconds = Math.floor(time / 1000);
    if (seconds !== 0) {
      const p = this.tag(0x08, 10);
      this.position = this.varint64(p, seconds | 0, Math.floor(seconds / 0x1_0000_0000));
    }
    const nanos = (time - seconds * 1000) * 1_000_000;
    if (nanos !== 0) this.uint32(0x10, nanos);
  }

  /** Writes an enum value, by its codec. */
  enumeration<T>(tag: number, codec: FieldsWriter<T>, value: T): void {
    const access = enumAccessOf<T>(codec) ?? this.refuse();
    this.int32(tag, access.numberOf(value));
  }

  /** Starts a message: writes its tag, and reserves room for its length. Returns the parameter of `end`. */
  begin(tag: number): number {
    if (++this.depth > MAX_DEPTH) throw new CodecRefusal(`nested deeper than ${MAX_DEPTH}`);
    const start = this.tag(tag, 1) + 1;
    this.position = start;
    return start;
  }

  /**
   * Ends a message: writes its length.
   *
   * @param start the result of `begin`
   */
  end(start: number): void {
    this.depth--;
    let size = this.position - start;
    if (this.#spliced !== undefined) for (const { bytes } of splicedAfter(this.#spliced, start)) size += bytes.length;
    this.#setLength(start, size);
  }

  #setLength(start: number, size: number): void {
    if (size < 128) this.bytes[start - 1] = size;
    else this.#widenLength(start, size);
  }

  #widenLength(start: number, size: number): void {
    const more = varintSize(size) - 1;
    const end = this.position;
    this.reserve(more);
    this.bytes.copyWithin(start + more, start, end);
    this.varint(start - 1, size);
    if (this.#spliced !== undefined) for (const later of splicedAfter(this.#spliced, start)) later.at += more;
  }

  /** Writes a message, by its codec. */
  message<T>(tag: number, codec: FieldsWriter<T>, value: T): void {
    const start = this.begin(tag);
    codec.writeFields(this, value);
    this.end(start);
  }

  /** Writes the unknown fields that a message has kept, as they were read. */
  unknown(fields: Uint8Array | undefined): void {
    if (fields === undefined) return;
    if (!(fields instanceof Uint8Array)) throw new CodecRefusal("invalid unknown fields: expected a Uint8Array");
    const at = this.reserve(fields.length);
    this.bytes.set(fields, at);
  }

  /** Tag and length of a packed field of `size` bytes. The position behind, where there is room for them. */
  #beginFixedPacked(tag: number, size: number): number {
    return this.varint(this.tag(tag, size + 5), size);
  }

  /** Tag and a byte for the length of a packed field of up to `size` bytes. The position behind. */
  #beginPacked(tag: number, size: number): number {
    return this.tag(tag, size + 1) + 1;
  }

  #endPacked(start: number, position: number): void {
    this.position = position;
    this.#setLength(start, position - start);
  }

  // Packed fields: nothing is written where there are no elements.

  /** Writes a packed field of `double`. */
  packedDouble(tag: number, values: readonly number[]): void {
    this.requireArray(values);
    const n = values.length;
    if (n === 0) return;
    let p = this.#beginFixedPacked(tag, n * 8);
    const view = this.view;
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
      view.setFloat64(p, a, true);
      view.setFloat64(p + 8, b, true);
      view.setFloat64(p + 16, c, true);
      view.setFloat64(p + 24, d, true);
      p += 32;
    }
    for (; i < n; i++) {
      const a = values[i];
      if (typeof a !== "number") this.refuse();
      view.setFloat64(p, a, true);
      p += 8;
    }
    this.position = p;
  }

  /** Writes a packed field of `float`. */
  packedFloat(tag: number, values: readonly number[]): void {
    this.requireArray(values);
    const n = values.length;
    if (n === 0) return;
    const p = this.#beginFixedPacked(tag, n * 4);
    for (let i = 0; i < n; i++) this.view.setFloat32(p + i * 4, this.rounded(values[i] as number), true);
    this.position = p + n * 4;
  }

  /** Writes a packed field of `fixed32`. */
  packedFixed32(tag: number, values: readonly number[]): void {
    this.requireArray(values);
    const n = values.length;
    if (n === 0) return;
    const p = this.#beginFixedPacked(tag, n * 4);
    for (let i = 0; i < n; i++) {
      const value = values[i] as number;
      if (value !== value >>> 0) this.refuse();
      this.view.setUint32(p + i * 4, value, true);
    }
    this.position = p + n * 4;
  }

  /** Writes a packed field of `sfixed32`. */
  packedSfixed32(tag: number, values: readonly number[]): void {
    this.requireArray(values);
    const n = values.length;
    if (n === 0) return;
    const p = this.#beginFixedPacked(tag, n * 4);
    for (let i = 0; i < n; i++) {
      const value = values[i] as number;
      if (value !== (value | 0)) this.refuse();
      this.view.setInt32(p + i * 4, value, true);
    }
    this.position = p + n * 4;
  }

  /** Writes a packed field of `fixed64`. */
  packedFixed64(tag: number, values: readonly bigint[]): void {
    this.requireArray(values);
    const n = values.length;
    if (n === 0) return;
    const p = this.#beginFixedPacked(tag, n * 8);
    for (let i = 0; i < n; i++) {
      const value = values[i] as bigint;
      this.requireUint64(value);
      this.view.setBigUint64(p + i * 8, value, true);
    }
    this.position = p + n * 8;
  }

  /** Writes a packed field of `sfixed64`. */
  packedSfixed64(tag: number, values: readonly bigint[]): void {
    this.requireArray(values);
    const n = values.length;
    if (n === 0) return;
    const p = this.#beginFixedPacked(tag, n * 8);
    for (let i = 0; i < n; i++) {
      const value = values[i] as bigint;
      this.requireInt64(value);
      this.view.setBigInt64(p + i * 8, value, true);
    }
    this.position = p + n * 8;
  }

  /** Writes a packed field of `bool`. */
  packedBool(tag: number, values: readonly boolean[]): void {
    this.requireArray(values);
    const n = values.length;
    if (n === 0) return;
    const p = this.#beginFixedPacked(tag, n);
    for (let i = 0; i < n; i++) {
      const value = values[i];
      if (typeof value !== "boolean") this.refuse();
      this.bytes[p + i] = value ? 1 : 0;
    }
    this.position = p + n;
  }

  /** Writes a packed field of `uint32`. */
  packedUint32(tag: number, values: readonly number[]): void {
    this.requireArray(values);
    const n = values.length;
    if (n === 0) return;
    const start = this.#beginPacked(tag, n * 5);
    let p = start;
    for (let i = 0; i < n; i++) {
      const value = values[i] as number;
      if (value !== value >>> 0) this.refuse();
      p = this.varint(p, value);
    }
    this.#endPacked(start, p);
  }

  /** Writes a packed field of `int32`. */
  packedInt32(tag: number, values: readonly number[]): void {
    this.requireArray(values);
    const n = values.length;
    if (n === 0) return;
    const start = this.#beginPacked(tag, n * 10);
    let p = start;
    for (let i = 0; i < n; i++) {
      const value = values[i] as number;
      if (value !== (value | 0)) this.refuse();
      p = value >= 0 ? this.varint(p, value) : this.varint64(p, value, -1);
    }
    this.#endPacked(start, p);
  }

  /** Writes a packed field of `sint32`. */
  packedSint32(tag: number, values: readonly number[]): void {
    this.requireArray(values);
    this.#packedZigzag(tag, values);
  }

  #packedZigzag(tag: number, values: { readonly length: number; readonly [i: number]: number }): void {
    const n = values.length;
    if (n === 0) return;
    const start = this.#beginPacked(tag, n * 5);
    let p = start;
    for (let i = 0; i < n; i++) {
      const value = values[i] as number;
      if (value !== (value | 0)) this.refuse();
      p = this.varint(p, (value << 1) ^ (value >> 31));
    }
    this.#endPacked(start, p);
  }

  /** Writes a packed field of `uint64`. */
  packedUint64(tag: number, values: readonly bigint[]): void {
    this.requireArray(values);
    const n = values.length;
    if (n === 0) return;
    const start = this.#beginPacked(tag, n * 10);
    let p = start;
    for (let i = 0; i < n; i++) {
      const value = values[i] as bigint;
      this.requireUint64(value);
      unsignedLong[0] = value;
      p = this.varint64(p, words[0] as number, words[1] as number);
    }
    this.#endPacked(start, p);
  }

  /** Writes a packed field of `int64`. */
  packedInt64(tag: number, values: readonly bigint[]): void {
    this.requireArray(values);
    const n = values.length;
    if (n === 0) return;
    const start = this.#beginPacked(tag, n * 10);
    let p = start;
    for (let i = 0; i < n; i++) {
      const value = values[i] as bigint;
      this.requireInt64(value);
      long[0] = value;
      p = this.varint64(p, words[0] as number, words[1] as number);
    }
    this.#endPacked(start, p);
  }

  /** Writes a packed field of `sint64`. */
  packedSint64(tag: number, values: readonly bigint[]): void {
    this.requireArray(values);
    const n = values.length;
    if (n === 0) return;
    const start = this.#beginPacked(tag, n * 10);
    let p = start;
    for (let i = 0; i < n; i++) {
      const value = values[i] as bigint;
      this.requireInt64(value);
      p = this.zigzag64(p, value);
    }
    this.#endPacked(start, p);
  }

  /** Writes a packed field of enum values, by their codec. */
  packedEnumeration<T>(tag: number, codec: FieldsWriter<T>, values: readonly T[]): void {
    this.requireArray(values);
    const access = enumAccessOf<T>(codec) ?? this.refuse();
    this.packedInt32(
      tag,
      values.map((value) => access.numberOf(value)),
    );
  }

  /** Writes a typed array of the class `type` as a packed field. */
  typed<T extends TypedArray>(tag: number, type: TypedArrayConstructor<T>, value: T): void {
    if (!(value instanceof type)) this.refuse();
    if (value.length === 0) return;
    if (value instanceof Uint16Array) {
      const start = this.#beginPacked(tag, value.length * 3);
      let p = start;
      for (const element of value) p = this.varint(p, element);
      this.#endPacked(start, p);
    } else if (value instanceof Int8Array || value instanceof Int16Array) {
      this.#packedZigzag(tag, value);
    } else {
      this.#writeRaw(tag, new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    }
  }
}

/** Returns the bytes that belong behind an offset, from the last to the first. */
function* splicedAfter(spliced: readonly SplicedBytes[], start: number): Generator<SplicedBytes> {
  for (let i = spliced.length - 1; i >= 0; i--) {
    const last = spliced[i] as SplicedBytes;
    if (last.at <= start) return;
    yield last;
  }
}

/** Bytes of a varint of up to 32 bits. */
function varintSize(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  return value < 0x1000_0000 ? 4 : 5;
}
