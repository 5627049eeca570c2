/** `RdmaAction`: several transfers that run at the same time. */
import { offAbort, onAbort } from "../abort-listeners.js";
import type { RdmaBuffer, RdmaTransferOptions } from "./rdma-buffer.js";
import type { TransferOptions } from "./transfer/run-transfer.js";

type StepOptions = Omit<RdmaTransferOptions, keyof TransferOptions>;

interface TransferStep {
  readonly direction: "readInto" | "writeFrom";
  readonly buffer: RdmaBuffer;
  readonly local: ArrayBufferView;
  readonly options: StepOptions;
  moved: number;
  bytes: number;
}

/**
 * Several transfers that run at the same time, to buffers of any processes, and succeed or fail together.
 *
 * @example
 * ```ts
 * import { RdmaAction, type RdmaBuffer } from "viceroy/rdma";
 *
 * async function fetchAll(buffers: RdmaBuffer[]): Promise<Uint8Array[]> {
 *   const action = new RdmaAction();
 *   const copies = buffers.map((buffer) => {
 *     const copy = new Uint8Array(buffer.size);
 *     action.readInto(buffer, copy);
 *     return copy;
 *   });
 *   await action.submit({ timeout: 5_000 });
 *   return copies;
 * }
 * ```
 */
export class RdmaAction {
  readonly #steps: TransferStep[] = [];
  #submitted = false;

  /**
   * Adds a read. It starts with `submit`.
   *
   * @param buffer the buffer to read from
   * @param local view that receives the bytes
   * @param move the part of the buffer; default: from its start, as much as fits into `local`
   */
  readInto(buffer: RdmaBuffer, local: ArrayBufferView, move: StepOptions = {}): this {
    return this.#addStep("readInto", buffer, local, move);
  }

  /**
   * Adds a write. It starts with `submit`. Reads and writes of one action have no order.
   *
   * @param buffer the buffer to write to
   * @param local view with the bytes
   * @param move the part of the buffer; default: from its start, all bytes of `local`
   */
  writeFrom(buffer: RdmaBuffer, local: ArrayBufferView, move: StepOptions = {}): this {
    return this.#addStep("writeFrom", buffer, local, move);
  }

  /**
   * Starts all transfers. Can be called once.
   *
   * @param options a signal, a time limit for each transfer, and a progress callback
   * @returns a promise that resolves when all transfers are done
   * @throws {RdmaError} as a rejection, when a transfer fails; the others are given up, and no view is accessed any
   *   more; the contents of local views are undefined
   * @throws {TypeError} as a rejection, when the action has been submitted before
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

  #addStep(
    direction: TransferStep["direction"],
    buffer: RdmaBuffer,
    local: ArrayBufferView,
    options: StepOptions,
  ): this {
    if (this.#submitted) throw new TypeError("cannot add to an RdmaAction: it was submitted already; make a new one");
    const bytes =
      options.region?.shape.reduce((product, n) => product * n, options.region.item) ??
      options.length ??
      local.byteLength;
    this.#steps.push({ direction, buffer, local, options, moved: 0, bytes });
    return this;
  }
}
