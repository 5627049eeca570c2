/**
 * The sending half of a link: frames are written one after another into one batch, which goes to the pipe at the end of the
 * tick at the latest (flushing.ts), or sooner when it has grown. Large blocks go as their own buffers, uncopied, each before
 * the message it belongs to; very large ones in pieces, so that nothing waits for them (bulk.ts).
 */
import { Writer } from "../../wire/writer.js";
import { align8, beginFrame, copyBytes, endFrame, FrameKind, HEADER_BYTES } from "../frame/frame.js";
import { type Pipe, totalBytes } from "../transport/pipe.js";
import { BARRIER, BULK_BYTES, BulkQueue, orderKeyOf } from "./bulk-queue.js";
import { type Flushable, scheduleFlush } from "./flush-schedule.js";

/** A batch of this many bytes is sent without waiting for the end of the tick. */
export const FLUSH_BYTES = 64 * 1024;

/** Batches handed to the pipe and not yet taken by it; more wait here and grow instead. */
const WRITES_AHEAD = 2;

const zeros = new Uint8Array(8);

/** A frame that was written while another one was not complete. */
interface DeferredFrame {
  readonly bytes: Uint8Array;
  readonly blocks: readonly Uint8Array[];
}

/** Writers for values that are sent by the getters of values that are being encoded. */
const innerWriters: Writer[] = [];
let innerWritersInUse = 0;

export class Outbox implements Flushable {
  /** Where frames are written; between frames its position is 8-aligned. */
  writer: Writer;
  /** Lanes whose messages come after all that was sent before: orders to stop what that was sent to. */
  readonly orderedLanes = new Set<number>();
  #pipe: Pipe | undefined;
  /** What goes before the batch at hand: earlier parts of it, and blocks. */
  #chunks: Uint8Array[] = [];
  /** Where the part of the batch begins that is not in `#chunks` yet. */
  #partStart = 0;
  /** What goes out in between. */
  #bulk: BulkQueue | undefined;
  #isScheduled = false;
  #writesInProgress = 0;
  #ended = false;
  #onFinished: (() => void) | undefined;
  /** How many values are being encoded, each by a getter of the one before. */
  #encodingDepth = 0;
  #deferred: DeferredFrame[] = [];

  /** @param firstPage bytes of the memory that it begins with */
  constructor(firstPage: number) {
    this.writer = new Writer(firstPage);
  }

