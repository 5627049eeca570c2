/**
 * What stands for a buffer in a message: at most 256 bytes. Whoever has it may do what it says: it is a bearer capability. Where it is
 * received nothing of it is trusted: what counts is what the owner's slot says.
 */
import type { Location, ProcId } from "../link/address.js";
import type { Transport } from "./backend.js";
import type { Access } from "./grant.js";

export interface Handle {
  /** The proc of the owner that answers for its memory. */
  readonly proc: ProcId;
  readonly location: Location;
  /** The owner's process. */
  readonly process: ProcessName;
  readonly slot: number;
  readonly generation: number;
  readonly nonce: Uint8Array;
  /** Bytes. */
  readonly length: number;
  readonly access: Access;
  /** What backends have put into it. */
  readonly parts: Partial<Readonly<Record<Transport, Uint8Array>>>;
}

/** A process of a machine, so that it is never taken for another. */
export interface ProcessName {
  /** Of the machine since it was started, and of what process ids mean there: equal if both are. */
  readonly machine: bigint;
  readonly pid: number;
  /** In clock ticks since the boot, as in /proc/<pid>/stat: tells processes apart that have the same id one after the other. */
  readonly started: bigint;
  /** The descriptor of the table of its grants; -1: there is none, since it has no addon. */
  readonly table: number;
}
