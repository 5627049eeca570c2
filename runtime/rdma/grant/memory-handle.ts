/**
 * What stands for a buffer in a message: at most 256 bytes. Whoever has it may do what it says: it is a bearer capability. Where it is
 * received nothing of it is trusted: what counts is what the owner's slot says.
 */
import type { GrantClaim } from "../../../generated/rdma.js";
import type { Location, ProcId } from "../../link/address.js";
import { type Transport, transports } from "../transport-names.js";
import type { Access, GrantKey } from "./grant.js";

/** Bytes of a handle on the wire, whatever is in it. */
export const MAX_HANDLE_BYTES = 256;
/** Bytes that one transport may put into it. */
export const MAX_PART_BYTES = 48;

export interface MemoryHandle extends GrantKey {
  /** Who answers for the memory: the proc that code of the owner's process belongs to, and where that is. */
  readonly proc: ProcId;
  readonly location: Location;
  /** The owner's process. */
  readonly process: ProcessIdentity;
  /** In bytes, of what is granted. */
  readonly length: number;
  readonly access: Access;
  /** What transports have put into it. */
  readonly transportParts: TransportParts;
}

export type TransportParts = Partial<Readonly<Record<Transport, Uint8Array>>>;

/** A process of a machine, so that it is never taken for another. */
export interface ProcessIdentity {
  /** Of the machine since it was started, and of what process ids mean there: equal if both are. */
  readonly machine: bigint;
  readonly pid: number;
  /** In clock ticks since the boot, as in /proc/<pid>/stat: tells processes apart that have the same id one after the other. */
  readonly started: bigint;
  /** The descriptor of the table of its grants; -1: there is none, since it has no addon. */
  readonly table: number;
}

export function grantClaimOf({ slot, generation, nonce, process, length, access }: MemoryHandle): GrantClaim {
  const { machine, pid, started } = process;
  const [nonce0, nonce1] = nonce;
  return { slot, generation, nonce0, nonce1, machine, pid, started, length, writable: access === "rw" };
}

/** A word for each transport, in the order in which parts stand. */
export function numberedParts(handle: { readonly transportParts: TransportParts }): [number, Uint8Array][] {
  const found: [number, Uint8Array][] = [];
  for (let i = 0; i < transports.length; i++) {
    const part = handle.transportParts[transports[i]!];
    if (part !== undefined) found.push([i, part]);
  }
  return found;
}