  /** What was written so far, and all that follows, goes to `pipe`. */
  attach(pipe: Pipe): void {
    this.#pipe = pipe;
    this.flush();
    if (this.#onFinished !== undefined) this.#checkFinished();
  }

  /** Calls `done` when everything that has been written was handed to the pipe. */
  finish(done: () => void): void {
    this.#onFinished = done;
    this.flush();
    this.#checkFinished();
  }

  /** Nothing is sent any more: what is written from now on is dropped. */
  end(): void {
    this.#ended = true;
    this.#discard();
  }

  /**
   * A value of the user's is about to be encoded into the frame that has been begun. Its getters are code of the user's, and
   * may send over this link themselves: what they send is written elsewhere, and goes out before this frame. `endValue` must
   * follow, also when encoding fails.
   */
  beginValue(): void {
    this.#encodingDepth++;
    if (innerWritersInUse === innerWriters.length) innerWriters.push(new Writer(1024));
    this.writer = innerWriters[innerWritersInUse++]!;
  }

  /** @param outer the writer of the frame */
  endValue(outer: Writer): void {
    this.#encodingDepth--;
    innerWritersInUse--;
    this.writer = outer;
  }

  /** The frame from `at` is complete. Sends the batch, at the latest at the end of this tick. */
  commit(at: number): void {
    const w = this.writer;
    endFrame(w, at);
    if (this.#encodingDepth > 0) {
      this.#deferred.push(takeFrame(w, at));
      if (!this.#isScheduled) this.scheduleFlush();
      return;
    }
    if (this.#deferred.length > 0) {
      const last = takeFrame(w, at);
      this.#appendDeferred();
      this.#appendFrame(last);
      return;
    }
    this.#frameAppended(at);
  }

  #frameAppended(at: number): void {
    const w = this.writer;
    if (this.#bulk !== undefined || w.blocks.length > 0) this.#moveBlocks(at);
    if (w.position - this.#partStart >= FLUSH_BYTES) this.flush();
    else if (!this.#isScheduled) this.scheduleFlush();
  }

  /** Sees to it that the batch is sent, at the latest at the end of this tick. */
  scheduleFlush(): void {
    this.#isScheduled = true;
    scheduleFlush(this);
  }

  /** That for which it was armed. */
  flushScheduled(): void {
    this.#isScheduled = false;
    this.flush();
  }

  /** Sends what there is, unless the pipe is behind: then it is sent when the pipe has caught up. */
  flush(): void {
    const pipe = this.#pipe;
    // Nothing is complete before the value is. It may also have been refused, and only what its getters sent is left.
    if (this.#encodingDepth > 0) return;
    if (this.#deferred.length > 0) this.#appendDeferred();
    const w = this.writer;
    if (w.position === 0 && this.#chunks.length === 0 && this.#bulk === undefined) return;
    if (this.#ended) this.#discard();
    if (this.#ended || pipe === undefined || this.#writesInProgress >= WRITES_AHEAD) return;
    const chunks = this.#chunks;
    const batch = w.take();
    if (batch.length > this.#partStart) chunks.push(this.#partStart === 0 ? batch : batch.subarray(this.#partStart));
    this.#chunks = [];
    this.#partStart = 0;
    if (this.#bulk !== undefined) this.#addBulk(this.#bulk, chunks);
    this.#writesInProgress++;
    pipe.write(chunks, () => {
      w.recycle(batch);
      if (this.#writesInProgress-- === WRITES_AHEAD) this.flush();
      if (this.#onFinished !== undefined) this.#checkFinished();
    });
    if (this.#bulk !== undefined) this.flush();
  }

  #addBulk(bulk: BulkQueue, chunks: Uint8Array[]): void {
    bulk.takePieces(chunks);
    if (bulk.isEmpty) this.#bulk = undefined;
  }

  #checkFinished(): void {
    if (this.#encodingDepth > 0) return;
    if (!this.#ended && (this.#pipe === undefined || this.unsentBytes > 0)) return;
    const done = this.#onFinished;
    this.#onFinished = undefined;
    done?.();
  }

  /** Bytes that have been written here and not yet been handed to the pipe. */
  get unsentBytes(): number {
    const written = totalBytes(this.#chunks) + this.writer.position - this.#partStart;
    return written + (this.#bulk?.waitingBytes ?? 0);
  }

  #appendDeferred(): void {
    for (const frame of this.#deferred.splice(0)) this.#appendFrame(frame);
  }

  #appendFrame({ bytes, blocks }: DeferredFrame): void {
    const w = this.writer;
    const at = w.reserve(bytes.length);
    w.bytes.set(bytes, at);
    w.blocks.push(...blocks);
    this.#frameAppended(at);
  }

  #discard(): void {
    this.#deferred = [];
    this.#chunks = [];
    this.#bulk = undefined;
    this.#partStart = 0;
    this.writer.position = 0;
  }

  /** The frame from `at` has large blocks, or is not to pass one that has. */
  #moveBlocks(at: number): void {
    const w = this.writer;
    let size = 0;
    for (const block of w.blocks) size += block.length;
    const key = this.#orderKeyOf(w.view.getUint32(at + 4, true) & 0xff, w.view.getUint32(at + 8, true));
    if (size < BULK_BYTES && this.#bulk?.mustWait(key) !== true) {
      if (size > 0) this.#insertBlocks(at);
      return;
    }
    this.#bulk ??= new BulkQueue();
    this.#bulk.add(key, copyBytes(w.bytes, at, w.position), w.blocks.splice(0));
    w.position = at;
  }

  #orderKeyOf(kind: number, a: number): number {
    return kind === FrameKind.message && this.orderedLanes.has(a) ? BARRIER : orderKeyOf(kind, a);
  }

  #insertBlocks(at: number): void {
    const w = this.writer;
    const chunks = this.#chunks;
    if (at > this.#partStart) chunks.push(w.bytes.subarray(this.#partStart, at));
    this.#partStart = at;
    for (const block of w.blocks) {
      chunks.push(newBlockHeader(block.length), block);
      const padding = align8(block.length) - block.length;
      if (padding > 0) chunks.push(zeros.subarray(0, padding));
    }
    w.blocks.length = 0;
  }
}

/** Takes the frame from `at` out of the batch. */
function takeFrame(w: Writer, at: number): DeferredFrame {
  const frame = { bytes: copyBytes(w.bytes, at, w.position), blocks: w.blocks.splice(0) };
  w.position = at;
  return frame;
}

function newBlockHeader(length: number): Uint8Array {
  const w = new Writer(HEADER_BYTES);
  const at = beginFrame(w, FrameKind.block, 0, 0);
  endFrame(w, at);
  w.view.setUint32(0, HEADER_BYTES + length, true);
  return w.bytes.subarray(0, HEADER_BYTES);
}
