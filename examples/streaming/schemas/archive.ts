import type { Actor, Port, Uint32 } from "viceroy/schema";

/** Stores notes slowly. */
export interface Archive extends Actor<[progress: Port<Uint32>]> {
  /** Stores a note. After each 1,000 notes, the archive sends their number on the port. */
  store(note: string): void;
}
