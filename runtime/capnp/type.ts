/**
 * The interfaces of types. Data types are stored in a struct or a list directly, pointer types behind a pointer. Both can be read
 * as a view, which refers to the message, and as a plain value, which is independent of the message.
 */

import type { CapnpMessage, MessageSegment } from "./message.js";
import type { MessageBuilder } from "./message-builder.js";

/** The element sizes in list pointers. */
export const ListSize = {
  void: 0,
  bit: 1,
  byte: 2,
  twoBytes: 3,
  fourBytes: 4,
  eightBytes: 5,
  pointer: 6,
  composite: 7,
} as const;

export type ListSize = (typeof ListSize)[keyof typeof ListSize];

/** The number of bits of an element by its size. A tag contains the size of composite elements. */
export const elementBits: readonly number[] = [0, 1, 8, 16, 32, 64, 64];

/**
 * A type whose values are stored in the data section of a struct, or directly in a list. In all methods, `at` is an
 * offset in bytes, and `bit` the bit of a boolean within its byte, from 0 to 7. `View` is the type that readers return.
 */
export interface DataType<View = unknown> {
  /** Tells data types from pointer types. */
  readonly kind: "data";
  /** The size of an element in a list pointer: 1 bit, or 1, 2, 4 or 8 bytes as 2 to 5. */
  readonly size: 1 | 2 | 3 | 4 | 5;
  /** Reads a value in place. */
  view(memory: DataView, at: number, bit: number): View;
  /** The value that is read beyond the end of a struct. */
  readonly default: View;
  /** Writes a value, or refuses it. */
  write(memory: DataView, at: number, bit: number, value: unknown): void;
}

/**
 * A type whose values are stored behind a pointer. In all methods, `at` is the offset of the pointer in bytes, and
 * `depth` the number of levels that may follow below. `View` is the type that readers return.
 */
export interface PointerType<View = unknown> {
  /** Tells pointer types from data types. */
  readonly kind: "pointer";
  /**
   * The size of an element in a list pointer: a pointer (6), or a composite whose elements are stored in the list (7).
   */
  readonly size: 6 | 7;
  /** Returns a reader of the value, or the value itself. */
  view(message: CapnpMessage, segment: MessageSegment, at: number, depth: number): View;
  /** Returns the view of a null pointer. */
  empty(message: CapnpMessage, depth: number): View;
  /** Decodes a view into a plain value. */
  value(view: View): unknown;
  /** Writes a value, or refuses it. */
  write(builder: MessageBuilder, at: number, value: unknown, depth: number): void;
  /** The layout of elements in a list, for composite types. */
  readonly inList?: ListedType<View>;
}

/**
 * A composite type whose elements are stored in a list. In all methods, offsets and sizes are in bytes: `at` and `data`
 * that of the element, `dataSize` that of its data section; `pointerCount` is its number of pointers, and `depth` the
 * number of levels that may follow below.
 */
export interface ListedType<View> {
  /** The size of the data section, in words of 8 bytes. */
  readonly dataWords: number;
  /** The number of pointers. */
  readonly pointerWords: number;
  /** Returns a reader of an element. */
  view(
    message: CapnpMessage,
    segment: MessageSegment,
    data: number,
    dataSize: number,
    pointerCount: number,
    depth: number,
  ): View;
  /** Writes an element. */
  write(builder: MessageBuilder, at: number, value: unknown, depth: number): void;
}

/** A type of Cap'n Proto: data or a pointer. */
export type CapnpType<View = unknown> = DataType<View> | PointerType<View>;
