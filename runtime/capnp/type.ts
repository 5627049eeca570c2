/**
 * What a type has to say to be part of a message. There are two kinds: data, which lies in a struct or a list itself, and
 * what a pointer leads to. Each is read in two ways: as a view, which looks into the message, and as a value, which is what
 * a schema says and holds nothing of the message any more.
 */
import type { MessageBuilder } from "./builder.js";
import type { CapnpMessage, MessageSegment } from "./message.js";

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

/** `View` is what a getter gives; values are what a schema says. */
export interface DataType<View = unknown> {
  readonly kind: "data";
  readonly size: 1 | 2 | 3 | 4 | 5;
  /** `bit`: within the byte, for booleans. */
  view(memory: DataView, at: number, bit: number): View;
  /** What is read where the struct is too short. */
  readonly default: View;
  /** @throws Misplaced for what is no such value */
  write(memory: DataView, at: number, bit: number, value: unknown): void;
}

export interface PointerType<View = unknown> {
  readonly kind: "pointer";
  /** In a list. Composite: its elements lie in the list. */
  readonly size: 6 | 7;
  /** @param at byte of the pointer */
  view(message: CapnpMessage, segment: MessageSegment, at: number, depth: number): View;
  /** What null reads as. */
  empty(message: CapnpMessage, depth: number): View;
  value(view: View): unknown;
  /** @param at byte of the pointer, in the builder's memory */
  write(builder: MessageBuilder, at: number, value: unknown, depth: number): void;
  /** Of a composite one. */
  readonly inList?: ListedType<View>;
}

/** A type whose elements lie in a list, one behind the other. */
export interface ListedType<View> {
  /** In words. */
  readonly dataWords: number;
  readonly pointerWords: number;
  view(
    message: CapnpMessage,
    segment: MessageSegment,
    data: number,
    dataSize: number,
    pointerCount: number,
    depth: number,
  ): View;
  write(builder: MessageBuilder, at: number, value: unknown, depth: number): void;
}

export type CapnpType<View = unknown> = DataType<View> | PointerType<View>;
