import type { Actor, RdmaBuffer, Uint32 } from "viceroy/schema";

/** What a reader found. */
export interface Found {
  /** Absent: it went well. */
  code?: string;
  message?: string;
  transport?: string;
  bytes?: Uint8Array;
  /** Reads that went well. */
  count?: Uint32;
  /** Bytes that should not have been seen. */
  foreign?: Uint32;
}

/** Has memory, and does with it what it is told. */
export interface Vault extends Actor {
  /** Memory whose byte `i` is `pattern(i)`; the same call again makes other memory and forgets the first. */
  make(allocated: boolean, size: Uint32, access: "r" | "rw"): RdmaBuffer;
  grant(offset: Uint32, length: Uint32, access: "r" | "rw"): RdmaBuffer;
  /** Takes back the last grant, or the buffer itself. @returns the code with which that failed, or an empty text */
  revoke(whole: boolean, timeout: Uint32): string;
  drop(): void;
  bytes(offset: Uint32, length: Uint32): Uint8Array;
  fill(value: Uint32): void;
  pid(): Uint32;
  /** Stops the event loop. */
  block(milliseconds: Uint32): void;
  /** Reads what another has. */
  read(buffer: RdmaBuffer, transport: string, length: Uint32): Found;
  /**
   * Reads all of it again and again until that fails; all bytes should be `value`, also those of the last read, or 0.
   * @concurrent
   */
  readUntil(buffer: RdmaBuffer, transport: string, value: Uint32): Found;
  /**
   * Writes again and again until it fails.
   * @concurrent
   */
  write(buffer: RdmaBuffer, transport: string, value: Uint32): Found;
  echo(buffer: RdmaBuffer): RdmaBuffer;
  echoAll(buffers: RdmaBuffer[]): RdmaBuffer[];
}
