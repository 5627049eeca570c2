/**
 * Sends what a connection for bulk bytes has to say: a few batches ahead of what the pipe has taken, so that it never waits, and no more,
 * so that memory is let go of soon and what waits can still be taken back.
 */
import type { Pipe } from "../../../link/transport/pipe.js";

/** Batches that the pipe has been given and not taken. */
const MAX_BATCHES_AHEAD = 2;
/** About how many bytes one of them has. */
const BATCH_BYTES = 1 << 20;

/** One frame, and bytes behind it, which stay untouched until `sent` is called: they have been taken, or will never be. */
export interface OutgoingFrame {
  readonly chunks: readonly Uint8Array[];
  sent?(): void;
}

export class FrameSender {
  readonly #pipe: Pipe;
  readonly #nextFrame: () => OutgoingFrame | undefined;
  #batchesAhead = 0;
  #isStopped = false;

  /** @param next what is to be sent; undefined: nothing yet */
  constructor(pipe: Pipe, next: () => OutgoingFrame | undefined) {
    this.#pipe = pipe;
    this.#nextFrame = next;
  }

  /** There is something to be sent. */
  sendPending(): void {
    while (!this.#isStopped && this.#batchesAhead < MAX_BATCHES_AHEAD) {
      const chunks: Uint8Array[] = [];
      const batch: OutgoingFrame[] = [];
      for (let bytes = 0; bytes < BATCH_BYTES; ) {
        const one = this.#nextFrame();
        if (one === undefined) break;
        batch.push(one);
        for (const chunk of one.chunks) {
          chunks.push(chunk);
          bytes += chunk.length;
        }
      }
      if (batch.length === 0) return;
      this.#batchesAhead++;
      this.#pipe.write(chunks, () => {
        this.#batchesAhead--;
        for (const one of batch) one.sent?.();
        this.sendPending();
      });
    }
  }

  /** Sends no more. */
  stop(): void {
    this.#isStopped = true;
  }
}
