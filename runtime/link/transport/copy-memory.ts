/**
 * Memory for bytes that are read from one connection and written to another one without a further copy. All copies of the process share the parts that
 * none of them uses, so that bulk transfers allocate nothing.
 */

const PART_BYTES = 128 * 1024;

/** The room at which reading goes on in another part. Short reads cost more than the rest of a part. */
const MIN_ROOM = 64 * 1024;

/** The number of unused parts that are kept. */
const MAX_UNUSED = 32;

const unused: Buffer[] = [];

/** The memory of one direction of a copy. Bytes are read into it, taken in order to be written, and released when they are written. */
export class CopyMemory {
  #part = newPart();
  #room: Uint8Array | undefined;

  /** Returns the memory for the next bytes. It is the same until `fill` is called. */
  get room(): Uint8Array {
    if (this.#room !== undefined) return this.#room;
    const part = this.#part;
    if (part.taken === part.filled && part.writing === 0) {
      part.taken = 0;
      part.filled = 0;
    }
    this.#room = part.bytes.subarray(part.filled);
    return this.#room;
  }

  /** Whether the bytes must be taken before others are read. */
  get isFull(): boolean {
    return PART_BYTES - this.#part.filled < MIN_ROOM;
  }

  /** `n` bytes were read into the start of `room`. */
  fill(n: number): void {
    this.#part.filled += n;
    this.#room = undefined;
  }

  /**
   * Takes the bytes that were read and not taken before.
   * @returns the bytes, and a function that releases their memory
   */
  take(): { readonly bytes: Uint8Array; readonly release: () => void } | undefined {
    const part = this.#part;
    const size = part.filled - part.taken;
    if (size === 0) return undefined;
    const bytes = part.bytes.subarray(part.taken, part.filled);
    part.taken = part.filled;
    part.writing++;
    if (this.isFull) this.#part = newPart();
    const release = () => {
      part.writing--;
      if (part.writing === 0 && part !== this.#part && unused.length < MAX_UNUSED) unused.push(part.bytes);
    };
    return { bytes, release };
  }
}

/** One part: its bytes up to `taken` are written now or were written, and those up to `filled` were read. */
interface Part {
  readonly bytes: Buffer;
  filled: number;
  taken: number;
  /** The number of writes that are not done. */
  writing: number;
}

function newPart(): Part {
  return { bytes: unused.pop() ?? Buffer.allocUnsafeSlow(PART_BYTES), filled: 0, taken: 0, writing: 0 };
}
