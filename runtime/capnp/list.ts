/** Lists. They are read in place, element by element, and written from arrays. */

import { describeValue } from "../../shared/text/describe-value.js";
import { PathError, rethrowAt } from "./error.js";
import {
  type CapnpMessage,
  followPointer,
  type MessageSegment,
  malformed,
  pointerTarget,
  wordText,
} from "./message.js";
import type { MessageBuilder } from "./message-builder.js";
import { pointerKind } from "./struct.js";
import { type CapnpType, elementBits, ListSize, type PointerType } from "./type.js";

/** The location of a list and the layout of its elements. */
interface ListLocation {
  readonly segment: MessageSegment;
  /** The byte offset of the first element. */
  readonly start: number;
  readonly length: number;
  /** The distance of two elements in bits. */
  readonly step: number;
  readonly size: number;
  /** The size in bytes of the data section of an element that is a struct. */
  readonly dataSize: number;
  readonly pointerCount: number;
}

const emptyList: ListLocation = {
  segment: pointerTarget.segment,
  start: 0,
  length: 0,
  step: 0,
  size: ListSize.void,
  dataSize: 0,
  pointerCount: 0,
};

/** Returns the list that the pointer at byte `at` refers to, or undefined for null. Checks that its elements are in the segment. */
export function listAt(message: CapnpMessage, segment: MessageSegment, at: number): ListLocation | undefined {
  if (!followPointer(message, segment, at)) return undefined;
  const { segment: there, at: start, low, high } = pointerTarget;
  if ((low & 3) !== 1) throw malformed(`expected a list at ${wordText(segment, at)}, got ${pointerKind(low)}`);
  const size = high & 7;
  const count = high >>> 3;
  const bytes = size === ListSize.composite ? 8 + count * 8 : Math.ceil((count * (elementBits[size] as number)) / 8);
  if (start < 0 || start + bytes > there.bytes.byteLength) {
    throw malformed(`the list at ${wordText(segment, at)} lies outside of its segment`);
  }
  if (size === ListSize.composite) return composite(message, there, start, count, segment, at);
  // Elements without a size are charged, too. Otherwise a few bytes could represent a list of millions.
  message.chargeTraversal(size === ListSize.void ? count : bytes + 8);
  const step = elementBits[size] as number;
  const isPointer = size === ListSize.pointer;
  const dataSize = isPointer ? 0 : step >>> 3;
  return { segment: there, start, length: count, step, size, dataSize, pointerCount: isPointer ? 1 : 0 };
}

function composite(
  message: CapnpMessage,
  there: MessageSegment,
  tag: number,
  words: number,
  segment: MessageSegment,
  at: number,
): ListLocation {
  message.requireBytes(there, tag, 8);
  const low = there.view.getUint32(tag, true);
  const high = there.view.getUint32(tag + 4, true);
  if ((low & 3) !== 0) throw malformed(`the list at ${wordText(segment, at)} has elements that are no structs`);
  const length = low >>> 2;
  const dataWords = high & 0xffff;
  const pointerCount = high >>> 16;
  if (length * (dataWords + pointerCount) > words) {
    throw malformed(
      `the list at ${wordText(segment, at)} has ${length} elements, for which its ${words} words are too few`,
    );
  }
  message.chargeTraversal(dataWords + pointerCount === 0 ? length + 16 : words * 8 + 16);
  const step = (dataWords + pointerCount) * 64;
  return {
    segment: there,
    start: tag + 8,
    length,
    step,
    size: ListSize.composite,
    dataSize: dataWords * 8,
    pointerCount,
  };
}

/** Reads a list in place. */
export class ListReader<View> implements Iterable<View> {
  readonly #place: ListLocation;
  readonly #element: CapnpType<View>;
  readonly #message: CapnpMessage;
  readonly #depth: number;

  /** @internal */
  constructor(place: ListLocation, element: CapnpType<View>, message: CapnpMessage, depth: number) {
    this.#place = place;
    this.#element = element;
    this.#message = message;
    this.#depth = depth;
  }

  /** The number of elements. */
  get length(): number {
    return this.#place.length;
  }

  /**
   * Returns an element.
   *
   * @param index from 0; negative numbers count from the end
   * @returns undefined if the list does not have the element
   */
  at(index: number): View | undefined {
    const i = index < 0 ? this.length + index : index;
    return Number.isInteger(i) && i >= 0 && i < this.length ? this.#read(i) : undefined;
  }

