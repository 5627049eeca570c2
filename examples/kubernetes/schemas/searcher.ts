import type { Actor, Uint32 } from "viceroy/schema";

/** The longest chain of a block, and where it was found. */
export interface Chain {
  /** The number at which the chain begins. */
  start: Uint32;
  /** The number of steps until the chain reaches 1. */
  steps: Uint32;
  /** The host on which the searcher runs. */
  host: string;
}

/** Searches for long Collatz chains: an even number is halved, an odd number is tripled and increased by one, until it is 1. */
export interface Searcher extends Actor {
  /** Returns the longest chain that begins in one block of a round. Each searcher takes a block of its own. */
  search(round: Uint32, searchers: Uint32, size: Uint32): Chain;
}
