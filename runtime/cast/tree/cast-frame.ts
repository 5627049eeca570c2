/**
 * The body of a `cast` frame, which is the same for every proc of the tree. In front of the message it has the
 * extension of the message without the rank, the casts that need not be remembered, and the order of the cast among the
 * messages of its sender to each rank.
 */
import { readText, readU32, writeText, writeU32 } from "../../link/frame/control-body.js";
import { ProtocolError } from "../../link/frame/frame.js";
import { type MessageExtension, readTrace, TRACE_BYTES, writeTrace } from "../../link/frame/message-extension.js";
import { Reader } from "../../wire/reader.js";
import type { Writer } from "../../wire/writer.js";
import { type RankRun, readList, readRuns, writeRuns } from "./rank-runs.js";

/** The flags of a `cast` frame, with `FrameFlag.protobuf`. */
export const CastFlag = {
  /** The cast expects answers. */
  call: 1,
  /** Nobody waits for the cast any more; it only keeps its place in the order. */
  empty: 2,
  /** All receivers have had the cast; only their answers are requested once more. */
  recall: 4,
} as const;

/** The order in which a cast reaches a rank. */
export const CastOrdering = {
  /** The cast comes after the casts before it. */
  plain: 0,
  /** The cast also comes after a `mark` on the lane of direct messages. */
  marked: 1,
  /** The cast does not go to the rank. */
  none: 2,
} as const;

/**
 * The position of a cast for the next `count` ranks. `index` is the number of casts of the sender before this one,
 * which is equal for all of them.
 */
export interface OrderPosition {
  readonly count: number;
  readonly index: number;
  /** One of `CastOrdering`. */
  readonly ordering: number;
}

/** The part of a cast's body in front of the message. */
export interface CastHead {
  /** The extension of the message, without rank and extent. */
  readonly extension: Pick<MessageExtension, "timeout" | "trace" | "chain"> | undefined;
  /** The numbers of casts whose answers the root has received. */
  readonly finished: readonly RankRun[];
  /** The name of the reduction that combines answers on their way up, or empty if they cannot be combined. */
  readonly reduction: string;
  /** The positions for all ranks of the tree, in order. */
  readonly positions: readonly OrderPosition[];
}

/** The fields of the frame's header, and the body as it is forwarded. */
export interface CastFrame {
  readonly seq: number;
  readonly endpoint: number;
  /** Bits of `CastFlag`, and `FrameFlag.protobuf`. */
  readonly flags: number;
  readonly body: Uint8Array;
  readonly blocks: readonly Uint8Array[];
}

export function writeCast(
  w: Writer,
  { extension, finished, reduction, positions }: CastHead,
  message: Uint8Array,
): void {
  writeU32(w, extension === undefined ? 0 : 1);
  if (extension !== undefined) {
    writeU32(w, extension.timeout);
    const at = w.reserve(TRACE_BYTES);
    writeTrace(w.view, at, extension.trace);
    writeU32(w, extension.chain.length);
    for (const word of extension.chain) writeU32(w, word);
  }
  writeRuns(w, finished);
  writeText(w, reduction);
  writeU32(w, positions.length);
  for (const { count, index, ordering } of positions) {
    writeU32(w, count);
    writeU32(w, index);
    writeU32(w, ordering);
  }
  const at = w.reserve(message.length);
  w.bytes.set(message, at);
}

/**
 * Reads the body of a `cast` frame.
 * @throws ProtocolError unless the positions are those of `size` ranks
 */
export function readCast(body: Uint8Array, size: number): CastHead & { readonly message: Uint8Array } {
  const r = new Reader();
  r.reset(body, new DataView(body.buffer, body.byteOffset, body.length), 0, body.length);
  let head: CastHead;
  try {
    const extension = readU32(r) === 0 ? undefined : readCastExtension(r);
    const finished = readRuns(r);
    const reduction = readText(r);
    const positions = readList(r, 12, () => ({ count: readU32(r), index: readU32(r), ordering: readU32(r) }));
    head = { extension, finished, reduction, positions };
  } catch (error) {
    throw new ProtocolError(`cannot read cast: ${(error as Error).message}`, { cause: error });
  }
  const ranks = head.positions.reduce((sum, { count }) => sum + count, 0);
  if (ranks !== size)
    throw new ProtocolError(`cannot read cast: it has places of ${ranks} ranks, its tree has ${size}`);
  return { ...head, message: body.subarray(r.position) };
}

function readCastExtension(r: Reader): NonNullable<CastHead["extension"]> {
  return {
    timeout: readU32(r),
    trace: readTrace(r.view, r.take(TRACE_BYTES)),
    chain: readList(r, 4, () => readU32(r)),
  };
}

/** Returns the position for one rank. */
export function orderPositionOf(positions: readonly OrderPosition[], rank: number): OrderPosition {
  let left = rank;
  for (const place of positions) {
    if (left < place.count) return place;
    left -= place.count;
  }
  throw new RangeError(`there is no rank ${rank}`);
}

/** Returns whether sequence number `a` comes before `b`. Sequence numbers wrap around at 2³². */
export function comesBefore(a: number, b: number): boolean {
  return ((a - b) | 0) < 0;
}
