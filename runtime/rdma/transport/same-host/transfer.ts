/**
 * Transfers of `shared` and `vm`: one call of the addon, synchronous if it is short, and the meaning of its outcome.
 */
import { availableParallelism } from "node:os";
import { type TransferArguments, TransferOutcome } from "../../../native/rdma-addon.js";
import { RdmaError } from "../../errors.js";
import type { MemoryHandle } from "../../grant/memory-handle.js";
import { refusalError } from "../../grant/refusal.js";
import { ownStartTime, startTimeOf } from "../../grant/start-time.js";
import type { TransferOperation } from "../../transfer/transfer-operation.js";
import { type PeerSlot, peerEndedError } from "./peer-grant-tables.js";

/**
 * Maximum number of bytes that this thread copies synchronously in one turn of the event loop, which take about 1 ms.
 * Code that awaits only settled promises never ends a turn. Therefore a transfer that reaches the limit settles in the
 * next turn, and threads of the pool copy the bytes of later transfers of this turn.
 */
const MAX_COPIED_PER_TURN = 8 << 20;
/** Minimum number of bytes of a transfer that two threads of the pool copy. */
const TWO_THREADS_BYTES = 8 << 20;
/** Maximum number of segments of a synchronous transfer, because the kernel takes time for each segment. */
const MAX_INLINE_SEGMENTS = 64;

const processorCount = availableParallelism();

export type NativeTransferCall = (...args: TransferArguments) => number | Promise<number>;

/**
 * The arguments of synchronous transfers, which need neither cancellation nor progress. They are shared because
 * allocating small arrays takes longer than a small copy.
 */
const inlineControl = new BigInt64Array(2);
const inlineSegment = new BigUint64Array(3);

function inlineSegments(segments: BigUint64Array): BigUint64Array {
  if (segments.length !== 3) return segments;
  inlineSegment.set(segments);
  return inlineSegment;
}

/** Number of bytes that this thread has copied in this turn of the event loop. */
let copiedThisTurn = 0;
/** Resolves in the next turn of the event loop. Set while the limit of this turn is reached. */
let nextTurn: Promise<void> | undefined;

/** Counts copied bytes. @returns a promise to wait for if the limit of this turn is reached */
function countCopied(bytes: number): Promise<void> | undefined {
  copiedThisTurn += bytes;
  if (copiedThisTurn < MAX_COPIED_PER_TURN) return undefined;
  nextTurn ??= new Promise((resolve) => {
    setImmediate(() => {
      copiedThisTurn = 0;
      nextTurn = undefined;
      resolve();
    });
  });
  return nextTurn;
}

/**
 * Transfers bytes with the addon.
 * @param atOnce maximum number of bytes that the calling thread copies: the whole transfer, or its beginning while the
 * threads of the pool wake up, which takes longer than copying a mebibyte
 * @returns undefined if the transfer is complete
 */
export function transferNatively(
  operation: TransferOperation,
  peer: PeerSlot,
  handle: MemoryHandle,
  atOnce: number,
  call: NativeTransferCall,
): Promise<void> | undefined {
  const { direction, local, segments, bytes } = operation;
  const directionCode = direction === "read" ? 0 : 1;
  const { slot, head } = peer;
  const mayCopy = nextTurn === undefined;
  if (mayCopy && bytes <= atOnce && segments.length <= 3 * MAX_INLINE_SEGMENTS) {
    const outcome = call(
      directionCode,
      local,
      inlineSegments(segments),
      slot,
      head,
      inlineControl,
      ownStartTime(),
      0,
      0,
    ) as number;
    if (outcome === TransferOutcome.done) return countCopied(bytes);
    if (outcome !== TransferOutcome.busy) return Promise.reject(transferError(outcome, operation, peer, handle));
  }
  const lanes = bytes >= TWO_THREADS_BYTES && processorCount > 1 ? 2 : 1;
  const helped = mayCopy && bytes > atOnce ? atOnce : 0;
  void countCopied(helped);
  return settleTransfer(
    call(directionCode, local, segments, slot, head, operation.control, ownStartTime(), lanes, helped),
    operation,
    peer,
    handle,
  );
}

async function settleTransfer(
  started: number | Promise<number>,
  operation: TransferOperation,
  peer: PeerSlot,
  handle: MemoryHandle,
): Promise<void> {
  const outcome = await started;
  if (outcome !== TransferOutcome.done) throw transferError(outcome, operation, peer, handle);
}

// Error numbers of Linux, the same on all architectures.
const ESRCH = 3;
const EPERM = 1;

function transferError(
  outcome: number,
  operation: TransferOperation,
  peer: PeerSlot,
  { process }: MemoryHandle,
): RdmaError {
  const what = `${operation.direction} ${operation.bytes} bytes`;
  if (outcome === TransferOutcome.cancelled)
    return new RdmaError("ERR_RDMA_UNKNOWN", `cannot ${what}: it was cancelled`);
  const now = startTimeOf(process.pid);
  if (outcome === TransferOutcome.notGranted) {
    const refusal = peer.refusal();
    if (refusal !== undefined) return refusalError(refusal, what);
    // The mapped slot still shows a valid grant, but the process with this id has no such slot any more.
    return now === process.started
      ? peerEndedError(process.pid)
      : now === undefined
        ? peerEndedError(process.pid)
        : refusalError("stale", what);
  }
  if (outcome === ESRCH || now !== process.started) return peerEndedError(process.pid);
  if (outcome === EPERM) {
    const why = `this process may no longer use the memory of process ${process.pid} (EPERM)`;
    return new RdmaError("ERR_RDMA_FAULT", `cannot ${what}: ${why}`);
  }
  const why = `the memory does not exist any more, although it was not dropped (errno ${outcome}); was its ArrayBuffer transferred?`;
  return new RdmaError("ERR_RDMA_FAULT", `cannot ${what}: ${why}`);
}
