/** Several transfers as one step: to any buffers, of any processes, all under way at a time; done when all are. */
import { offAbort, onAbort } from "../abort-listeners.js";
import type { RdmaBuffer, RdmaTransferOptions } from "./buffer.js";
import type { TransferOptions } from "./transfer.js";

type StepOptions = Omit<RdmaTransferOptions, keyof TransferOptions>;

interface TransferStep {
  readonly direction: "readInto" | "writeFrom";
  readonly buffer: RdmaBuffer;
  readonly local: ArrayBufferView;
  readonly options: StepOptions;
  moved: number;
  bytes: number;
}

export class RdmaAction {
  readonly #steps: TransferStep[] = [];
  #submitted = false;

  /** Adds a read. Nothing happens before `submit`. */
  readInto(buffer: RdmaBuffer, local: ArrayBufferView, move: StepOptions = {}): this {
    return this.#addStep("readInto", buffer, local, move);
  }

  /** Adds a write. They have no order among each other, nor with reads. */
  writeFrom(buffer: RdmaBuffer, local: ArrayBufferView, move: StepOptions = {}): this {
    return this.#addStep("writeFrom", buffer, local, move);
  }

  /**
   * Starts all of them, and resolves when all are done. When one fails the others are given up, and this rejects with its error once
   * none of them touches local memory any more; what the others have moved by then is undefined. Once.
   */
  async submit({ signal, timeout, onProgress }: TransferOptions = {}): Promise<void> {
    if (this.#submitted) throw new TypeError("cannot submit an RdmaAction: it was submitted already; make a new one");
    this.#submitted = true;
    signal?.throwIfAborted();
    const failed = new AbortController();
    const abort = () => failed.abort(signal?.reason);
    if (signal !== undefined) onAbort(signal, abort);
    const steps = this.#steps;
    const report = () => {
      let moved = 0;
      let bytes = 0;
      for (const step of steps) {
        moved += step.moved;
        bytes += step.bytes;
      }
      onProgress?.(moved, bytes);
    };
    const run = async (step: TransferStep) => {
      try {
        await step.buffer[step.direction](step.local, {
          ...step.options,
          signal: failed.signal,
          ...(timeout !== undefined && { timeout }),
          ...(onProgress !== undefined && {
            onProgress: (moved: number, bytes: number) => {
              step.moved = moved;
              step.bytes = bytes;
              report();
            },
          }),
        });
      } catch (error) {
        failed.abort(error);
      }
    };
    await Promise.all(steps.map(run));
    if (signal !== undefined) offAbort(signal, abort);
    if (failed.signal.aborted) throw failed.signal.reason;
  }

  #addStep(direction: TransferStep["direction"], buffer: RdmaBuffer, local: ArrayBufferView, move: StepOptions): this {
    if (this.#submitted) throw new TypeError("cannot add to an RdmaAction: it was submitted already; make a new one");
    const bytes =
      move.region?.shape.reduce((product, n) => product * n, move.region.item) ?? move.length ?? local.byteLength;
    this.#steps.push({ direction, buffer, local, options: move, moved: 0, bytes });
    return this;
  }
}
