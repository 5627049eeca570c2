/** What an owner allows: a range of registered memory, for reading or also for writing, until it is taken back. */
import type { LocalMemory } from "./local-memory.js";

/** The right of processes that receive a buffer: read (`"r"`), or read and write (`"rw"`). */
export type Access = "r" | "rw";

/** Names a grant, and is the right to it. */
export interface GrantKey {
  /** Which slot of the owner's table says what has become of it. */
  readonly slot: number;
  /** How often that slot has been used, this time included. */
  readonly generation: number;
  /** 128 bits that nobody can guess: who has them has the grant. */
  readonly nonce: GrantNonce;
}

export type GrantNonce = readonly [bigint, bigint];

export interface Grant extends GrantKey {
  readonly memory: LocalMemory;
  /** In bytes, within the memory. */
  readonly offset: number;
  readonly length: number;
  readonly access: Access;
}
