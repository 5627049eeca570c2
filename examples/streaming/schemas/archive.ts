import type { Actor, Port, Uint32 } from "viceroy/schema";

/** Keeps notes, slowly. */
export interface Archive extends Actor<[progress: Port<Uint32>]> {
  /** Reports on the port after each thousandth. */
  store(note: string): void;
}
