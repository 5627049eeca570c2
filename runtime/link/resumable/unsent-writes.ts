/** A queue of writes that have not been copied into the resend buffer, because there is no connection or no room. */
import type { ResendBuffer } from "./resend-buffer.js";

interface UnsentWrite {
  readonly chunks: readonly Uint8Array[];
  readonly done: () => void;
}

export class UnsentWrites {
  readonly #writes: UnsentWrite[] = [];
  /** The number of copied chunks of the first write, and below the number of copied bytes of the next chunk. */
  #chunk = 0;
  #offset = 0;
  /** The callbacks of writes that were copied. */
  #copiedCallbacks: (() => void)[] = [];

  get isEmpty(): boolean {
    return this.#writes.length === 0;
  }

  add(chunks: readonly Uint8Array[], done: () => void): void {
    this.#writes.push({ chunks, done });
  }

  /**
   * Copies the next bytes, at most `room`, and no more than fit into one page.
   * @returns whether there were bytes to copy and room for them
   */
  copyNext(buffer: ResendBuffer, room: number): boolean {
    const write = this.#writes[0];
    if (write === undefined || room <= 0) return false;
    const chunk = write.chunks[this.#chunk]!;
    if (chunk.length > this.#offset) {
      const rest = this.#offset === 0 ? chunk : chunk.subarray(this.#offset);
      this.#offset += buffer.add(rest, room);
    }
    if (this.#offset < chunk.length) return true;
    this.#offset = 0;
    if (++this.#chunk === write.chunks.length) {
      this.#chunk = 0;
      this.#writes.shift();
      this.#copiedCallbacks.push(write.done);
    }
    return true;
  }

  /**
   * Returns the callbacks of the copied writes. They are called when the connection has accepted the copies; until then
   * the link batches what is written.
   */
  takeDone(): readonly (() => void)[] {
    const done = this.#copiedCallbacks;
    this.#copiedCallbacks = [];
    return done;
  }

  /**
   * Drops all writes.
   * @returns the callbacks of all writes
   */
  clear(): readonly (() => void)[] {
    return [...this.takeDone(), ...this.#writes.splice(0).map(({ done }) => done)];
  }
}
