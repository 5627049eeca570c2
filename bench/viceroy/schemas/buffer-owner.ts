import type { Actor, RdmaBuffer, Uint32 } from "viceroy/schema";

/** Owns memory that other processes read. */
export interface BufferOwner extends Actor {
  /** Makes a buffer, in memory allocated for sharing or registered in place. */
  create(allocated: boolean, size: number): RdmaBuffer;
  /** Returns a handle of the buffer. */
  handle(): RdmaBuffer;
  /** Does nothing. */
  ping(): void;
  /** Returns bytes of the buffer as an ordinary answer. */
  bytes(size: number): Uint8Array;
  /** Reads the whole buffer `times` times. Returns the duration in ms. */
  pull(buffer: RdmaBuffer, transport: string, times: Uint32): number;
}
