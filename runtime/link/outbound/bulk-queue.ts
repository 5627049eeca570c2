/**
 * A queue for frames with large blocks. The blocks are sent in pieces between other frames, and the frame follows its
 * last piece, so that large blocks do not delay other frames. Frames that must keep their order behind a queued frame
 * are queued as well: messages of the same lane, and answers to the same call. All other frames are sent at once.
 */
import { align8, FrameKind, HEADER_BYTES } from "../frame/frame.js";

/** The number of bytes of blocks from which on a frame is queued here. */
export const BULK_BYTES = 256 * 1024;

/** The number of bytes of blocks that are sent with one batch. */
const PIECE_BYTES = 256 * 1024;

interface BulkEntry {
  readonly frame: Uint8Array;
  readonly blocks: readonly Uint8Array[];
  readonly key: number;
}

/**
 * The key of frames that keep their order with all other frames, because they end or assign something that other frames
 * refer to.
 */
export const BARRIER = Number.NaN;
/** The key of frames that can be sent in any order. */
const UNORDERED = Number.POSITIVE_INFINITY;

const zeros = new Uint8Array(8);

export class BulkQueue {
  readonly #entries: BulkEntry[] = [];
  /** The number of queued frames of each key. */
  readonly #keys = new Map<number, number>();
  #barriers = 0;
  /** The index of the block of the first entry that is being sent, and below the number of its bytes that were sent. */
  #blockIndex = 0;
  #sentOfBlock = 0;
  #waitingBytes = 0;

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** The number of queued bytes. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Returns whether a frame with this key must be queued to keep its order. */
  mustWait(key: number): boolean {
    return this.#barriers > 0 || Number.isNaN(key) || this.#keys.has(key);
  }

  /**
   * Queues a frame.
   * @param frame the complete frame with its padding, in memory of its own
   * @param blocks the blocks of the frame
   */
  add(key: number, frame: Uint8Array, blocks: readonly Uint8Array[]): void {
    if (Number.isNaN(key)) this.#barriers++;
    else this.#keys.set(key, (this.#keys.get(key) ?? 0) + 1);
    this.#entries.push({ frame, blocks, key });
    for (const bytes of [frame, ...blocks]) this.#waitingBytes += bytes.length;
  }

  /** Moves the next pieces to a batch, at most so many bytes that other frames do not wait long for the next batch. */
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

  /** Sends the frame of an entry whose blocks have been sent. */
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

/** Returns the key within which a frame keeps its order: its lane, its call, `UNORDERED` or `BARRIER`. */
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