  #read(index: number): View {
    const { segment, start, step, dataSize, pointerCount } = this.#place;
    const element = this.#element;
    const bit = index * step;
    const at = start + Math.floor(bit / 8);
    this.#message.requireBytes(segment, at, Math.ceil(step / 8));
    if (element.kind === "data") return element.view(segment.view, at, bit & 7);
    if (element.inList === undefined) return element.view(this.#message, segment, at + dataSize, this.#depth);
    return element.inList.view(this.#message, segment, at, dataSize, pointerCount, this.#depth);
  }

  /** Yields the elements in order. */
  *[Symbol.iterator](): IterableIterator<View> {
    for (let i = 0; i < this.length; i++) yield this.#read(i);
  }

  /** Returns the elements as an array, each as `at` returns it. */
  toArray(): View[] {
    return Array.from(this);
  }
}

/** Returns whether the elements of a list can be read as `type`. */
function canReadElements({ size, dataSize, pointerCount }: ListLocation, type: CapnpType): boolean {
  if (type.kind === "data") {
    if (type.size === ListSize.bit) return size === ListSize.bit;
    const bytes = (elementBits[type.size] as number) / 8;
    return size !== ListSize.bit && dataSize >= bytes;
  }
  // A newer schema can replace numbers by structs whose first field is the number.
  return type.inList === undefined ? pointerCount > 0 : size !== ListSize.bit;
}

function listView<View>(
  element: CapnpType<View>,
  message: CapnpMessage,
  segment: MessageSegment,
  at: number,
  depth: number,
): ListReader<View> {
  const below = message.descend(depth);
  const place = listAt(message, segment, at);
  if (place === undefined) return new ListReader(emptyList, element, message, below);
  if (place.length > 0 && !canReadElements(place, element)) {
    throw malformed(`the list at ${wordText(segment, at)} has elements of another type`);
  }
  return new ListReader(place, element, message, below);
}

/** Converts a list to a value, and a value to the elements of a list. */
interface CollectionForm<Value> {
  make(elements: unknown[]): Value;
  /** @throws {PathError} when the value is not such a collection */
  elements(value: unknown): readonly unknown[];
}

const arrays: CollectionForm<unknown[]> = {
  make: (elements) => elements,
  elements(value) {
    if (!Array.isArray(value))
      throw new PathError("write", `invalid array: expected an array, got ${describeValue(value)}`);
    return value;
  },
};

const sets: CollectionForm<Set<unknown>> = {
  make: (elements) => new Set(elements),
  elements(value) {
    if (!(value instanceof Set))
      throw new PathError("write", `invalid set: expected a Set, got ${describeValue(value)}`);
    return [...value];
  },
};

const maps: CollectionForm<Map<unknown, unknown>> = {
  make: (elements) => new Map(elements as [unknown, unknown][]),
  elements(value) {
    if (!(value instanceof Map))
      throw new PathError("write", `invalid map: expected a Map, got ${describeValue(value)}`);
    return [...value];
  },
};

const records: CollectionForm<Record<string, unknown>> = {
  make(elements) {
    const record: Record<string, unknown> = {};
    for (const [key, value] of elements as [string, unknown][]) setOwn(record, key, value);
    return record;
  },
  elements(value) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new PathError("write", `invalid record: expected an object, got ${describeValue(value)}`);
    }
    return Object.entries(value);
  },
};

/** Sets an own property. `__proto__` is an ordinary key. */
export function setOwn(object: object, key: string, value: unknown): void {
  if (key !== "__proto__") (object as Record<string, unknown>)[key] = value;
  else Object.defineProperty(object, key, { value, configurable: true, enumerable: true, writable: true });
}

function collection<View>(
  element: CapnpType<View>,
  { make, elements }: CollectionForm<unknown>,
): PointerType<ListReader<View>> {
  return {
    kind: "pointer",
    size: ListSize.pointer,
    view: (message, segment, at, depth) => listView(element, message, segment, at, depth),
    empty: (message, depth) => new ListReader(emptyList, element, message, depth),
    value(list) {
      const values: unknown[] = [];
      let i = 0;
      try {
        for (const view of list) {
          values.push(element.kind === "data" ? view : element.value(view));
          i++;
        }
      } catch (error) {
        rethrowAt(`[${i}]`, error);
      }
      return make(values);
    },
    write: (builder, at, value, depth) => writeList(element, builder, at, elements(value), depth),
  };
}

/** Returns the type of a list: `T[]` in the schema. */
export function list<View>(element: CapnpType<View>): PointerType<ListReader<View>> {
  return collection(element, arrays);
}

/** Returns the type of a set: `Set<T>` in the schema. */
export function set<View>(element: CapnpType<View>): PointerType<ListReader<View>> {
  return collection(element, sets);
}

/** Returns the type of a map, from the struct of an entry: `Map<K, V>` in the schema. */
export function map<View>(entry: PointerType<View>): PointerType<ListReader<View>> {
  return collection(entry, maps);
}

/** Returns the type of a record, from the struct of an entry: `Record<string, T>` in the schema. */
export function record<View>(entry: PointerType<View>): PointerType<ListReader<View>> {
  return collection(entry, records);
}

function writeList(
  element: CapnpType,
  builder: MessageBuilder,
  at: number,
  values: readonly unknown[],
  depth: number,
): void {
  const below = builder.descend(depth);
  const listed = element.kind === "pointer" ? element.inList : undefined;
  if (listed !== undefined) {
    const { dataWords, pointerWords } = listed;
    const words = (dataWords + pointerWords) * values.length;
    const to = builder.allocate(1 + words);
    builder.listPointer(at, to, ListSize.composite, words);
    builder.structPointer(to, to + 8, dataWords, pointerWords);
    builder.view.setUint32(to, values.length * 4, true);
    writeEachElement(values, (value, i) => {
      listed.write(builder, to + 8 + i * (dataWords + pointerWords) * 8, value, below);
    });
    return;
  }
  const bits = elementBits[element.size] as number;
  const to = builder.allocate(Math.ceil((bits * values.length) / 64));
  builder.listPointer(at, to, element.size, values.length);
  writeEachElement(values, (value, i) => {
    const bit = i * bits;
    const place = to + Math.floor(bit / 8);
    if (element.kind === "data") element.write(builder.view, place, bit & 7, value);
    else element.write(builder, place, value, below);
  });
}

function writeEachElement(values: readonly unknown[], write: (value: unknown, i: number) => void): void {
  let i = 0;
  try {
    // The loop uses indices, so that holes of sparse arrays are refused.
    for (; i < values.length; i++) write(values[i], i);
  } catch (error) {
    rethrowAt(`[${i}]`, error);
  }
}
