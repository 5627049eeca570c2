/** Writes that were handed over and have not been copied yet, because there is no connection or no room. */
import type { ResendBuffer } from "./resend-buffer.js";

interface UnsentWrite {
  readonly chunks: readonly Uint8Array[];
  readonly done: () => void;
}

export class UnsentWrites {
  readonly #writes: UnsentWrite[] = [];
  /** What was copied of the first of them: chunks, and bytes of the next one. */
  #chunk = 0;
  #offset = 0;
  /** Of writes that were copied. */
  #copiedCallbacks: (() => void)[] = [];

  get isEmpty(): boolean {
    return this.#writes.length === 0;
  }

  add(chunks: readonly Uint8Array[], done: () => void): void {
    this.#writes.push({ chunks, done });
  }

  /** Copies the next bytes, at most `room`, as far as one page goes. @returns whether there were any, and room */
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

  /** What is to be called when the connection has taken what was copied: until then the link gathers what comes. */
  takeDone(): readonly (() => void)[] {
    const done = this.#copiedCallbacks;
    this.#copiedCallbacks = [];
    return done;
  }

  /** Nothing will be sent any more. @returns what is to be called */
  clear(): readonly (() => void)[] {
    return [...this.takeDone(), ...this.#writes.splice(0).map(({ done }) => done)];
  }
}
