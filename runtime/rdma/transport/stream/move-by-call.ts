/**
 * Transfers a piece by a call of the owner's agent, if neither process can connect to the other for memory bytes. Calls
 * use the existing links, which send large values in pieces between other messages.
 */

import type { MemoryAnswer } from "../../../../generated/rdma.js";
import { errorMessage } from "../../../../shared/text/error-message.js";
import { RdmaError } from "../../errors.js";
import type { MemoryHandle } from "../../grant/memory-handle.js";
import type { PeerConnector } from "../../peer/peer-connector.js";
import { MemoryFrameKind, type Refused } from "./frames.js";
import type { MemoryPiece } from "./initiator.js";

/**
 * Transfers a piece.
 * @returns the refusal of the owner, or undefined if the piece was transferred
 * @throws RdmaError if the owner is gone or answers with a wrong number of bytes
 */
export async function moveByCall(
  connector: PeerConnector,
  { proc, location }: Pick<MemoryHandle, "proc" | "location">,
  { operation, kind, claim, offset, local }: MemoryPiece,
): Promise<Refused | undefined> {
  const { bytes, refused } = await awaitAnswer(
    connector.askAgent(proc, location, (agent) =>
      kind === MemoryFrameKind.read
        ? agent.readMemory.callOne(claim, offset, local.length)
        : // A copy, because the message may be sent after the operation was cancelled.
          agent.writeMemory.callOne(claim, offset, local.slice()),
    ),
  );
  if (refused !== undefined || kind === MemoryFrameKind.write) return refused;
  if (bytes?.length !== local.length) {
    const why = `expected ${local.length} bytes from its owner, got ${bytes?.length ?? "none"}`;
    throw new RdmaError("ERR_RDMA_FAULT", `cannot read an RdmaBuffer: ${why}`);
  }
  if (operation?.isCancelled !== true) local.set(bytes);
  return undefined;
}

async function awaitAnswer(call: PromiseLike<MemoryAnswer>): Promise<MemoryAnswer> {
  try {
    return await call;
  } catch (error) {
    const why = errorMessage(error);
    throw new RdmaError("ERR_RDMA_PEER_GONE", `cannot reach the owner of an RdmaBuffer: ${why}`, { cause: error });
  }
}
