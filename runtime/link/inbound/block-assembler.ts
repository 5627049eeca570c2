/** Assembles blocks that come in pieces, one block at a time. Complete blocks wait for their message. */
import { ProtocolError } from "../frame/frame.js";

export class BlockAssembler {
  readonly #limit: number;
  readonly #complete: Uint8Array[] = [];
  /** The incomplete block, and below the number of its bytes that have come. */
  #block: Uint8Array | undefined;
  #fill = 0;
  #bytes = 0;

  /**
   * Creates an assembler.
   * @param limit the largest number of bytes of all blocks together
   */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Returns the memory for the next piece.
   * @throws ProtocolError if the piece does not fit into the block
   */
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

  /**
   * A piece has come.
   * @param placed whether its bytes are already in the memory that `memoryFor` returned
   * @throws ProtocolError if the piece does not fit into the block
   */
  pieceReceived(total: number, bytes: Uint8Array, start: number, end: number, placed: boolean): void {
    const size = end - start;
    if (!placed) this.memoryFor(total, size).set(bytes.subarray(start, end));
    this.#fill += size;
    if (this.#fill < total) return;
    this.#complete.push(this.#block!);
    this.#block = undefined;
  }

  /**
   * Removes and returns the oldest complete block.
   * @throws ProtocolError if there is none
   */
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
