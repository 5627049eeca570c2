/**
 * Writes plain values. A value that is none is refused without its place, so that writing keeps no path; the caller asks
 * `explainRefusal` for the place.
 */
import * as kinds from "./classify.js";
import * as layout from "./layout.js";
import { Page } from "./page.js";
import { PlainRefusal } from "./plain-refusal.js";
import { changedFault } from "./plain-value-error.js";
import type { RefWriter } from "./references.js";

/** An array of at least this length that contains numbers alone is written without tags. */
const MIN_NUMBERS = 8;
const { is, keys, getOwnPropertyDescriptor, getOwnPropertySymbols } = Object;

/** Large binary values that are apart from the others, in their order. */
interface Apart {
  readonly bytes: Uint8Array;
  /** The position at which the number of their first page is to be written. */
  readonly pageAt: number;
}

/** Writes one value at a time. */
export class PlainWriter {
  readonly #page = new Page();
  #refs: RefWriter | undefined;
  /** Whether large binary values are put apart, and those that have been. */
  #isParting = false;
  #apart: Apart[] | undefined;

  /** Encodes a value. Throws a PlainRefusal if it is not plain. */
  encode(value: unknown, refs: RefWriter): Uint8Array {
    this.#refs = refs;
    try {
      this.#value(value, 0);
    } catch (error) {
      this.#page.clear();
      throw error;
    } finally {
      this.#refs = undefined;
    }
    return this.#page.finish();
  }

  /**
   * Encodes a value whose large binary values are not copied. Throws as `encode` does.
   *
   * @returns the bytes before them, and then each of them after the zeros that fill the last page before it; the bytes alone if there
   *   are no large binary values
   */
  encodeParts(value: unknown, refs: RefWriter): Uint8Array | readonly Uint8Array[] {
    this.#isParting = true;
    try {
      const head = this.encode(value, refs);
      return this.#apart === undefined ? head : joinApart(head, this.#apart);
    } finally {
      this.#isParting = false;
      this.#apart = undefined;
    }
  }

