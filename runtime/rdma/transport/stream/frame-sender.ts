/**
 * Sends the frames of a connection for memory bytes. It passes only a few batches to the pipe in advance: enough that
 * the pipe is never idle, and so few that memory is released soon and waiting frames can still be cancelled.
 */
import type { Pipe } from "../../../link/transport/pipe.js";

/** Maximum number of batches that the pipe has not taken yet. */
const MAX_BATCHES_AHEAD = 2;
/** Approximate size of a batch in bytes. */
const BATCH_BYTES = 1 << 20;

/**
 * A frame and its body. The memory must not change until `sent` is called, when the pipe has taken it or never will.
 */
export interface OutgoingFrame {
  readonly chunks: readonly Uint8Array[];
  sent?(): void;
}

export class FrameSender {
  readonly #pipe: Pipe;
  readonly #nextFrame: () => OutgoingFrame | undefined;
  #batchesAhead = 0;
  #isStopped = false;

  /** @param next returns the next frame, or undefined if there is none yet */
  constructor(pipe: Pipe, next: () => OutgoingFrame | undefined) {
    this.#pipe = pipe;
    this.#nextFrame = next;
  }

  /** Sends waiting frames, as far as the limits allow. */
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

  /** Stops sending. */
  stop(): void {
    this.#isStopped = true;
  }
}
