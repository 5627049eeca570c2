/** Sends what a mesh has recorded, and everything else that its workers are told, in one order. */

import type { TensorWorkerMesh } from "../../../generated/tensor.js";
import { toError } from "../../../shared/text/error-message.js";
import type { NativeRecorder } from "../../native/tensor-addon.js";
import { TensorError } from "../errors.js";
import { addon } from "../operation/addon.js";

export class CommandQueue {
  readonly #recorder: NativeRecorder;
  readonly #workers: TensorWorkerMesh<string>;
  readonly #meshName: string;
  /** Ends when everything has been sent. */
  #sent: Promise<unknown> = Promise.resolve();
  #isFlushScheduled = false;
  #isClosed = false;
  /** Why a message could not be sent. The workers lack it, so nothing is sent after it. */
  #sendError: Error | undefined;

  constructor(recorder: NativeRecorder, workers: TensorWorkerMesh<string>, meshName: string) {
    this.#recorder = recorder;
    this.#workers = workers;
    this.#meshName = meshName;
  }

  /** Notes that something is recorded, and sends it when the running code pauses, or now if it is much. */
  noteRecorded(): void {
    if (addon().isFull(this.#recorder)) this.flush();
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    queueMicrotask(() => {
      this.#isFlushScheduled = false;
      if (!this.#isClosed) this.flush();
    });
  }

  /** Sends what has been recorded so far. */
  flush(): void {
    const commands = addon().takeCommands(this.#recorder);
    if (commands.length === 0) return;
    this.enqueue(() => this.#workers.run.broadcast(commands));
  }

  /** Sends a message after everything that was sent before. */
  enqueue(send: () => PromiseLike<unknown>): void {
    this.#sent = this.#sent.then(async () => {
      try {
        if (this.#sendError === undefined) await send();
      } catch (error) {
        this.#sendError = toError(error);
      }
    });
  }

  /**
   * Asks the workers after everything that was sent before. Questions do not wait for each other.
   *
   * @throws {TensorError} as a rejection, when a message before it could not be sent
   */
  async ask<T>(call: () => PromiseLike<T>): Promise<T> {
    await this.#sent;
    if (this.#sendError instanceof TensorError) throw this.#sendError;
    if (this.#sendError !== undefined) {
      const text = `cannot reach the tensors of mesh ${this.#meshName}: ${this.#sendError.message}`;
      throw new TensorError("ERR_TENSOR_INACTIVE", text, { cause: this.#sendError });
    }
    return call();
  }

  /** Takes no more operations. Resolves when everything has been sent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#sent;
  }
}
