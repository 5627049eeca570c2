/**
 * A struct, read in place: where its data and its pointers are. Generated classes extend it with a getter for each field,
 * made from the functions below. What lies beyond the end of a struct was written by an older schema, and reads as the
 * default.
 */
import {
  type CapnpMessage,
  followPointer,
  type MessageSegment,
  malformed,
  pointerTarget,
  wordText,
} from "./message.js";
import type { DataType, PointerType } from "./type.js";

/** Where a struct is. All offsets are in bytes from the start of the segment. */
export class StructReader {
  readonly $message: CapnpMessage;
  readonly $segment: MessageSegment;
  readonly $data: number;
  /** In bytes. */
  readonly $dataSize: number;
  readonly $pointers: number;
  readonly $pointerCount: number;
  /** Levels that may still be below. */
  readonly $depth: number;

  constructor(
    message: CapnpMessage,
    segment: MessageSegment,
    data: number,
    dataSize: number,
    pointers: number,
    pointerCount: number,
    depth: number,
  ) {
    this.$message = message;
    this.$segment = segment;
    this.$data = data;
    this.$dataSize = dataSize;
    this.$pointers = pointers;
    this.$pointerCount = pointerCount;
    this.$depth = depth;
  }
}

export type StructReaderClass<R extends StructReader> = new (...args: ConstructorParameters<typeof StructReader>) => R;

/** The struct that the pointer at byte `at` leads to; one with nothing in it if that is null. */
export function structAt<R extends StructReader>(
  Reader: StructReaderClass<R>,
  message: CapnpMessage,
  segment: MessageSegment,
  at: number,
  depth: number,
): R {
  const below = message.descend(depth);
  if (!followPointer(message, segment, at)) return new Reader(message, segment, 0, 0, 0, 0, below);
  const { segment: there, at: data, low, high } = pointerTarget;
  if ((low & 3) !== 0) throw malformed(`expected a struct at ${wordText(segment, at)}, got ${pointerKind(low)}`);
  const dataSize = (high & 0xffff) * 8;
  const pointerCount = high >>> 16;
  const size = dataSize + pointerCount * 8;
  // A struct of no size says that it is there by an offset that leads nowhere.
  if (size > 0 && (data < 0 || data + size > there.bytes.byteLength)) {
    throw malformed(`the struct at ${wordText(segment, at)} lies outside of its segment`);
  }
  message.chargeTraversal(size + 8);
  message.requireBytes(there, data, size);
  return new Reader(message, there, data, dataSize, data + dataSize, pointerCount, below);
}

export function pointerKind(low: number): string {
  return ["a struct", "a list", "a far pointer", "a capability"][low & 3] as string;
}

export function readBool(s: StructReader, bit: number): boolean {
  const byte = bit >>> 3;
  return byte < s.$dataSize && (((s.$segment.bytes[s.$data + byte] as number) >>> (bit & 7)) & 1) === 1;
}

export function readInt32(s: StructReader, at: number): number {
  return at + 4 <= s.$dataSize ? s.$segment.view.getInt32(s.$data + at, true) : 0;
}

export function readUint32(s: StructReader, at: number): number {
  return at + 4 <= s.$dataSize ? s.$segment.view.getUint32(s.$data + at, true) : 0;
}

export function readUint16(s: StructReader, at: number): number {
  return at + 2 <= s.$dataSize ? s.$segment.view.getUint16(s.$data + at, true) : 0;
}

export function readInt64(s: StructReader, at: number): bigint {
  return at + 8 <= s.$dataSize ? s.$segment.view.getBigInt64(s.$data + at, true) : 0n;
}

export function readUint64(s: StructReader, at: number): bigint {
  return at + 8 <= s.$dataSize ? s.$segment.view.getBigUint64(s.$data + at, true) : 0n;
}

export function readFloat32(s: StructReader, at: number): number {
  return at + 4 <= s.$dataSize ? s.$segment.view.getFloat32(s.$data + at, true) : 0;
}

export function readFloat64(s: StructReader, at: number): number {
  return at + 8 <= s.$dataSize ? s.$segment.view.getFloat64(s.$data + at, true) : 0;
}

/** Milliseconds since 1970. */
export function readDate(s: StructReader, at: number): Date {
  return new Date(Number(readInt64(s, at)));
}

/** A value of an enumeration. */
export function readEnum<E>(s: StructReader, at: number, type: DataType<E>): E {
  return at + 2 <= s.$dataSize ? type.view(s.$segment.view, s.$data + at, 0) : type.default;
}

/**
 * Which case of a union is there.
 * @param names by the numbers of the cases; undefined for number 0, which says that there is none
 */
export function readCase<N extends string>(
  s: StructReader,
  at: number,
  names: readonly (N | undefined)[],
): N | "$unknown" | undefined {
  const number = readUint16(s, at);
  return number === 0 ? undefined : (names[number] ?? "$unknown");
}

/** What pointer number `index` leads to; the type's default if it is null. */
export function readPointer<View>(s: StructReader, index: number, type: PointerType<View>): View {
  const { $message, $segment, $depth } = s;
  // A struct that is shorter has no such pointer: word 0 of a segment without words is null.
  if (index >= s.$pointerCount) return type.empty($message, $depth);
  return type.view($message, $segment, s.$pointers + index * 8, $depth);
}

/** Whether pointer number `index` leads anywhere. */
export function hasPointer(s: StructReader, index: number): boolean {
  if (index >= s.$pointerCount) return false;
  const at = s.$pointers + index * 8;
  return s.$segment.view.getUint32(at, true) !== 0 || s.$segment.view.getUint32(at + 4, true) !== 0;
}
