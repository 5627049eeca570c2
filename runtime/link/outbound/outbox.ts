/**
 * The sending half of a link. Frames are written into one batch, which is handed to the pipe at the end of the tick
 * (flush-schedule.ts), or earlier when it is full. Large blocks are sent from their own buffers, without copying, each
 * before the message to which it belongs. Very large blocks are sent in pieces, so that other frames need not wait
 * (bulk-queue.ts).
 */
import { Writer } from "../../wire/writer.js";
import { coreContention } from "../core-contention.js";
import { align8, beginFrame, copyBytes, endFrame, FrameKind, HEADER_BYTES } from "../frame/frame.js";
import { type Pipe, totalBytes } from "../transport/pipe.js";
import { BARRIER, BULK_BYTES, BulkQueue, orderKeyOf } from "./bulk-queue.js";
import { type Flushable, scheduleFlush } from "./flush-schedule.js";

/** The number of bytes from which on a batch is sent before the end of the tick. */
export const FLUSH_BYTES = 64 * 1024;

/** The same number for a thread that has to wait for its core. */
export const CONTENDED_FLUSH_BYTES = 224 * 1024;

/** The number of batches that the pipe may hold. While the pipe holds so many, the next batch grows. */
const WRITES_AHEAD = 2;

const zeros = new Uint8Array(8);

/** A frame that was written while another frame was being encoded. */
interface DeferredFrame {
  readonly bytes: Uint8Array;
  readonly blocks: readonly Uint8Array[];
}

/** Writers for messages that getters send while the value with the getters is being encoded. */
const innerWriters: Writer[] = [];
let innerWritersInUse = 0;

function addInnerWriter(): Writer {
  const w = new Writer(1024);
  innerWriters.push(w);
  return w;
}

export class Outbox implements Flushable {
  /** The writer of frames: that of the batch, or another one while a value is being encoded. Between frames its position is 8-aligned. */
  writer: Writer;
  readonly #batch: Writer;
  /** Lanes whose messages keep their order behind all earlier frames, such as orders to stop the receivers of those frames. */
  readonly orderedLanes = new Set<number>();
  #pipe: Pipe | undefined;
  /** The parts of the batch that precede the writer's content, blocks among them. */
  #chunks: Uint8Array[] = [];
  /** The offset of the writer's content that is not in `#chunks` yet. */
  #partStart = 0;
  /** Frames with very large blocks, which are sent between other frames. */
  #bulk: BulkQueue | undefined;
  #isScheduled = false;
  #writesInProgress = 0;
  #ended = false;
  #onFinished: (() => void) | undefined;
  #deferred: DeferredFrame[] = [];

  /**
   * Creates an outbox without a pipe.
   * @param firstPage the number of bytes that the writer allocates first
   */
  constructor(firstPage: number) {
    this.#batch = new Writer(firstPage);
    this.writer = this.#batch;
  }

