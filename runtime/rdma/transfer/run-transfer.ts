/** Runs one transfer, with a time limit, an abort signal and progress reports. */
import { offAbort, onAbort } from "../../abort-listeners.js";
import type { Clock } from "../../link/clock.js";
import { RdmaError } from "../errors.js";
import type { TransferSegments } from "./segments.js";
import { type TransferDirection, TransferOperation } from "./transfer-operation.js";

/** The options of a transfer that do not depend on its bytes. */
export interface TransferOptions {
  /**
   * When aborted, the transfer rejects with the signal's reason, as soon as the local view is not accessed any more.
   */
  readonly signal?: AbortSignal;
  /** The time limit in milliseconds. Default: 60,000. */
  readonly timeout?: number;
  /**
   * Called every 50 milliseconds and at the end.
   *
   * @param moved number of bytes that have been transferred
   * @param bytes number of bytes of the whole transfer
   */
  readonly onProgress?: (moved: number, bytes: number) => void;
}

/** Default time limit and interval of progress reports, in ms. */
const defaultTimeout = 60_000;
const progressInterval = 50;

/** Starts a transfer. Returns undefined if the transfer was completed synchronously. */
export type StartTransfer = (operation: TransferOperation) => Promise<void> | undefined;

/** Runs a transfer. The transfer has started when the function returns. Errors reject; the function never throws. */
export function runTransfer(
  direction: TransferDirection,
  local: Uint8Array,
  { words, bytes }: TransferSegments,
  options: TransferOptions,
  clock: Clock,
  start: StartTransfer,
): Promise<void> {
  const { signal, timeout = defaultTimeout, onProgress } = options;
  if (signal?.aborted) return Promise.reject(signal.reason);
  const operation = new TransferOperation(direction, local, words, bytes);
  let started: Promise<void> | undefined;
  try {
    started = start(operation);
  } catch (error) {
    return Promise.reject(error);
  }
  if (started === undefined) {
    onProgress?.(bytes, bytes);
    return Promise.resolve();
  }
  return superviseTransfer(started, operation, { ...options, timeout }, clock);
}

async function superviseTransfer(
  started: Promise<void>,
  operation: TransferOperation,
  { signal, timeout, onProgress }: TransferOptions & { timeout: number },
  clock: Clock,
): Promise<void> {
  const { bytes, direction } = operation;
  let why: unknown;
  const giveUp = (reason: unknown) => {
    why = reason;
    operation.cancel();
  };
  const abort = () => giveUp(signal?.reason);
  if (signal !== undefined) onAbort(signal, abort);
  const timer = clock.after(timeout, () => {
    const text = `cannot ${direction} ${bytes} bytes: it took longer than ${timeout} ms`;
    giveUp(new RdmaError("ERR_RDMA_TIMEOUT", text));
  });
  let ended = false;
  const report = () => {
    if (ended) return;
    onProgress?.(operation.moved, bytes);
    clock.after(progressInterval, report);
  };
  if (onProgress !== undefined) clock.after(progressInterval, report);
  try {
    await started;
    // A transfer that completes in spite of its cancellation counts as done.
    ended = true;
    onProgress?.(bytes, bytes);
  } catch (error) {
    throw operation.isCancelled && why !== undefined ? why : error;
  } finally {
    ended = true;
    timer.cancel();
    if (signal !== undefined) offAbort(signal, abort);
  }
}
