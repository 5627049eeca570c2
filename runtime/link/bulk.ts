/**
 * What is too large to stand in the way: frames with large blocks wait here, their blocks go out in pieces between other
 * frames, and the frame itself follows its last piece. What must stay behind such a frame waits with it: messages of its
 * lane, answers to its call. Everything else passes.
 */
import { align8, HEADER, Kind } from "./frame.js";

/** Frames with as many bytes of blocks, or more, wait here. */
export const BULK_BYTES = 256 * 1024;

/** Bytes of blocks that go with one batch. */
const PIECE = 256 * 1024;

interface Entry {
  readonly frame: Uint8Array;
  readonly blocks: readonly Uint8Array[];
  readonly key: number;
}

/** Of frames that pass none, and that none passes: they end or hand over what others refer to. */
export const BARRIER = Number.NaN;
/** Of frames whose place among others means nothing. */
const FREE = Number.POSITIVE_INFINITY;

const zeros = new Uint8Array(8);

export class Bulk {
  readonly #entries: Entry[] = [];
  /** How many frames wait that must keep their order, by what they have it in. */
  readonly #keys = new Map<number, number>();
  #barriers = 0;
  /** The block of the first entry that is on its way, and what of it has been sent. */
  #block = 0;
  #sent = 0;
  #bytes = 0;

  get empty(): boolean {
    return this.#entries.length === 0;
  }

  /** Bytes that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether a frame with this key has to wait behind one that does. */
  holds(key: number): boolean {
    return this.#barriers > 0 || Number.isNaN(key) || this.#keys.has(key);
  }

  /** @param frame whole, padded, and nobody else's. @param blocks those that belong to it */
  add(key: number, frame: Uint8Array, blocks: readonly Uint8Array[]): void {
    if (Number.isNaN(key)) this.#barriers++;
    else this.#keys.set(key, (this.#keys.get(key) ?? 0) + 1);
    this.#entries.push({ frame, blocks, key });
    for (const bytes of [frame, ...blocks]) this.#bytes += bytes.length;
  }

  /** Adds to a batch what comes next: at most so much that others do not wait long for the next batch. */
  take(chunks: Uint8Array[]): void {
    for (let room = PIECE; room > 0; ) {
      const entry = this.#entries[0];
      if (entry === undefined) return;
      const block = entry.blocks[this.#block];
      if (block === undefined) {
        room -= entry.frame.length;
        this.#finish(entry, chunks);
        continue;
      }
      const size = Math.min(room, block.length - this.#sent);
      chunks.push(header(Kind.piece, 0, block.length, size), block.subarray(this.#sent, this.#sent + size));
      if ((size & 7) !== 0) chunks.push(zeros.subarray(0, align8(size) - size));
      room -= size;
      this.#sent += size;
      this.#bytes -= size;
      if (this.#sent < block.length) continue;
      this.#block++;
      this.#sent = 0;
    }
  }

  /** All blocks of an entry have been sent. */
  #finish({ frame, blocks, key }: Entry, chunks: Uint8Array[]): void {
    for (const _ of blocks) chunks.push(header(Kind.block, 1, 0, 0));
    chunks.push(frame);
    this.#bytes -= frame.length;
    this.#entries.shift();
    this.#block = 0;
    if (Number.isNaN(key)) {
      this.#barriers--;
      return;
    }
    const left = this.#keys.get(key)! - 1;
    if (left === 0) this.#keys.delete(key);
    else this.#keys.set(key, left);
  }
}

/** What a frame has its order in: a lane, a call, nothing (`FREE`), or everything (`BARRIER`). */
export function keyOf(kind: number, a: number): number {
  switch (kind) {
    case Kind.message:
    case Kind.bind:
    case Kind.cancel:
      return a;
    case Kind.reply:
    case Kind.error:
    case Kind.item:
    case Kind.end:
      return -1 - a;
    case Kind.credit:
    case Kind.streamCredit:
    case Kind.open:
    case Kind.extent:
    case Kind.ask:
    case Kind.tell:
    case Kind.hold:
    case Kind.relay:
      return FREE;
    default:
      return BARRIER;
  }
}

function header(kind: number, a: number, b: number, size: number): Uint8Array {
  const bytes = new Uint8Array(HEADER);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, HEADER + size, true);
  view.setUint32(4, kind, true);
  view.setUint32(8, a, true);
  view.setUint32(12, b, true);
  return bytes;
}