  /** Sets the pipe, and sends what was written so far. */
  attach(pipe: Pipe): void {
    this.#pipe = pipe;
    this.flush();
    if (this.#onFinished !== undefined) this.#checkFinished();
  }

  /** Calls `done` when everything that was written has been handed to the pipe. */
  finish(done: () => void): void {
    this.#onFinished = done;
    this.flush();
    this.#checkFinished();
  }

  /** Stops sending. What is written from now on is dropped. */
  end(): void {
    this.#ended = true;
    this.#discard();
  }

  /**
   * A value is about to be encoded into the frame that was begun. The getters of the value are user code and may send
   * on this link themselves. Their frames are written to another writer and are sent before this frame. `endValue` must
   * follow, also when encoding fails.
   */
  beginValue(): void {
    this.writer = innerWriters[innerWritersInUse++] ?? addInnerWriter();
  }

  /**
   * The value has been encoded, or encoding has failed.
   * @param outer the writer of the frame
   */
  endValue(outer: Writer): void {
    innerWritersInUse--;
    this.writer = outer;
  }

  /** Completes the frame that starts at `at`. The batch is sent at the end of this tick at the latest. */
  commit(at: number): void {
    const w = this.writer;
    endFrame(w, at);
    if (w !== this.#batch || this.#deferred.length > 0) this.#commitInOrder(w, at);
    else this.#frameAppended(at);
  }

  /** Completes a frame that getters have sent, or whose getters have sent frames, which come first. */
  #commitInOrder(w: Writer, at: number): void {
    const frame = takeFrame(w, at);
    if (this.writer !== this.#batch) {
      this.#deferred.push(frame);
      if (!this.#isScheduled) this.scheduleFlush();
    } else {
      this.#appendDeferred();
      this.#appendFrame(frame);
    }
  }

  #frameAppended(at: number): void {
    const w = this.writer;
    if (this.#bulk !== undefined || w.blocks.length > 0) this.#moveBlocks(at);
    if (w.position - this.#partStart >= FLUSH_BYTES) this.#flushFull(w);
    else if (!this.#isScheduled) this.scheduleFlush();
  }

  /** Sends a batch that has become large enough to be sent before the end of the tick, or schedules its sending. */
  #flushFull(w: Writer): void {
    const isFull = !coreContention.isContended || w.position - this.#partStart >= CONTENDED_FLUSH_BYTES;
    if (isFull) this.flush();
    else if (!this.#isScheduled) this.scheduleFlush();
  }

  /** Schedules the sending of the batch, at the end of this tick at the latest. */
  scheduleFlush(): void {
    this.#isScheduled = true;
    scheduleFlush(this);
  }

  /** Sends the batch when its scheduled time has come. */
  flushScheduled(): void {
    this.#isScheduled = false;
    this.flush();
  }

  /** Sends the batch, unless the pipe holds too much already. Then the batch is sent when the pipe has room. */
  flush(): void {
    const pipe = this.#pipe;
    // A frame whose value is being encoded is incomplete. Encoding may also have failed and left only the frames of the
    // getters.
    if (this.writer !== this.#batch) return;
    if (this.#deferred.length > 0) this.#appendDeferred();
    const w = this.writer;
    if (w.position === 0 && this.#chunks.length === 0 && this.#bulk === undefined) return;
    if (this.#ended) this.#discard();
    if (this.#ended || pipe === undefined || this.#writesInProgress >= WRITES_AHEAD) return;
    if (this.#writeNow(pipe)) {
      if (this.#onFinished !== undefined) this.#checkFinished();
      return;
    }
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

  /**
   * Writes a batch at once, if the pipe can. This saves the list of chunks, the callback, and the search for the
   * page when the callback returns it: 0.4 us for each link of a call to many (`npm run bench:fanout`; decision 226).
   * @returns false if a rest of the batch, from `#partStart` on, must be passed to `write`
   */
  #writeNow(pipe: Pipe): boolean {
    const w = this.writer;
    const { position } = w;
    if (this.#chunks.length > 0 || this.#partStart > 0 || this.#bulk !== undefined) return false;
    if (pipe.writeNow === undefined) return false;
    const taken = pipe.writeNow(w.bytes, position);
    if (taken < position) {
      this.#partStart = taken;
      return false;
    }
    w.release();
    return true;
  }

  #addBulk(bulk: BulkQueue, chunks: Uint8Array[]): void {
    bulk.takePieces(chunks);
    if (bulk.isEmpty) this.#bulk = undefined;
  }

  #checkFinished(): void {
    if (this.writer !== this.#batch) return;
    if (!this.#ended && (this.#pipe === undefined || this.unsentBytes > 0)) return;
    const done = this.#onFinished;
    this.#onFinished = undefined;
    done?.();
  }

  /** The number of bytes that were written and have not been handed to the pipe. */
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

  /**
   * Moves the blocks of the frame that starts at `at` out of the writer: into the batch, or with the frame into the
   * bulk queue.
   */
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

/** Removes the frame that starts at `at` from the batch. */
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
