/**
 * The way between processes of which neither can make a connection for bulk alone: calls of the owner's agent, which take the links that
 * there are. Those send large values in pieces between other messages.
 */

import type { MemoryAnswer } from "../../../../generated/rdma.js";
import { errorMessage } from "../../../../shared/text/error-message.js";
import { RdmaError } from "../../errors.js";
import type { MemoryHandle } from "../../grant/memory-handle.js";
import type { PeerConnector } from "../../peer/peer-connector.js";
import { MemoryFrameKind, type Refused } from "./frames.js";
import type { MemoryPiece } from "./initiator.js";

/** @returns why the owner refuses it; undefined: it has been moved @throws RdmaError when it is gone, or answers something else */
export async function moveByCall(
  road: PeerConnector,
  { proc, location }: Pick<MemoryHandle, "proc" | "location">,
  { operation, kind, claim, offset, local }: MemoryPiece,
): Promise<Refused | undefined> {
  const { bytes, refused } = await awaitAnswer(
    road.askAgent(proc, location, (agent) =>
      kind === MemoryFrameKind.read
        ? agent.readMemory.callOne(claim, offset, local.length)
        : // A copy: messages are sent from where their bytes are, maybe later than this is given up.
          agent.writeMemory.callOne(claim, offset, local.slice()),
    ),
  );
  if (refused !== undefined || kind === MemoryFrameKind.write) return refused;
  if (bytes?.length !== local.length) {
    const why = `its owner has sent ${bytes?.length ?? "no"} bytes for ${local.length}`;
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
