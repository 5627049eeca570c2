/** Who answers for the registered memory of a process, when it has some: `rdma/`, of which nothing below it knows more than this. */

import type { GrantClaim, MemoryAnswer } from "../../../generated/rdma.js";
import type { ProcId } from "../../link/address.js";
import type { Pipe } from "../../link/pipe.js";

export interface MemoryService {
  /** None of these throws because of what a peer has said, except `ask`. */
  read(claim: GrantClaim, offset: number, length: number): MemoryAnswer;
  write(claim: GrantClaim, offset: number, bytes: Uint8Array): MemoryAnswer;
  /** Rejects when the transport has no answer. */
  ask(transport: string, request: Uint8Array): Promise<Uint8Array>;
  /** A peer elsewhere has connected for bulk bytes alone. */
  accept(pipe: Pipe): void;
  /** A proc that may have granted memory, or used it, has ended. */
  peerGone(peer: ProcId, reason: string): void;
}

/** A process that has never granted anything. */
export const noMemory: MemoryService = {
  read: () => ({ refused: "forged" }),
  write: () => ({ refused: "forged" }),
  ask: () => Promise.reject(new Error("this process has granted no memory")),
  accept: (pipe) => pipe.destroy(),
  peerGone() {},
};
