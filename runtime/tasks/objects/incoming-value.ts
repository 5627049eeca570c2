/** An encoded value that arrives in pieces from another machine. Those that have arrived can be read by further machines already. */
import type { ObjectPiece } from "../../../generated/tasks.js";
import { crc32, UnsealedMemory } from "../kernel.js";
import type { HeldValue } from "./held-value.js";
import { PIECE_BYTES, pieceCount, pieceOf, rememberSums } from "./pieces.js";
import { type FileKeeper, readPart } from "./stored-file.js";
import { StoredValue } from "./stored-value.js";

export class IncomingValue {
  /** The number of pieces. */
  readonly count: number;
  readonly #size: number;
  readonly #head: number;
  /** The memory of the machine. Undefined: this process keeps the value in its own memory. */
  readonly #memory: UnsealedMemory | undefined;
  readonly #bytes: Uint8Array | undefined;
  readonly #keeper: FileKeeper | undefined;
  readonly #sums: number[] = [];
  #waiting: { readonly index: number; resolve(): void; reject(error: Error): void }[] = [];
  #failure: Error | undefined;
  #finished: HeldValue | undefined;

  /** @param keeper counts the value if this process becomes its owner */
  constructor({ size, head }: { readonly size: number; readonly head: number }, keeper: FileKeeper | undefined) {
    this.#keeper = keeper;
    this.#size = size;
    this.#head = head;
    this.count = pieceCount(size);
    this.#memory = UnsealedMemory.create(size);
    if (this.#memory === undefined) this.#bytes = new Uint8Array(size);
  }

  /** The number of pieces that have arrived. */
  get received(): number {
    return this.#sums.length;
  }

  /**
   * Adds the next piece.
   *
   * @throws Error if it is damaged, or the system has no memory left
   */
  add({ bytes, sum }: ObjectPiece): void {
    const index = this.received;
    const at = index * PIECE_BYTES;
    const expected = Math.min(PIECE_BYTES, this.#size - at);
    if (bytes.length !== expected) {
      throw new Error(`piece ${index} of ${this.count} has ${bytes.length} bytes in place of ${expected}`);
    }
    if (crc32(bytes) !== sum) throw new Error(`piece ${index} of ${this.count} was damaged: its checksum is wrong`);
    if (this.#memory === undefined) this.#bytes!.set(bytes, at);
    else this.#memory.write(bytes, at);
    this.#sums.push(sum);
    const waiting = this.#waiting;
    this.#waiting = waiting.filter((one) => one.index > index);
    for (const one of waiting) if (one.index <= index) one.resolve();
  }

  /** Resolves with a piece, when it has arrived. Rejects if the value does not come any more. */
  async piece(index: number): Promise<ObjectPiece> {
    if (index >= this.received && index < this.count) {
      await new Promise<void>((resolve, reject) => {
        if (this.#failure === undefined) this.#waiting.push({ index, resolve, reject });
        else reject(this.#failure);
      });
    }
    if (this.#finished !== undefined) return pieceOf(this.#finished, index);
    if (this.#failure !== undefined) throw this.#failure;
    const from = index * PIECE_BYTES;
    const length = Math.min(PIECE_BYTES, this.#size - from);
    const bytes =
      this.#memory === undefined
        ? this.#bytes!.subarray(from, from + length)
        : new Uint8Array(readPart(this.#memory.file, from, length));
    return { bytes, sum: this.#sums[index]! };
  }

  /** Returns the value, all pieces of which have arrived. */
  finish(): HeldValue {
    const value =
      this.#memory === undefined
        ? this.#bytes!
        : StoredValue.sealed(this.#memory.seal(), { head: this.#head, size: this.#size }, this.#keeper);
    rememberSums(value, this.#sums);
    this.#finished = value;
    return value;
  }

  /** The value does not come any more. */
  fail(error: Error): void {
    this.#failure = error;
    this.#memory?.close();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { reject } of waiting) reject(error);
  }
}