  #value(value: unknown, depth: number): void {
    switch (typeof value) {
      case "number":
        this.#number(value);
        return;
      case "string":
        this.#text(value);
        return;
      case "object":
        if (value === null) this.#tag(layout.NULL);
        else this.#object(value, depth);
        return;
      case "boolean":
        this.#tag(value ? layout.TRUE : layout.FALSE);
        return;
      case "undefined":
        this.#tag(layout.UNDEFINED);
        return;
      case "bigint":
        this.#bigint(value);
        return;
      default:
        throw new PlainRefusal();
    }
  }

  #tag(tag: number): void {
    const page = this.#page;
    const at = page.take(1);
    page.bytes[at] = tag;
  }

  #number(value: number): void {
    const page = this.#page;
    if ((value | 0) !== value || is(value, -0)) {
      const at = page.take(9);
      page.bytes[at] = layout.DOUBLE;
      page.view.setFloat64(at + 1, value, true);
    } else if (value >= 0 && value < layout.TEXT) {
      const at = page.take(1);
      page.bytes[at] = value;
    } else {
      const at = page.take(5);
      page.bytes[at] = layout.INT32;
      page.view.setInt32(at + 1, value, true);
    }
  }

  #bigint(value: bigint): void {
    const page = this.#page;
    if (BigInt.asIntN(64, value) === value) {
      const at = page.take(9);
      page.bytes[at] = layout.BIGINT64;
      page.view.setBigInt64(at + 1, value, true);
      return;
    }
    const digits = value.toString(16);
    this.#head(layout.BIGINT, digits.length);
    const at = page.take(digits.length);
    page.bytes.latin1Write(digits, at, digits.length);
  }

  /** Writes a tag and a length or count. */
  #head(tag: number, length: number): void {
    const page = this.#page;
    page.ensure(6);
    const { bytes } = page;
    let at = page.position;
    bytes[at++] = tag;
    let rest = length;
    while (rest > 0x7f) {
      bytes[at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    bytes[at++] = rest;
    page.position = at;
  }

  #text(text: string): void {
    const units = text.length;
    if (units > layout.MAX_SHORT_TEXT) {
      this.#longText(text);
      return;
    }
    const page = this.#page;
    page.ensure(units + 1);
    const { bytes, position } = page;
    const from = position + 1;
    for (let i = 0; i < units; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 0xff) {
        this.#longText(text);
        return;
      }
      bytes[from + i] = unit;
    }
    bytes[position] = layout.TEXT | units;
    page.position = from + units;
  }

  #longText(text: string): void {
    const page = this.#page;
    const units = text.length;
    page.ensure(units * 3 + 6);
    const start = page.position;
    this.#head(layout.LONG_LATIN1, units);
    const { bytes, position } = page;
    if (!startsWide(text)) {
      // Text with as many UTF-8 bytes as units is ASCII. One pass tests and writes it.
      const isLatin1 = bytes.utf8Write(text, position, units * 3) === units || writeLatin1(page, text);
      if (isLatin1) {
        page.position = position + units;
        return;
      }
    }
    bytes[start] = layout.LONG_UTF16;
    bytes.ucs2Write(text, position, units * 2);
    page.position = position + units * 2;
  }

  #object(value: object, depth: number): void {
    if (depth === layout.MAX_DEPTH) throw new PlainRefusal();
    switch (kinds.kindOf(value)) {
      case kinds.RECORD:
        this.#record(value as Record<string, unknown>, false, depth + 1);
        return;
      case kinds.NULL_RECORD:
        this.#record(value as Record<string, unknown>, true, depth + 1);
        return;
      case kinds.LIST:
        this.#list(value as unknown[], depth + 1);
        return;
      case kinds.MOMENT: {
        const page = this.#page;
        const at = page.take(9);
        page.bytes[at] = layout.DATE;
        page.view.setFloat64(at + 1, (value as Date).getTime(), true);
        return;
      }
      case kinds.ENTRIES:
        this.#map(value as Map<unknown, unknown>, depth + 1);
        return;
      case kinds.MEMBERS:
        this.#set(value as Set<unknown>, depth + 1);
        return;
      case kinds.BYTES:
        this.#binary(value as ArrayBuffer | ArrayBufferView);
        return;
      default:
        this.#reference(value);
    }
  }

  #record(value: Record<string, unknown>, hasNoPrototype: boolean, depth: number): void {
    if (getOwnPropertySymbols(value).length > 0) throw new PlainRefusal();
    const names = keys(value);
    const count = names.length;
    if (hasNoPrototype) this.#head(layout.NULL_OBJECT, count);
    else if (count <= layout.MAX_SHORT_COUNT) this.#tag(layout.OBJECT | count);
    else this.#head(layout.LONG_OBJECT, count);
    for (let i = 0; i < count; i++) {
      const name = names[i] as string;
      // Reading the property would call its accessor.
      const property = getOwnPropertyDescriptor(value, name);
      if (property === undefined || property.get !== undefined || property.set !== undefined) throw new PlainRefusal();
      this.#text(name);
      this.#value(property.value, depth);
    }
  }

  #list(values: readonly unknown[], depth: number): void {
    const count = values.length;
    if (count >= MIN_NUMBERS && areNumbers(values)) {
      this.#numbers(values);
      return;
    }
    if (count <= layout.MAX_SHORT_COUNT) this.#tag(layout.ARRAY | count);
    else this.#head(layout.LONG_ARRAY, count);
    for (let i = 0; i < count; i++) {
      const value = values[i];
      if (value === undefined && !Object.hasOwn(values, i)) throw new PlainRefusal();
      this.#value(value, depth);
    }
  }

  #numbers(values: readonly number[]): void {
    const count = values.length;
    this.#head(layout.NUMBERS, count);
    const page = this.#page;
    const at = page.take(count * 8);
    const { view } = page;
    for (let i = 0; i < count; i++) view.setFloat64(at + i * 8, values[i] as number, true);
  }

  #map(entries: ReadonlyMap<unknown, unknown>, depth: number): void {
    const count = entries.size;
    this.#head(layout.MAP, count);
    let written = 0;
    for (const [key, value] of entries) {
      this.#value(key, depth);
      this.#value(value, depth);
      written++;
    }
    requireUnchanged(count, written);
  }

  #set(members: ReadonlySet<unknown>, depth: number): void {
    const count = members.size;
    this.#head(layout.SET, count);
    let written = 0;
    for (const member of members) {
      this.#value(member, depth);
      written++;
    }
    requireUnchanged(count, written);
  }

  #binary(value: ArrayBuffer | ArrayBufferView): void {
    const bytes = kinds.bytesOf(value);
    if (bytes === undefined) throw new PlainRefusal();
    const page = this.#page;
    if (this.#isParting && bytes.length >= layout.MIN_APART_BYTES) {
      this.#tag(layout.BINARY_APART);
      this.#head(kinds.binaryIndexOf(value), bytes.length);
      this.#apart ??= [];
      this.#apart.push({ bytes, pageAt: page.take(4) });
      return;
    }
    page.ensure(bytes.length + 7);
    this.#tag(layout.BINARY);
    this.#head(kinds.binaryIndexOf(value), bytes.length);
    const at = page.take(bytes.length);
    page.bytes.set(bytes, at);
  }

  #reference(value: object): void {
    if (this.#refs?.isRef(value) !== true) throw new PlainRefusal();
    const bytes = this.#refs.write(value);
    this.#head(layout.REFERENCE, bytes.length);
    const at = this.#page.take(bytes.length);
    this.#page.bytes.set(bytes, at);
  }
}

/** Writes the numbers of the first pages into the head. */
function joinApart(head: Uint8Array, apart: readonly Apart[]): Uint8Array[] {
  const view = new DataView(head.buffer, head.byteOffset, head.length);
  const parts = [head];
  let end = head.length;
  for (const { bytes, pageAt } of apart) {
    const page = Math.ceil(end / layout.PAGE_BYTES);
    const from = page * layout.PAGE_BYTES;
    view.setUint32(pageAt, page, true);
    if (from > end) parts.push(zeros.subarray(0, from - end));
    parts.push(bytes);
    end = from + bytes.length;
  }
  if (end > layout.MAX_BYTES) {
    const got = `more than ${layout.MAX_BYTES} bytes`;
    throw new PlainRefusal({ path: "", got, hint: "pass less at once" });
  }
  return parts;
}

const zeros = new Uint8Array(layout.PAGE_BYTES);

function areNumbers(values: readonly unknown[]): values is readonly number[] {
  for (let i = 0; i < values.length; i++) if (typeof values[i] !== "number") return false;
  return true;
}

/** Returns whether one of the first units is above 255, as in most texts that are not Latin-1. */
function startsWide(text: string): boolean {
  const end = Math.min(text.length, 64);
  for (let i = 0; i < end; i++) if (text.charCodeAt(i) > 0xff) return true;
  return false;
}

/** Writes a text as Latin-1 without moving the position. Returns whether no unit was lost. */
function writeLatin1(page: Page, text: string): boolean {
  const at = page.position;
  page.bytes.latin1Write(text, at, text.length);
  return page.bytes.latin1Slice(at, at + text.length) === text;
}

/** Encoding a reference could change a collection that contains it. */
function requireUnchanged(count: number, written: number): void {
  if (written !== count) throw new PlainRefusal(changedFault);
}
