/**
 * What a type has to say to be part of a message. There are two kinds: data, which lies in a struct or a list itself, and
 * what a pointer leads to. Each is read in two ways: as a view, which looks into the message, and as a value, which is what
 * a schema says and holds nothing of the message any more.
 */

import type { CapnpMessage, MessageSegment } from "./message.js";
import type { MessageBuilder } from "./message-builder.js";

/** Sizes of the elements of a list, as a list pointer has them. */
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

/** Bits of an element of that size; of a composite one its tag says. */
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
  /** How elements are stored in a list, for composite types. */
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
