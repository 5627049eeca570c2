/**
 * The sending half of a link: frames are written one after another into one batch, which goes to the pipe at the end of the
 * tick at the latest (flushing.ts), or sooner when it has grown. Large blocks go as their own buffers, uncopied, each before
 * the message it belongs to; very large ones in pieces, so that nothing waits for them (bulk.ts).
 */
import { Writer } from "../wire/writer.js";
import { BARRIER, BULK_BYTES, Bulk, keyOf } from "./bulk.js";
import { arm, type Flushed } from "./flushing.js";
import { align8, beginFrame, copyBytes, endFrame, HEADER, Kind } from "./frame.js";
import { type Pipe, sizeOf } from "./pipe.js";

/** A batch of this many bytes is sent without waiting for the end of the tick. */
export const FLUSH_BYTES = 64 * 1024;

/** Batches handed to the pipe and not yet taken by it; more wait here and grow instead. */
const WRITES_AHEAD = 2;

const zeros = new Uint8Array(8);

/** A frame that was written while another one was not complete. */
interface SetAside {
  readonly bytes: Uint8Array;
  readonly blocks: readonly Uint8Array[];
}

/** Writers for values that are sent by the getters of values that are being encoded. */
const inner: Writer[] = [];
let used = 0;

export class Outbox implements Flushed {
  /** Where frames are written; between frames its position is 8-aligned. */
  writer: Writer;
  /** Lanes whose messages come after all that was sent before: orders to stop what that was sent to. */
  readonly ordered = new Set<number>();
  #pipe: Pipe | undefined;
  /** What goes before the batch at hand: earlier parts of it, and blocks. */
  #chunks: Uint8Array[] = [];
  /** Where the part of the batch begins that is not in `#chunks` yet. */
  #from = 0;
  /** What goes out in between. */
  #bulk: Bulk | undefined;
  #armed = false;
  #writing = 0;
  #ended = false;
  #finished: (() => void) | undefined;
  /** How many values are being encoded, each by a getter of the one before. */
  #encoding = 0;
  #aside: SetAside[] = [];

  /** @param firstPage bytes of the memory that it begins with */
  constructor(firstPage: number) {
    this.writer = new Writer(firstPage);
  }

