import type { Actor, RdmaBuffer, Uint32 } from "viceroy/schema";

/** Has memory that others read. */
export interface Keeper extends Actor {
  make(allocated: boolean, size: number): RdmaBuffer;
  /** The same again. */
  lend(): RdmaBuffer;
  nothing(): void;
  /** The bytes themselves, by a plain call. */
  bytes(size: number): Uint8Array;
  /** Reads all of it some times. Answers with how many ms that took. */
  pull(buffer: RdmaBuffer, transport: string, times: Uint32): number;
}
