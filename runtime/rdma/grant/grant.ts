/** A grant: a range of registered memory that an owner allows peers to read, or to read and write, until it ends. */
import type { LocalMemory } from "./local-memory.js";

/** The right of processes that receive a buffer: read (`"r"`), or read and write (`"rw"`). */
export type Access = "r" | "rw";

/** Identifies a grant. Whoever has the key has the right to use the grant. */
export interface GrantKey {
  /** The slot of the grant in the owner's table, from 1. */
  readonly slot: number;
  /** Number of grants that have used this slot, including this one. */
  readonly generation: number;
  /** 128 random bits, which peers cannot guess. */
  readonly nonce: GrantNonce;
}

export type GrantNonce = readonly [bigint, bigint];

export interface Grant extends GrantKey {
  readonly memory: LocalMemory;
  /** Offset of the first byte in the memory. */
  readonly offset: number;
  readonly length: number;
  readonly access: Access;
}
