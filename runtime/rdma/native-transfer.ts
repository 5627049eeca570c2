/** What `shared` and `vm` have in common: one call of the addon, on the spot when it is short, and what its outcome means. */
import { availableParallelism } from "node:os";
import { type TransferArguments, TransferOutcome } from "../native/rdma-addon.js";
import { RdmaError } from "./errors.js";
import type { Handle } from "./handle.js";
import type { Operation } from "./operation.js";
import { gone, type PeerSlot } from "./peer-tables.js";
import { ownStart, startOf } from "./process-name.js";
import { refused } from "./refusal.js";

/**
 * Whoever awaits only what is settled already never lets the event loop go round. So after so many bytes a transfer settles in its next turn,
 * and what comes before that is left to the pool: transfers hold up the loop for about 1 ms.
 */
const IN_A_ROW = 8 << 20;
/** From so many bytes on a second thread of the pool is worth it. */
const TWO_LANES = 8 << 20;
/** Short stretches cost the kernel more than their bytes. */
const FEW = 64;

const cores = availableParallelism();

export type Call = (...args: TransferArguments) => number | Promise<number>;

/** What is done on the spot can't be given up, and is not asked how far it is. Small arrays of one's own cost more than such a copy. */
const spotControl = new BigInt64Array(2);
const spotRange = new BigUint64Array(3);

function spotWords(stretches: BigUint64Array): BigUint64Array {
  if (stretches.length !== 3) return stretches;
  spotRange.set(stretches);
  return spotRange;
}

/** Bytes that this thread has copied since the event loop was last seen to go round. */
let inARow = 0;
/** The turn that is waited for, once they are too many. */
let turn: Promise<void> | undefined;

/** This thread has copied so much. @returns what is to be waited for, when it was too much in a row */
function copied(bytes: number): Promise<void> | undefined {
  inARow += bytes;
  if (inARow < IN_A_ROW) return undefined;
  turn ??= new Promise((resolve) => {
    setImmediate(() => {
      inARow = 0;
      turn = undefined;
      resolve();
    });
  });
  return turn;
}

/**
 * @param atOnce so many bytes are copied by the calling thread: all of a transfer, or its beginning while threads of the pool are being woken. They
 * take longer to come than it takes to copy a mebibyte, and have other caches
 * @returns undefined: it has been done
 */
export function transfer(
  operation: Operation,
  peer: PeerSlot,
  handle: Handle,
  atOnce: number,
  call: Call,
): Promise<void> | undefined {
  const { direction, local, stretches, bytes } = operation;
  const way = direction === "read" ? 0 : 1;
  const { slot, head } = peer;
  const mayCopy = turn === undefined;
  if (mayCopy && bytes <= atOnce && stretches.length <= 3 * FEW) {
    const outcome = call(way, local, spotWords(stretches), slot, head, spotControl, ownStart(), 0, 0) as number;
    if (outcome === TransferOutcome.done) return copied(bytes);
    if (outcome !== TransferOutcome.busy) return Promise.reject(errorOf(outcome, operation, peer, handle));
  }
  const lanes = bytes >= TWO_LANES && cores > 1 ? 2 : 1;
  const helped = mayCopy && bytes > atOnce ? atOnce : 0;
  void copied(helped);
  return settled(
    call(way, local, stretches, slot, head, operation.control, ownStart(), lanes, helped),
    operation,
    peer,
    handle,
  );
}

async function settled(
  started: number | Promise<number>,
  operation: Operation,
  peer: PeerSlot,
  handle: Handle,
): Promise<void> {
  const outcome = await started;
  if (outcome !== TransferOutcome.done) throw errorOf(outcome, operation, peer, handle);
}

// Of Linux, on all machines that it runs on.
const ESRCH = 3;
const EPERM = 1;

function errorOf(outcome: number, operation: Operation, peer: PeerSlot, { process }: Handle): RdmaError {
  const what = `${operation.direction} ${operation.bytes} bytes`;
  if (outcome === TransferOutcome.cancelled)
    return new RdmaError("ERR_RDMA_UNKNOWN", `cannot ${what}: it was given up`);
  const now = startOf(process.pid);
  if (outcome === TransferOutcome.notGranted) {
    const refusal = peer.refusal();
    if (refusal !== undefined) return refused(refusal, what);
    // The slot still says yes, but in the process with this id there is no such slot any more.
    return now === process.started ? gone(process.pid) : now === undefined ? gone(process.pid) : refused("stale", what);
  }
  if (outcome === ESRCH || now !== process.started) return gone(process.pid);
  if (outcome === EPERM) {
    const why = `this process may no longer use the memory of process ${process.pid} (EPERM)`;
    return new RdmaError("ERR_RDMA_FAULT", `cannot ${what}: ${why}`);
  }
  const why = `the memory is not there any more, although it was not dropped (errno ${outcome}); was its ArrayBuffer transferred?`;
  return new RdmaError("ERR_RDMA_FAULT", `cannot ${what}: ${why}`);
}
