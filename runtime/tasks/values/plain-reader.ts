/**
 * Reads plain values from bytes that are not trusted. Counts and lengths are compared with the bytes that are left before
 * memory is allocated, so that decoding takes memory in proportion to the bytes.
 */
import { constants } from "node:buffer";
import { CodecError } from "../../index.js";
import { binaryClasses, binaryOf, copyOf } from "./binary-classes.js";
import { readName } from "./key-cache.js";
import * as layout from "./layout.js";
import type { RefReader } from "./references.js";

/** Methods of `Buffer` that its type declarations lack. */
interface TextSlices {
  latin1Slice(this: Uint8Array, start: number, end: number): string;
  ucs2Slice(this: Uint8Array, start: number, end: number): string;
}
const { latin1Slice, ucs2Slice } = Buffer.prototype as unknown as TextSlices;
const { fromCharCode } = String;

/** Up to this length, making a text from single units takes less time than a native call. */
const MAX_JOINED_UNITS = 8;
/** V8 makes larger arrays dictionaries if they are created with a length. */
const MAX_SIZED_ARRAY = 1 << 16;
/** The largest number of hexadecimal digits of a bigint in V8. */
const MAX_DIGITS = 1 << 28;

/** Reinterprets eight bytes. Creating a DataView for each value would take longer. */
const scratch = new ArrayBuffer(8);
const scratchBytes = new Uint8Array(scratch);
const scratchDoubles = new Float64Array(scratch);
const scratchInts = new Int32Array(scratch);
const scratchBigInts = new BigInt64Array(scratch);

/** The memory of an encoded value from which only the first bytes were read. */
export interface ApartBytes {
  /** The number of bytes of the whole value. */
  readonly size: number;
  /** Returns memory with a part of the value, which belongs to the reader. @param from a multiple of the page size */
  at(from: number, size: number): ArrayBuffer;
}

