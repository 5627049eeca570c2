/**
 * Transfers the bytes of one operation, several pieces at a time. The queue pair may break meanwhile, also because
 * another operation has failed. Reads are then repeated on a new queue pair. For writes the outcome is unknown.
 */
import { errorMessage } from "../../../../shared/text/error-message.js";
import { RdmaError } from "../../errors.js";
import type { TransferOperation } from "../../transfer/transfer-operation.js";
import type { OpenRdmaPort } from "./devices.js";
import type { VerbsPath } from "./initiator.js";
import type { LocalRegion } from "./local-regions.js";
import { PieceQueue, type TransferPart } from "./piece-queue.js";
import { completionStatus, isRefused, isUnanswered, notPosted } from "./status.js";

/** Maximum number of pieces of one operation in flight. */
const parallelTransfers = 16;
/** Number of broken queue pairs after which an operation fails. */
const maxReconnects = 8;

/** The current path to the memory, and the means to open a new one. */
export interface PathSource {
  readonly path: VerbsPath | undefined;
  /** Opens a new path. @throws RdmaError if the owner refuses the grant or is gone */
  reconnect(operation: TransferOperation): Promise<VerbsPath>;
}

interface PartFailure {
  readonly part: TransferPart;
  readonly code: number;
}

/** Runs an operation, with the guarantees of `OpenedMemory.transfer`. */
export async function transfer(operation: TransferOperation, route: PathSource): Promise<void> {
  const { port } = route.path ?? (await route.reconnect(operation));
  const local = await acquireLocal(operation, port);
  let arrived = false;
  try {
    const pieces = new PieceQueue(operation);
    for (let breaks = 0; !arrived; breaks++) {
      const path = route.path ?? (await route.reconnect(operation));
      if (path.port !== port) throw peerGoneError(operation, "its RDMA port has been closed");
      const failures = await moveUntilFailure(operation, pieces, local, path);
      if (operation.isCancelled) throw new RdmaError("ERR_RDMA_TIMEOUT", `${failureText(operation)}: it was cancelled`);
      arrived = failures.length === 0;
      if (!arrived) await checkRetry(operation, failures, route, breaks);
      for (const { part } of failures) pieces.giveBack(part);
    }
  } finally {
    local.release(arrived);
  }
}

async function acquireLocal(operation: TransferOperation, { localRegions }: OpenRdmaPort): Promise<LocalRegion> {
  try {
    return await localRegions.acquire(operation);
  } catch (error) {
    const why = errorMessage(error);
    throw new RdmaError("ERR_RDMA_LIMIT", `${failureText(operation)}: ${why}`, { cause: error });
  }
}

/** Transfers pieces until none is left or one fails. Resolves when no piece is in flight. */
async function moveUntilFailure(
  operation: TransferOperation,
  pieces: PieceQueue,
  local: LocalRegion,
  path: VerbsPath,
): Promise<readonly PartFailure[]> {
  const write = operation.direction === "write";
  const failures: PartFailure[] = [];
  const wanted = (): boolean => failures.length === 0 && !operation.isCancelled;
  const lane = async (): Promise<void> => {
    while (wanted()) {
      const part = pieces.next();
      if (part === undefined) return;
      const code = await move(part, write, local, path, wanted);
      if (code === completionStatus.success) operation.addMoved(part.length);
      else failures.push({ part, code });
    }
  };
  await Promise.all(Array.from({ length: parallelTransfers }, lane));
  return failures;
}

function move(
  part: TransferPart,
  write: boolean,
  local: LocalRegion,
  { pair, address, key }: VerbsPath,
  wanted: () => boolean,
) {
  const remote = address + BigInt(part.remote);
  const { region, offset } = local;
  return pair.move({ write, region, offset: offset + part.local, length: part.length, remote, key }, wanted);
}

/**
 * Decides whether failed pieces are tried again, and opens a new path for them.
 * @throws RdmaError if the operation fails
 */
async function checkRetry(
  operation: TransferOperation,
  failures: readonly PartFailure[],
  route: PathSource,
  breaks: number,
): Promise<void> {
  const has = (test: (code: number) => boolean): boolean => failures.some(({ code }) => test(code));
  // The owner knows more than its device: it reports the exact refusal, and whether it is alive.
  await route.reconnect(operation);
  if (has(isRefused) && breaks > 0) {
    throw new RdmaError(
      "ERR_RDMA_FAULT",
      `${failureText(operation)}: the owner's device refuses it, although the grant is valid`,
    );
  }
  if (operation.direction === "write" && has((code) => code !== notPosted && !isRefused(code))) {
    throw new RdmaError(
      "ERR_RDMA_UNKNOWN",
      `${failureText(operation)}: the connection broke meanwhile; any part may have been written`,
    );
  }
  if (breaks >= maxReconnects) {
    throw peerGoneError(
      operation,
      has(isUnanswered) ? "its device does not answer" : "the connection breaks again and again",
    );
  }
}

function peerGoneError(operation: TransferOperation, why: string): RdmaError {
  return new RdmaError("ERR_RDMA_PEER_GONE", `${failureText(operation)}: the owner cannot be reached: ${why}`);
}

function failureText({ direction, bytes }: TransferOperation): string {
  return `cannot ${direction} ${bytes} bytes`;
}
