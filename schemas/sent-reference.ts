/** References to values of tasks in messages of actors. */
import type { Uint64 } from "viceroy/schema";

/** A reference to a value of tasks, as messages of actors contain it. */
export interface SentReference {
  /** The encoded `ObjectReference`. */
  reference: Uint8Array;
  /** The number of the port that keeps the reference at its sender, until each receiver has borrowed it. 0: there is none. */
  receipt: Uint64;
  /** The process of the sender. */
  proc: Uint64;
  /** The address of that process. */
  location: string;
}
