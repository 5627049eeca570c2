/**
 * A cast as it goes down a tree: the same bytes for every proc. Before the message stand what the extension of a message
 * says (but for the rank), which casts need not be remembered, and where the cast stands among what its sender sends to
 * each rank.
 */
import { readText, readU32, writeText, writeU32 } from "../../link/frame/control-body.js";
import { ProtocolError } from "../../link/frame/frame.js";
import { type MessageExtension, readTrace, TRACE_BYTES, writeTrace } from "../../link/frame/message-extension.js";
import { Reader } from "../../wire/reader.js";
import type { Writer } from "../../wire/writer.js";
import { type RankRun, readList, readRuns, writeRuns } from "./rank-runs.js";

/** Flags of `cast`. `Flag.protobuf` is one of them. */
export const CastFlag = {
  /** Its answers are waited for. */
  call: 1,
  /** Nobody waits any more: it only keeps its place in the order. */
  empty: 2,
  /** All its receivers have had it: only their answers are asked for, once more. */
  recall: 4,
} as const;

/** How a cast comes to a rank. */
export const CastOrdering = {
  /** After the casts before it. */
  plain: 0,
  /** Also after a `mark` on the lane of direct messages. */
  marked: 1,
  /** Not at all. */
  none: 2,
} as const;

/** The next ranks, `count` of them: casts of the sender before this one, which is the same number for all. */
export interface OrderPosition {
  readonly count: number;
  readonly index: number;
  /** One of `VerbsPath`. */
  readonly ordering: number;
}

/** What a cast has besides its message. */
export interface CastHead {
  /** Without rank and extent. */
  readonly extension: Pick<MessageExtension, "timeout" | "trace" | "chain"> | undefined;
  /** Casts whose answers have come home, as runs of numbers. */
  readonly finished: readonly RankRun[];
  /** How answers can be made one on the way, by name; empty: they cannot. */
  readonly reduction: string;
  /** Of all ranks of the tree, in order. */
  readonly positions: readonly OrderPosition[];
}

/** What the header of its frame says, and its body as it is passed on. */
export interface CastFrame {
  readonly seq: number;
  readonly endpoint: number;
  /** Of `CastFlag`, and `Flag.protobuf`. */
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

/** @throws ProtocolError unless the places are those of `size` ranks */
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

/** The place of one rank. */
export function orderPositionOf(places: readonly OrderPosition[], rank: number): OrderPosition {
  let left = rank;
  for (const place of places) {
    if (left < place.count) return place;
    left -= place.count;
  }
  throw new RangeError(`there is no rank ${rank}`);
}

/** Whether number `a` comes before `b`; numbers go round at 2³². */
export function comesBefore(a: number, b: number): boolean {
  return ((a - b) | 0) < 0;
}
