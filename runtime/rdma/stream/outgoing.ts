/**
 * Sends what a connection for bulk bytes has to say: a few batches ahead of what the pipe has taken, so that it never waits, and no more,
 * so that memory is let go of soon and what waits can still be taken back.
 */
import type { Pipe } from "../../link/pipe.js";

/** Batches that the pipe has been given and not taken. */
const AHEAD = 2;
/** About how many bytes one of them has. */
const BATCH_BYTES = 1 << 20;

/** One frame, and bytes behind it, which stay untouched until `sent` is called: they have been taken, or will never be. */
export interface Sendable {
  readonly chunks: readonly Uint8Array[];
  sent?(): void;
}

export class Outgoing {
  readonly #pipe: Pipe;
  readonly #next: () => Sendable | undefined;
  #underWay = 0;
  #stopped = false;

  /** @param next what is to be sent; undefined: nothing yet */
  constructor(pipe: Pipe, next: () => Sendable | undefined) {
    this.#pipe = pipe;
    this.#next = next;
  }

  /** There is something to be sent. */
  pump(): void {
    while (!this.#stopped && this.#underWay < AHEAD) {
      const chunks: Uint8Array[] = [];
      const batch: Sendable[] = [];
      for (let bytes = 0; bytes < BATCH_BYTES; ) {
        const one = this.#next();
        if (one === undefined) break;
        batch.push(one);
        for (const chunk of one.chunks) {
          chunks.push(chunk);
          bytes += chunk.length;
        }
      }
      if (batch.length === 0) return;
      this.#underWay++;
      this.#pipe.write(chunks, () => {
        this.#underWay--;
        for (const one of batch) one.sent?.();
        this.pump();
      });
    }
  }

  /** Sends no more. */
  stop(): void {
    this.#stopped = true;
  }
}
