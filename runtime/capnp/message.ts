/**
 * A message in memory: its segments and the remaining traversal limit. Reading neither copies nor writes the memory, which can
 * be shared or mapped read-only. Every pointer is read once and checked before it is used. A peer that changes the memory
 * meanwhile can change values, but cannot make a reader access other memory.
 *
 * Source: the encoding specification of Cap'n Proto, https://capnproto.org/encoding.html.
 */

import { availabilityOf, type ByteAvailability } from "./availability.js";
import { CapnpError } from "./error.js";

/** The limits that protect a reader against malicious messages. */
export interface ReadLimits {
  /**
   * The number of bytes that may be read, where bytes that are read twice count twice. A small message whose pointers
   * all lead to the same place could otherwise expand without limit. A reader that is used for a long time needs
   * `Infinity`. Default: 64 MiB, or eight times the size of the message if that is more.
   */
  readonly traversal?: number;
  /** The largest number of structs and lists inside one another. Default: 64. */
  readonly depth?: number;
}

export const defaultDepth = 64;
const defaultTraversal = 64 * 2 ** 20;
const mostSegments = 512;

export interface MessageSegment {
  readonly id: number;
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

export class CapnpMessage {
  readonly segments: readonly MessageSegment[];
  readonly depth: number;
  readonly #presence: ByteAvailability | undefined;
  #left: number;

  /** @param presence the availability of the bytes; undefined: the whole message is in memory */
  constructor(segments: readonly Uint8Array[], limits: ReadLimits = {}, presence?: ByteAvailability) {
    this.#presence = presence;
    this.segments = segments.map((bytes, id) => {
      return { id, bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
    });
    const size = segments.reduce((sum, { byteLength }) => sum + byteLength, 0);
    this.depth = limits.depth ?? defaultDepth;
    this.#left = limits.traversal ?? Math.max(defaultTraversal, 8 * size);
  }

  /** Subtracts `bytes` from the traversal limit. */
  chargeTraversal(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) {
      throw malformed(
        "more of it has been looked at than its limit allows. A message that refers to the same place again and again is " +
          "refused; for one that can be trusted give { traversal: Infinity }",
      );
    }
  }

  /**
   * Checks that bytes of the segment are available before they are read.
   *
   * @throws {CapnpError} when they have not been fetched
   */
  requireBytes({ bytes }: MessageSegment, at: number, length: number): void {
    this.#presence?.requireBytes(bytes.byteOffset + at, length);
  }

  /** Enters a level. Returns the number of levels below it. @throws {CapnpError} when `left` is 0 */
  descend(left: number): number {
    if (left <= 0) throw malformed(`it nests deeper than ${this.depth} levels`);
    return left - 1;
  }
}

export function malformed(reason: string): CapnpError {
  return new CapnpError("read", "the message", reason);
}

/**
 * Opens a message in the stream format: a table with the number and the sizes of the segments, followed by the segments. Bytes
 * after the message are ignored, so that the memory can be larger.
 */
export function openMessage(bytes: Uint8Array, limits?: ReadLimits): CapnpMessage {
  if (!(bytes instanceof Uint8Array)) throw new TypeError("cannot read a message: expected a Uint8Array");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < 8) throw malformed(`expected at least 8 bytes, got ${bytes.byteLength}`);
  const presence = availabilityOf(bytes.buffer);
  presence?.requireBytes(bytes.byteOffset, 8);
  const count = view.getUint32(0, true) + 1;
  if (count > mostSegments) throw malformed(`expected at most ${mostSegments} segments, got ${count}`);
  let at = 8 * Math.ceil((4 + 4 * count) / 8);
  if (at > bytes.byteLength)
    throw malformed(`the sizes of its ${count} segments do not fit into ${bytes.byteLength} bytes`);
  presence?.requireBytes(bytes.byteOffset, at);
  const segments: Uint8Array[] = [];
  for (let i = 0; i < count; i++) {
    const size = 8 * view.getUint32(4 + 4 * i, true);
    if (at + size > bytes.byteLength) {
      throw malformed(`segment ${i} of ${size} bytes ends past the end: there are ${bytes.byteLength - at} bytes left`);
    }
    segments.push(bytes.subarray(at, at + size));
    at += size;
  }
  if ((segments[0] as Uint8Array).byteLength < 8) throw malformed("its first segment has no root");
  return new CapnpMessage(segments, limits, presence);
}

/** The target of the last pointer. The object is reused, so callers read its properties at once. */
export const pointerTarget: { segment: MessageSegment; at: number; low: number; high: number } = {
  segment: { id: 0, bytes: new Uint8Array(0), view: new DataView(new ArrayBuffer(0)) },
  at: 0,
  low: 0,
  high: 0,
};

/**
 * Follows the pointer at byte `at`, far pointers included. Sets `pointerTarget` to the segment and the byte offset of the content,
 * and to the two halves of the pointer that describes it.
 *
 * @returns false for null
 */
export function followPointer(message: CapnpMessage, segment: MessageSegment, at: number): boolean {
  const low = segment.view.getInt32(at, true);
  const high = segment.view.getUint32(at + 4, true);
  if (low === 0 && high === 0) return false;
  if ((low & 3) !== 2) {
    pointerTarget.segment = segment;
    pointerTarget.at = at + 8 + (low >> 2) * 8;
    pointerTarget.low = low;
    pointerTarget.high = high;
    return true;
  }
  return followFarPointer(message, segment, at, low, high);
}

function followFarPointer(
  message: CapnpMessage,
  from: MessageSegment,
  place: number,
  low: number,
  high: number,
): boolean {
  const far = segmentOf(message, high, from, place);
  const pad = (low >>> 3) * 8;
  const double = (low & 4) !== 0;
  if (pad + (double ? 16 : 8) > far.bytes.byteLength) {
    throw malformed(`the far pointer at ${wordText(from, place)} leads past the end of segment ${far.id}`);
  }
  message.chargeTraversal(double ? 16 : 8);
  message.requireBytes(far, pad, double ? 16 : 8);
  const first = far.view.getInt32(pad, true);
  const second = far.view.getUint32(pad + 4, true);
  if (!double) {
    if (first === 0 && second === 0) return false;
    if ((first & 3) === 2) throw malformed(`the far pointer at ${wordText(from, place)} leads to another one`);
    pointerTarget.segment = far;
    pointerTarget.at = pad + 8 + (first >> 2) * 8;
    pointerTarget.low = first;
    pointerTarget.high = second;
    return true;
  }
  if ((first & 7) !== 2) throw malformed(`the double far pointer at ${wordText(from, place)} leads to no far pointer`);
  pointerTarget.segment = segmentOf(message, second, far, pad);
  pointerTarget.at = (first >>> 3) * 8;
  pointerTarget.low = far.view.getInt32(pad + 8, true);
  pointerTarget.high = far.view.getUint32(pad + 12, true);
  if ((pointerTarget.low & 3) === 2)
    throw malformed(`the double far pointer at ${wordText(from, place)} has a far pointer as tag`);
  return true;
}

function segmentOf(message: CapnpMessage, id: number, from: MessageSegment, place: number): MessageSegment {
  const segment = message.segments[id];
  if (segment !== undefined) return segment;
  const count = message.segments.length;
  throw malformed(`the far pointer at ${wordText(from, place)} leads to segment ${id}, of ${count}`);
}

/** Formats an offset as `word 7 of segment 0`. */
export function wordText({ id }: MessageSegment, at: number): string {
  return `word ${at / 8} of segment ${id}`;
}
