/**
 * The handle of a buffer, which a message contains in place of the memory; at most 256 bytes. It is a bearer
 * capability: whoever has the handle may use the memory. A receiver trusts no part of it; the owner's slot decides.
 */
import type { GrantClaim } from "../../../generated/rdma.js";
import type { Location, ProcId } from "../../link/address.js";
import { type Transport, transports } from "../transport-names.js";
import type { Access, GrantKey } from "./grant.js";

/** Maximum number of bytes of an encoded handle. */
export const MAX_HANDLE_BYTES = 256;
/** Maximum number of bytes that one transport adds to a handle. */
export const MAX_PART_BYTES = 48;

export interface MemoryHandle extends GrantKey {
  /** The main proc of the owner's process, which answers requests about the memory, and its location. */
  readonly proc: ProcId;
  readonly location: Location;
  /** The process of the owner. */
  readonly process: ProcessIdentity;
  /** Length of the granted memory in bytes. */
  readonly length: number;
  readonly access: Access;
  /** The parts that transports have added. */
  readonly transportParts: TransportParts;
}

export type TransportParts = Partial<Readonly<Record<Transport, Uint8Array>>>;

/** Identifies a process, also among processes of other machines and earlier processes with the same id. */
export interface ProcessIdentity {
  /** Identifies the boot of the machine and the namespace of the process id. */
  readonly machine: bigint;
  readonly pid: number;
  /**
   * The start time in clock ticks since the boot, as in /proc/<pid>/stat. It distinguishes processes that had the same
   * id.
   */
  readonly started: bigint;
  /** The descriptor of the process's grant table, or -1 if the process has no addon. */
  readonly table: number;
}

export function grantClaimOf({ slot, generation, nonce, process, length, access }: MemoryHandle): GrantClaim {
  const { machine, pid, started } = process;
  const [nonce0, nonce1] = nonce;
  return { slot, generation, nonce0, nonce1, machine, pid, started, length, writable: access === "rw" };
}

/** Returns the parts of a handle with the numbers of their transports, in the order in which they are encoded. */
export function numberedParts(handle: { readonly transportParts: TransportParts }): [number, Uint8Array][] {
  const found: [number, Uint8Array][] = [];
  for (let i = 0; i < transports.length; i++) {
    const part = handle.transportParts[transports[i]!];
    if (part !== undefined) found.push([i, part]);
  }
  return found;
}
