/**
 * The interface to the registered memory of a process. `rdma/` implements it; the code of `proc/` knows nothing else
 * about registered memory.
 */

import type { GrantClaim, MemoryAnswer } from "../../../generated/rdma.js";
import type { ProcId } from "../../link/address.js";
import type { Pipe } from "../../link/transport/pipe.js";

export interface MemoryService {
  /** The number of grants that have not ended. */
  readonly grantCount: number;
  /** Reads from granted memory. `read`, `write`, `accept` and `peerGone` do not throw for any input from a peer. */
  read(claim: GrantClaim, offset: number, length: number): MemoryAnswer;
  write(claim: GrantClaim, offset: number, bytes: Uint8Array): MemoryAnswer;
  /** Passes a request to a transport. Rejects when the transport has no answer. */
  ask(transport: string, request: Uint8Array): Promise<Uint8Array>;
  /** Takes a connection from a peer on another machine that carries memory bytes only. */
  accept(pipe: Pipe): void;
  /** Handles the end of a proc that may have granted or used memory. */
  peerGone(peer: ProcId, reason: string): void;
}

/** The service of a process that has never granted memory. */
export const noMemory: MemoryService = {
  grantCount: 0,
  read: () => ({ refused: "forged" }),
  write: () => ({ refused: "forged" }),
  ask: () => Promise.reject(new Error("this process has granted no memory")),
  accept: (pipe) => pipe.destroy(),
  peerGone() {},
};
