/** Blocks that come in pieces: one at a time is being put together, and those that are whole wait for their message. */
import { ProtocolError } from "../frame/frame.js";

export class BlockAssembler {
  readonly #limit: number;
  readonly #complete: Uint8Array[] = [];
  /** The block at hand, and how much of it has come. */
  #block: Uint8Array | undefined;
  #fill = 0;
  #bytes = 0;

  /** @param limit bytes of all blocks together */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Where the next piece belongs. @throws ProtocolError if it does not fit */
  memoryFor(total: number, size: number): Uint8Array {
    const block = this.#block ?? this.#begin(total);
    if (block.length !== total || size === 0 || size > total - this.#fill) {
      const left = block.length - this.#fill;
      throw new ProtocolError(
        `cannot read piece: expected 1 to ${left} bytes of a block of ${block.length}, got ${size} of one of ${total}`,
      );
    }
    return block.subarray(this.#fill, this.#fill + size);
  }

  /** A piece has come. @param placed where it belongs already. @throws ProtocolError if it does not fit */
  pieceReceived(total: number, bytes: Uint8Array, start: number, end: number, placed: boolean): void {
    const size = end - start;
    if (!placed) this.memoryFor(total, size).set(bytes.subarray(start, end));
    this.#fill += size;
    if (this.#fill < total) return;
    this.#complete.push(this.#block!);
    this.#block = undefined;
  }

  /** The oldest whole block goes to its message. @throws ProtocolError if there is none */
  takeBlock(): Uint8Array {
    const block = this.#complete.shift();
    if (block === undefined) throw new ProtocolError("cannot read block: it has not come in pieces");
    this.#bytes -= block.length;
    return block;
  }

  #begin(total: number): Uint8Array {
    if (total === 0 || this.#bytes + total > this.#limit) {
      throw new ProtocolError(
        `cannot read piece: expected blocks of at most ${this.#limit} bytes together, got one of ${total}`,
      );
    }
    this.#block = new Uint8Array(new ArrayBuffer(total));
    this.#fill = 0;
    this.#bytes += total;
    return this.#block;
  }
}
