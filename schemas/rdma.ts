/** What processes say to each other of registered memory, where its owner has to take part. */
import type { Uint32, Uint64 } from "viceroy/schema";

/** Who has all of this has the grant. */
export interface GrantClaim {
  slot: Uint32;
  generation: Uint32;
  nonce0: Uint64;
  nonce1: Uint64;
  /** The process that has made it, as its handle says. */
  machine: Uint64;
  pid: Uint32;
  started: Uint64;
  /** Of what is granted, in bytes. */
  length: number;
  writable: boolean;
}

export interface MemoryAnswer {
  /** Absent: it has been done. */
  refused?: "forged" | "stale" | "revoked" | "dropped" | "access" | "bounds";
  bytes?: Uint8Array;
}
