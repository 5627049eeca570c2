import type { Actor, Mesh, RdmaBuffer, Uint32 } from "viceroy/schema";

/** The result of a read or write. */
export interface Found {
  /** The error code; absent if the transfer has succeeded. */
  code?: string;
  message?: string;
  transport?: string;
  bytes?: Uint8Array;
  /** Number of successful reads. */
  count?: Uint32;
  /** Number of bytes that are not from the granted memory. */
  foreign?: Uint32;
}

/** Owns memory, and uses it on request. */
export interface Vault extends Actor {
  /** Creates memory whose byte `i` is `pattern(i)`. A further call replaces the memory. */
  make(allocated: boolean, size: Uint32, access: "r" | "rw"): RdmaBuffer;
  grant(offset: Uint32, length: Uint32, access: "r" | "rw"): RdmaBuffer;
  /** Revokes the last grant or the whole buffer. @returns the error code of a failure, or an empty text */
  revoke(whole: boolean, timeout: Uint32): string;
  drop(): void;
  bytes(offset: Uint32, length: Uint32): Uint8Array;
  fill(value: Uint32): void;
  pid(): Uint32;
  /** Blocks the event loop. */
  block(milliseconds: Uint32): void;
  /** Reads memory of another vault. */
  read(buffer: RdmaBuffer, transport: string, length: Uint32): Found;
  /**
   * Reads the whole buffer repeatedly until a read fails. All bytes should be `value`; those of the last read may be 0.
   * @concurrent
   */
  readUntil(buffer: RdmaBuffer, transport: string, value: Uint32): Found;
  /**
   * Writes the whole buffer repeatedly until a write fails.
   * @concurrent
   */
  write(buffer: RdmaBuffer, transport: string, value: Uint32): Found;
  echo(buffer: RdmaBuffer): RdmaBuffer;
  echoAll(buffers: RdmaBuffer[]): RdmaBuffer[];
  /** Starts a process with another vault. */
  hire(): Mesh<Vault>;
}