  /** What was written so far, and all that follows, goes to `pipe`. */
  attach(pipe: Pipe): void {
    this.#pipe = pipe;
    this.flush();
    if (this.#finished !== undefined) this.#checkFinished();
  }

  /** Calls `done` when everything that has been written was handed to the pipe. */
  finish(done: () => void): void {
    this.#finished = done;
    this.flush();
    this.#checkFinished();
  }

  /** Nothing is sent any more: what is written from now on is dropped. */
  end(): void {
    this.#ended = true;
    this.#drop();
  }

  /**
   * A value of the user's is about to be encoded into the frame that has been begun. Its getters are code of the user's, and
   * may send over this link themselves: what they send is written elsewhere, and goes out before this frame. `endValue` must
   * follow, also when encoding fails.
   */
  beginValue(): void {
    this.#encoding++;
    if (used === inner.length) inner.push(new Writer(1024));
    this.writer = inner[used++]!;
  }

  /** @param outer the writer of the frame */
  endValue(outer: Writer): void {
    this.#encoding--;
    used--;
    this.writer = outer;
  }

  /** The frame from `at` is complete. Sends the batch, at the latest at the end of this tick. */
  commit(at: number): void {
    const w = this.writer;
    endFrame(w, at);
    if (this.#encoding > 0) {
      this.#aside.push(setAside(w, at));
      if (!this.#armed) this.arm();
      return;
    }
    if (this.#aside.length > 0) {
      const last = setAside(w, at);
      this.#writeAside();
      this.#rewrite(last);
      return;
    }
    this.#committed(at);
  }

  #committed(at: number): void {
    const w = this.writer;
    if (this.#bulk !== undefined || w.blocks.length > 0) this.#place(at);
    if (w.position - this.#from >= FLUSH_BYTES) this.flush();
    else if (!this.#armed) this.arm();
  }

  /** Sees to it that the batch is sent, at the latest at the end of this tick. */
  arm(): void {
    this.#armed = true;
    arm(this);
  }

  /** That for which it was armed. */
  flushArmed(): void {
    this.#armed = false;
    this.flush();
  }

  /** Sends what there is, unless the pipe is behind: then it is sent when the pipe has caught up. */
  flush(): void {
    const pipe = this.#pipe;
    // Nothing is complete before the value is. It may also have been refused, and only what its getters sent is left.
    if (this.#encoding > 0) return;
    if (this.#aside.length > 0) this.#writeAside();
    const w = this.writer;
    if (w.position === 0 && this.#chunks.length === 0 && this.#bulk === undefined) return;
    if (this.#ended) this.#drop();
    if (this.#ended || pipe === undefined || this.#writing >= WRITES_AHEAD) return;
    const chunks = this.#chunks;
    const batch = w.take();
    if (batch.length > this.#from) chunks.push(this.#from === 0 ? batch : batch.subarray(this.#from));
    this.#chunks = [];
    this.#from = 0;
    if (this.#bulk !== undefined) this.#addBulk(this.#bulk, chunks);
    this.#writing++;
    pipe.write(chunks, () => {
      w.recycle(batch);
      if (this.#writing-- === WRITES_AHEAD) this.flush();
      if (this.#finished !== undefined) this.#checkFinished();
    });
    if (this.#bulk !== undefined) this.flush();
  }

  #addBulk(bulk: Bulk, chunks: Uint8Array[]): void {
    bulk.take(chunks);
    if (bulk.empty) this.#bulk = undefined;
  }

  #checkFinished(): void {
    if (this.#encoding > 0) return;
    if (!this.#ended && (this.#pipe === undefined || this.waiting > 0)) return;
    const done = this.#finished;
    this.#finished = undefined;
    done?.();
  }

  /** Bytes that have been written here and not yet been handed to the pipe. */
  get waiting(): number {
    const written = sizeOf(this.#chunks) + this.writer.position - this.#from;
    return written + (this.#bulk?.bytes ?? 0);
  }

  #writeAside(): void {
    for (const frame of this.#aside.splice(0)) this.#rewrite(frame);
  }

  #rewrite({ bytes, blocks }: SetAside): void {
    const w = this.writer;
    const at = w.reserve(bytes.length);
    w.bytes.set(bytes, at);
    w.blocks.push(...blocks);
    this.#committed(at);
  }

  #drop(): void {
    this.#aside = [];
    this.#chunks = [];
    this.#bulk = undefined;
    this.#from = 0;
    this.writer.position = 0;
  }

  /** The frame from `at` has large blocks, or is not to pass one that has. */
  #place(at: number): void {
    const w = this.writer;
    let size = 0;
    for (const block of w.blocks) size += block.length;
    const key = this.#keyOf(w.view.getUint32(at + 4, true) & 0xff, w.view.getUint32(at + 8, true));
    if (size < BULK_BYTES && this.#bulk?.holds(key) !== true) {
      if (size > 0) this.#insertBlocks(at);
      return;
    }
    this.#bulk ??= new Bulk();
    this.#bulk.add(key, copyBytes(w.bytes, at, w.position), w.blocks.splice(0));
    w.position = at;
  }

  #keyOf(kind: number, a: number): number {
    return kind === Kind.message && this.ordered.has(a) ? BARRIER : keyOf(kind, a);
  }

  #insertBlocks(at: number): void {
    const w = this.writer;
    const chunks = this.#chunks;
    if (at > this.#from) chunks.push(w.bytes.subarray(this.#from, at));
    this.#from = at;
    for (const block of w.blocks) {
      chunks.push(blockHeader(block.length), block);
      const padding = align8(block.length) - block.length;
      if (padding > 0) chunks.push(zeros.subarray(0, padding));
    }
    w.blocks.length = 0;
  }
}

/** Takes the frame from `at` out of the batch. */
function setAside(w: Writer, at: number): SetAside {
  const frame = { bytes: copyBytes(w.bytes, at, w.position), blocks: w.blocks.splice(0) };
  w.position = at;
  return frame;
}

function blockHeader(length: number): Uint8Array {
  const w = new Writer(HEADER);
  const at = beginFrame(w, Kind.block, 0, 0);
  endFrame(w, at);
  w.view.setUint32(0, HEADER + length, true);
  return w.bytes.subarray(0, HEADER);
}
