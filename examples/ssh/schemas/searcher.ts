/** Searches a part of the numbers on one processor of a host. */
import type { Actor, Uint32 } from "viceroy/schema";

/** What one process has found. */
export interface Found {
  /** The name of the machine. */
  machine: string;
  primes: Uint32;
}

export interface Searcher extends Actor {
  /** Counts the primes below `limit` in every `parts`th thousand, beginning with that of this actor's rank. */
  count(limit: Uint32, parts: Uint32): Found;
}
