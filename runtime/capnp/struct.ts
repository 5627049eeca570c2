/**
 * Structs, which are read in place. Generated classes extend `StructReader` with a getter for each field, which calls the functions
 * below. A field beyond the end of a struct is missing in an older schema, and reads as the default.
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

/**
 * The base class of generated readers: the place of a struct in a message. Offsets are in bytes from the start of the
 * segment.
 */
export class StructReader {
  /** The message. */
  readonly $message: CapnpMessage;
  /** The segment that contains the struct. */
  readonly $segment: MessageSegment;
  /** The offset of the data section. */
  readonly $data: number;
  /** The size of the data section, in bytes. */
  readonly $dataSize: number;
  /** The offset of the pointers. */
  readonly $pointers: number;
  /** The number of pointers. */
  readonly $pointerCount: number;
  /** The number of levels that may follow below this struct. */
  readonly $depth: number;

  /**
   * Called by generated code.
   *
   * @hidden
   */
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

/**
 * Reads a boolean.
 *
 * @param bit offset in bits from the start of the data section
 */
export function readBool(s: StructReader, bit: number): boolean {
  const byte = bit >>> 3;
  return byte < s.$dataSize && (((s.$segment.bytes[s.$data + byte] as number) >>> (bit & 7)) & 1) === 1;
}

/**
 * Reads a signed integer of 32 bits. Data beyond the end of the struct reads as the default.
 *
 * @param at offset in bytes from the start of the data section
 */
export function readInt32(s: StructReader, at: number): number {
  return at + 4 <= s.$dataSize ? s.$segment.view.getInt32(s.$data + at, true) : 0;
}

/**
 * Reads an unsigned integer of 32 bits. Data beyond the end of the struct reads as the default.
 *
 * @param at offset in bytes from the start of the data section
 */
export function readUint32(s: StructReader, at: number): number {
  return at + 4 <= s.$dataSize ? s.$segment.view.getUint32(s.$data + at, true) : 0;
}

/**
 * Reads an unsigned integer of 16 bits. Data beyond the end of the struct reads as the default.
 *
 * @param at offset in bytes from the start of the data section
 */
export function readUint16(s: StructReader, at: number): number {
  return at + 2 <= s.$dataSize ? s.$segment.view.getUint16(s.$data + at, true) : 0;
}

/**
 * Reads a signed integer of 64 bits. Data beyond the end of the struct reads as the default.
 *
 * @param at offset in bytes from the start of the data section
 */
export function readInt64(s: StructReader, at: number): bigint {
  return at + 8 <= s.$dataSize ? s.$segment.view.getBigInt64(s.$data + at, true) : 0n;
}

/**
 * Reads an unsigned integer of 64 bits. Data beyond the end of the struct reads as the default.
 *
 * @param at offset in bytes from the start of the data section
 */
export function readUint64(s: StructReader, at: number): bigint {
  return at + 8 <= s.$dataSize ? s.$segment.view.getBigUint64(s.$data + at, true) : 0n;
}

/**
 * Reads a single-precision number. Data beyond the end of the struct reads as the default.
 *
 * @param at offset in bytes from the start of the data section
 */
export function readFloat32(s: StructReader, at: number): number {
  return at + 4 <= s.$dataSize ? s.$segment.view.getFloat32(s.$data + at, true) : 0;
}

/**
 * Reads a double-precision number. Data beyond the end of the struct reads as the default.
 *
 * @param at offset in bytes from the start of the data section
 */
export function readFloat64(s: StructReader, at: number): number {
  return at + 8 <= s.$dataSize ? s.$segment.view.getFloat64(s.$data + at, true) : 0;
}

/**
 * Reads a date: milliseconds since 1970. Data beyond the end of the struct reads as the default.
 *
 * @param at offset in bytes from the start of the data section
 */
export function readDate(s: StructReader, at: number): Date {
  return new Date(Number(readInt64(s, at)));
}

/**
 * Reads an enum value. Data beyond the end of the struct reads as the default.
 *
 * @param at offset in bytes from the start of the data section
 */
export function readEnum<E>(s: StructReader, at: number, type: DataType<E>): E {
  return at + 2 <= s.$dataSize ? type.view(s.$segment.view, s.$data + at, 0) : type.default;
}

/**
 * Reads which case of a union is set.
 *
 * @param at offset in bytes from the start of the data section
 * @param names the cases by their numbers; undefined for 0, which stands for none
 */
export function readCase<N extends string>(
  s: StructReader,
  at: number,
  names: readonly (N | undefined)[],
): N | "$unknown" | undefined {
  const number = readUint16(s, at);
  return number === 0 ? undefined : (names[number] ?? "$unknown");
}

/**
 * Reads the value that a pointer leads to, or the default of the type if the pointer is null.
 *
 * @param index the index of the pointer, from 0
 */
export function readPointer<View>(s: StructReader, index: number, type: PointerType<View>): View {
  const { $message, $segment, $depth } = s;
  // A struct that is shorter has no such pointer: word 0 of a segment without words is null.
  if (index >= s.$pointerCount) return type.empty($message, $depth);
  return type.view($message, $segment, s.$pointers + index * 8, $depth);
}

/**
 * Returns whether a pointer is not null.
 *
 * @param index the index of the pointer, from 0
 */
export function hasPointer(s: StructReader, index: number): boolean {
  if (index >= s.$pointerCount) return false;
  const at = s.$pointers + index * 8;
  return s.$segment.view.getUint32(at, true) !== 0 || s.$segment.view.getUint32(at + 4, true) !== 0;
}