/** Reads one value. */
export class PlainReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #refs: RefReader;
  readonly #apart: ApartBytes | undefined;
  #position = 0;
  /** The start of the first binary value that is apart, and the end of the last one. A negative start: there is none yet. */
  #apartFrom = -1;
  #apartEnd = 0;

  /**
   * Starts at the first byte.
   *
   * @param bytes the encoded value
   * @param refs reads references
   * @param apart the memory with what follows the bytes; absent: the bytes are the whole value
   */
  constructor(bytes: Uint8Array, refs: RefReader, apart?: ApartBytes) {
    this.#bytes = bytes;
    this.#end = bytes.length;
    this.#refs = refs;
    this.#apart = apart;
  }

  /** Reads the value, which must end with the bytes. Throws a CodecError. */
  read(): unknown {
    const value = this.#value(0);
    const isWhole = this.#apartFrom < 0 ? this.#position === this.#end : this.#apartEnd === this.#size;
    if (!isWhole) this.#refuse("there are more bytes than the value needs");
    if (this.#apartFrom >= 0 && this.#position > this.#apartFrom) this.#refuse("a binary value overlaps the others");
    return value;
  }

  #value(depth: number): unknown {
    const tag = this.#byte();
    if (tag < layout.TEXT) return tag;
    if (tag < layout.ARRAY) return this.#shortText(tag & layout.MAX_SHORT_TEXT);
    if (tag < layout.OBJECT) return this.#list(tag & layout.MAX_SHORT_COUNT, depth);
    if (tag < layout.NULL) return this.#record({}, tag & layout.MAX_SHORT_COUNT, depth);
    switch (tag) {
      case layout.NULL:
        return null;
      case layout.UNDEFINED:
        return undefined;
      case layout.FALSE:
        return false;
      case layout.TRUE:
        return true;
      case layout.INT32:
        this.#toScratch(4);
        return scratchInts[0];
      case layout.DOUBLE:
        this.#toScratch(8);
        return scratchDoubles[0];
      case layout.BIGINT64:
        this.#toScratch(8);
        return scratchBigInts[0];
      case layout.BIGINT:
        return this.#bigint();
      case layout.LONG_LATIN1:
        return this.#longText(1);
      case layout.LONG_UTF16:
        return this.#longText(2);
      case layout.LONG_ARRAY:
        return this.#list(this.#count(1), depth);
      case layout.NUMBERS:
        return this.#numbers();
      case layout.LONG_OBJECT:
        return this.#record({}, this.#count(2), depth);
      case layout.NULL_OBJECT:
        return this.#record(Object.create(null) as Record<string, unknown>, this.#count(2), depth);
      case layout.DATE:
        this.#toScratch(8);
        return new Date(scratchDoubles[0] as number);
      case layout.MAP:
        return this.#map(depth);
      case layout.SET:
        return this.#set(depth);
      case layout.BINARY:
        return this.#binary();
      case layout.BINARY_APART:
        return this.#binaryApart();
      case layout.REFERENCE:
        return this.#reference();
      default:
        return this.#refuse(`unknown tag ${tag}`);
    }
  }

  #byte(): number {
    const at = this.#position;
    if (at >= this.#end) this.#refuse("the bytes end too early");
    this.#position = at + 1;
    return this.#bytes[at] as number;
  }

  /** Returns where the next `size` bytes start, and skips them. */
  #take(size: number): number {
    const at = this.#position;
    if (size > this.#end - at) this.#refuse("the bytes end too early");
    this.#position = at + size;
    return at;
  }

  #toScratch(size: number): void {
    const at = this.#take(size);
    const bytes = this.#bytes;
    for (let i = 0; i < size; i++) scratchBytes[i] = bytes[at + i] as number;
  }

  #length(): number {
    const first = this.#byte();
    if (first < 0x80) return first;
    let length = first & 0x7f;
    let factor = 0x80;
    for (let i = 0; i < 4; i++) {
      const byte = this.#byte();
      length += (byte & 0x7f) * factor;
      if (byte < 0x80) return length;
      factor *= 0x80;
    }
    return this.#refuse("a length has more than five bytes");
  }

  /** Reads the number of items, each of which takes at least `size` bytes. */
  #count(size: number): number {
    const count = this.#length();
    if (count * size > this.#end - this.#position) this.#refuse(`there are fewer bytes than ${count} items need`);
    return count;
  }

  #shortText(units: number): string {
    const at = this.#take(units);
    return units <= MAX_JOINED_UNITS
      ? joinUnits(this.#bytes, at, units)
      : latin1Slice.call(this.#bytes, at, at + units);
  }

  #longText(size: 1 | 2): string {
    const units = this.#count(size);
    if (units > constants.MAX_STRING_LENGTH) this.#refuse(`a text of ${units} units is too long for Node.js`);
    const at = this.#take(units * size);
    const end = at + units * size;
    return size === 1 ? latin1Slice.call(this.#bytes, at, end) : ucs2Slice.call(this.#bytes, at, end);
  }

  #bigint(): bigint {
    const length = this.#count(1);
    const at = this.#take(length);
    const digits = latin1Slice.call(this.#bytes, at, at + length);
    const isNegative = digits.startsWith("-");
    if (!/^-?[0-9a-f]+$/.test(digits) || length - Number(isNegative) > MAX_DIGITS) {
      this.#refuse("a bigint is not a hexadecimal number");
    }
    return isNegative ? -BigInt(`0x${digits.slice(1)}`) : BigInt(`0x${digits}`);
  }

  #list(count: number, depth: number): unknown[] {
    this.#enter(depth);
    if (count > this.#end - this.#position) this.#refuse(`there are fewer bytes than ${count} items need`);
    const values = count <= MAX_SIZED_ARRAY ? new Array<unknown>(count) : [];
    for (let i = 0; i < count; i++) values[i] = this.#value(depth + 1);
    return values;
  }

  #numbers(): number[] {
    const count = this.#count(8);
    const from = this.#take(count * 8);
    const view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset + from, count * 8);
    const values = count <= MAX_SIZED_ARRAY ? new Array<number>(count) : [];
    for (let i = 0; i < count; i++) values[i] = view.getFloat64(i * 8, true);
    return values;
  }

  #record(record: Record<string, unknown>, count: number, depth: number): Record<string, unknown> {
    this.#enter(depth);
    for (let i = 0; i < count; i++) {
      const name = this.#name();
      const value = this.#value(depth + 1);
      if (name === "__proto__") {
        Object.defineProperty(record, name, { value, writable: true, enumerable: true, configurable: true });
      } else {
        record[name] = value;
      }
    }
    return record;
  }

  #name(): string {
    const tag = this.#byte();
    if (tag >= layout.TEXT && tag < layout.ARRAY) {
      const units = tag & layout.MAX_SHORT_TEXT;
      const at = this.#take(units);
      return readName(this.#bytes, at, at + units);
    }
    if (tag === layout.LONG_LATIN1) return this.#longText(1);
    if (tag === layout.LONG_UTF16) return this.#longText(2);
    return this.#refuse(`the name of a property has the tag ${tag}`);
  }

  #map(depth: number): Map<unknown, unknown> {
    this.#enter(depth);
    const count = this.#entries(2);
    const entries = new Map<unknown, unknown>();
    for (let i = 0; i < count; i++) {
      const key = this.#value(depth + 1);
      entries.set(key, this.#value(depth + 1));
    }
    return entries;
  }

  #set(depth: number): Set<unknown> {
    this.#enter(depth);
    const count = this.#entries(1);
    const members = new Set<unknown>();
    for (let i = 0; i < count; i++) members.add(this.#value(depth + 1));
    return members;
  }

  #entries(size: number): number {
    const count = this.#count(size);
    if (count > layout.MAX_ENTRIES) this.#refuse(`${count} entries are too many for a Map or Set`);
    return count;
  }

  #binary(): ArrayBuffer | ArrayBufferView {
    const index = this.#byte();
    const size = this.#count(1);
    const kind = this.#kind(index, size);
    return binaryOf(kind, copyOf(this.#bytes, this.#take(size), size));
  }

  #binaryApart(): ArrayBuffer | ArrayBufferView {
    const index = this.#byte();
    const size = this.#length();
    const kind = this.#kind(index, size);
    this.#toScratch(4);
    const from = (scratchInts[0] as number) * layout.PAGE_BYTES;
    // They follow each other, so that a value takes memory in proportion to its bytes.
    if (from < this.#apartEnd || from < 0 || size > this.#size - from) this.#refuse(`no ${size} bytes at ${from}`);
    if (this.#apartFrom < 0) this.#apartFrom = from;
    this.#apartEnd = from + size;
    return binaryOf(kind, this.#apart?.at(from, size) ?? copyOf(this.#bytes, from, size));
  }

  /** The number of bytes of the whole value. */
  get #size(): number {
    return this.#apart?.size ?? this.#end;
  }

  #kind(index: number, size: number): (typeof binaryClasses)[number] {
    const kind = binaryClasses[index];
    if (kind === undefined) return this.#refuse(`unknown class ${index} of binary values`);
    if (size % kind.bytes !== 0) this.#refuse(`${size} bytes are no ${kind.name}`);
    if (kind.view === undefined && kind.name !== "ArrayBuffer") {
      this.#refuse(`Node.js ${process.versions.node} has no ${kind.name}`);
    }
    return kind;
  }

  #reference(): unknown {
    const size = this.#count(1);
    const at = this.#take(size);
    return this.#refs.read(this.#bytes.subarray(at, at + size));
  }

  #enter(depth: number): void {
    if (depth === layout.MAX_DEPTH) this.#refuse(`nested deeper than ${layout.MAX_DEPTH}`);
  }

  #refuse(reason: string): never {
    throw new CodecError("decode", "plain value", `${reason}, at byte ${this.#position} of ${this.#end}`);
  }
}

/** Makes a short text. Texts of at most 12 units are never ropes in V8. */
function joinUnits(bytes: Uint8Array, at: number, units: number): string {
  switch (units) {
    case 0:
      return "";
    case 1:
      return fromCharCode(bytes[at] as number);
    case 2:
      return fromCharCode(bytes[at] as number, bytes[at + 1] as number);
    case 3:
      return fromCharCode(bytes[at] as number, bytes[at + 1] as number, bytes[at + 2] as number);
    case 4:
      return fromCharCode(
        bytes[at] as number,
        bytes[at + 1] as number,
        bytes[at + 2] as number,
        bytes[at + 3] as number,
      );
    default:
      return joinUnits(bytes, at, 4) + joinUnits(bytes, at + 4, units - 4);
  }
}
