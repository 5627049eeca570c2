/** Messages about registered memory, for transfers in which the owner of the memory takes part. */
import type { Uint32, Uint64 } from "viceroy/schema";

/** The proof of a grant. A process that knows all fields has the grant. */
export interface GrantClaim {
  slot: Uint32;
  generation: Uint32;
  nonce0: Uint64;
  nonce1: Uint64;
  /** The machine of the process that has created the grant, as in its handle. */
  machine: Uint64;
  pid: Uint32;
  started: Uint64;
  /** The length of the granted memory in bytes. */
  length: number;
  writable: boolean;
}

export interface MemoryAnswer {
  /** The reason of a refusal. Absent: the transfer has succeeded. */
  refused?: "forged" | "stale" | "revoked" | "dropped" | "access" | "bounds";
  bytes?: Uint8Array;
}
