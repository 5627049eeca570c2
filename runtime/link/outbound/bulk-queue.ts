/**
 * What is too large to stand in the way: frames with large blocks wait here, their blocks go out in pieces between other
 * frames, and the frame itself follows its last piece. What must stay behind such a frame waits with it: messages of its
 * lane, answers to its call. Everything else passes.
 */
import { align8, FrameKind, HEADER_BYTES } from "../frame/frame.js";

/** Frames with as many bytes of blocks, or more, wait here. */
export const BULK_BYTES = 256 * 1024;

/** Bytes of blocks that go with one batch. */
const PIECE_BYTES = 256 * 1024;

interface BulkEntry {
  readonly frame: Uint8Array;
  readonly blocks: readonly Uint8Array[];
  readonly key: number;
}

/** Of frames that pass none, and that none passes: they end or hand over what others refer to. */
export const BARRIER = Number.NaN;
/** Of frames whose place among others means nothing. */
const UNORDERED = Number.POSITIVE_INFINITY;

const zeros = new Uint8Array(8);

export class BulkQueue {
  readonly #entries: BulkEntry[] = [];
  /** How many frames wait that must keep their order, by what they have it in. */
  readonly #keys = new Map<number, number>();
  #barriers = 0;
  /** The block of the first entry that is on its way, and what of it has been sent. */
  #blockIndex = 0;
  #sentOfBlock = 0;
  #waitingBytes = 0;

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** Bytes that wait. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Whether a frame with this key has to wait behind one that does. */
  mustWait(key: number): boolean {
    return this.#barriers > 0 || Number.isNaN(key) || this.#keys.has(key);
  }

  /** @param frame whole, padded, and nobody else's. @param blocks those that belong to it */
  add(key: number, frame: Uint8Array, blocks: readonly Uint8Array[]): void {
    if (Number.isNaN(key)) this.#barriers++;
    else this.#keys.set(key, (this.#keys.get(key) ?? 0) + 1);
    this.#entries.push({ frame, blocks, key });
    for (const bytes of [frame, ...blocks]) this.#waitingBytes += bytes.length;
  }

  /** Adds to a batch what comes next: at most so much that others do not wait long for the next batch. */
  takePieces(chunks: Uint8Array[]): void {
    for (let room = PIECE_BYTES; room > 0; ) {
      const entry = this.#entries[0];
      if (entry === undefined) return;
      const block = entry.blocks[this.#blockIndex];
      if (block === undefined) {
        room -= entry.frame.length;
        this.#finish(entry, chunks);
        continue;
      }
      const size = Math.min(room, block.length - this.#sentOfBlock);
      chunks.push(
        newFrameHeader(FrameKind.piece, 0, block.length, size),
        block.subarray(this.#sentOfBlock, this.#sentOfBlock + size),
      );
      if ((size & 7) !== 0) chunks.push(zeros.subarray(0, align8(size) - size));
      room -= size;
      this.#sentOfBlock += size;
      this.#waitingBytes -= size;
      if (this.#sentOfBlock < block.length) continue;
      this.#blockIndex++;
      this.#sentOfBlock = 0;
    }
  }

  /** All blocks of an entry have been sent. */
  #finish({ frame, blocks, key }: BulkEntry, chunks: Uint8Array[]): void {
    for (const _ of blocks) chunks.push(newFrameHeader(FrameKind.block, 1, 0, 0));
    chunks.push(frame);
    this.#waitingBytes -= frame.length;
    this.#entries.shift();
    this.#blockIndex = 0;
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
export function orderKeyOf(kind: number, a: number): number {
  switch (kind) {
    case FrameKind.message:
    case FrameKind.bind:
    case FrameKind.cancel:
      return a;
    case FrameKind.reply:
    case FrameKind.error:
    case FrameKind.item:
    case FrameKind.end:
      return -1 - a;
    case FrameKind.credit:
    case FrameKind.streamCredit:
    case FrameKind.open:
    case FrameKind.extent:
    case FrameKind.ask:
    case FrameKind.tell:
    case FrameKind.hold:
    case FrameKind.relay:
      return UNORDERED;
    default:
      return BARRIER;
  }
}

function newFrameHeader(kind: number, a: number, b: number, size: number): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, HEADER_BYTES + size, true);
  view.setUint32(4, kind, true);
  view.setUint32(8, a, true);
  view.setUint32(12, b, true);
  return bytes;
}
