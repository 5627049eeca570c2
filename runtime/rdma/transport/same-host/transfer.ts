/** What `shared` and `vm` have in common: one call of the addon, on the spot when it is short, and what its outcome means. */
import { availableParallelism } from "node:os";
import { type TransferArguments, TransferOutcome } from "../../../native/rdma-addon.js";
import { RdmaError } from "../../errors.js";
import type { MemoryHandle } from "../../grant/memory-handle.js";
import { ownStartTime, startTimeOf } from "../../grant/process-identity.js";
import { refusalError } from "../../grant/refusal.js";
import type { TransferOperation } from "../../transfer/transfer-operation.js";
import { type PeerSlot, peerEndedError } from "./peer-grant-tables.js";

/**
 * Whoever awaits only what is settled already never lets the event loop go round. So after so many bytes a transfer settles in its next turn,
 * and what comes before that is left to the pool: transfers hold up the loop for about 1 ms.
 */
const MAX_COPIED_PER_TURN = 8 << 20;
/** From so many bytes on a second thread of the pool is worth it. */
const TWO_THREADS_BYTES = 8 << 20;
/** Short stretches cost the kernel more than their bytes. */
const MAX_INLINE_SEGMENTS = 64;

const processorCount = availableParallelism();

export type NativeTransferCall = (...args: TransferArguments) => number | Promise<number>;

/** What is done on the spot can't be given up, and is not asked how far it is. Small arrays of one's own cost more than such a copy. */
const inlineControl = new BigInt64Array(2);
const inlineSegment = new BigUint64Array(3);

function inlineSegments(stretches: BigUint64Array): BigUint64Array {
  if (stretches.length !== 3) return stretches;
  inlineSegment.set(stretches);
  return inlineSegment;
}

/** Bytes that this thread has copied since the event loop was last seen to go round. */
let copiedThisTurn = 0;
/** The turn that is waited for, once they are too many. */
let nextTurn: Promise<void> | undefined;

/** This thread has copied so much. @returns what is to be waited for, when it was too much in a row */
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
 * @param atOnce so many bytes are copied by the calling thread: all of a transfer, or its beginning while threads of the pool are being woken. They
 * take longer to come than it takes to copy a mebibyte, and have other caches
 * @returns undefined: it has been done
 */
export function transferNatively(
  operation: TransferOperation,
  peer: PeerSlot,
  handle: MemoryHandle,
  atOnce: number,
  call: NativeTransferCall,
): Promise<void> | undefined {
  const { direction, local, segments, bytes } = operation;
  const way = direction === "read" ? 0 : 1;
  const { slot, head } = peer;
  const mayCopy = nextTurn === undefined;
  if (mayCopy && bytes <= atOnce && segments.length <= 3 * MAX_INLINE_SEGMENTS) {
    const outcome = call(
      way,
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
    call(way, local, segments, slot, head, operation.control, ownStartTime(), lanes, helped),
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

// Of Linux, on all machines that it runs on.
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
    return new RdmaError("ERR_RDMA_UNKNOWN", `cannot ${what}: it was given up`);
  const now = startTimeOf(process.pid);
  if (outcome === TransferOutcome.notGranted) {
    const refusal = peer.refusal();
    if (refusal !== undefined) return refusalError(refusal, what);
    // The slot still says yes, but in the process with this id there is no such slot any more.
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
  const why = `the memory is not there any more, although it was not dropped (errno ${outcome}); was its ArrayBuffer transferred?`;
  return new RdmaError("ERR_RDMA_FAULT", `cannot ${what}: ${why}`);
}
