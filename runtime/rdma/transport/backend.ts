/**
 * The narrow face of the four ways in which bytes get from one process's memory into another's: `shared`, `vm`, `verbs`, `stream`. One
 * object of each for every process (`ProcessRuntime`), which acts for owners, who grant, and for initiators, who open and transfer. Which
 * one serves a pair of processes is found out by trying (choose.ts); nothing above this file knows how bytes move.
 *
 * Checked above, so that no backend has to: that offsets and lengths lie within the handle and the local view, that the handle
 * allows the direction, that buffers have not been dropped here, timeouts, signals, and the texts of errors. Checked by the backend,
 * where it can, because handles may lie: that the grant is alive, its range, its rights.
 */
import type { ProcId } from "../../link/address.js";
import type { Grant } from "../grant/grant.js";
import type { MemoryHandle } from "../grant/memory-handle.js";
import type { BulkConnection } from "../peer/bulk-connection.js";
import type { TransferOperation } from "../transfer/transfer-operation.js";
import type { Transport } from "../transport-names.js";

export interface TransportBackend {
  readonly transport: Transport;
  /** Whether the owner's event loop does nothing for a transfer. */
  readonly oneSided: boolean;
  /**
   * Why this process cannot use it with anybody; undefined: it may be that it can. Cheap after the first time; opens no
   * connection. The text completes `vm: …`.
   */
  whyUnavailable(): string | undefined;

  /**
   * Owner: a grant has been made. Returns what peers need beyond what every handle has, at most `PART_BYTES` (handle.ts); undefined: nothing.
   * Called once for each grant, before any handle of it leaves the process; must not block.
   * @throws Error, which fails the grant
   */
  handlePartOf?(grant: Grant): Uint8Array | undefined;
  /**
   * Owner: a grant is taken back; its slot says so already. Resolves when, by this transport, nothing can read or write the
   * memory any more that was not wiped from what its reader sees; the memory may be freed then. Rejects when that cannot be
   * promised by now, because a writer neither ends nor dies: `revoke` may be called again.
   * @param signal gives up
   */
  finishRevocation?(grant: Grant, signal: AbortSignal): Promise<void>;
  /**
   * Owner: what an initiator's `ask` is answered with, for transports that must exchange something before the first transfer: queue pairs.
   * The bytes are hostile.
   * @throws Error, whose message the initiator gets
   */
  answerPeer?(request: Uint8Array): Promise<Uint8Array>;

  /**
   * Initiator: tries to reach the memory that a handle names. Called once for each buffer that is used, and again after the one
   * that it resolved to has rejected with `ERR_RDMA_PEER_GONE`. Must prove that it reaches that very memory, never by name alone.
   * Undefined when this transport does not lead there: the next one is tried. What needs nobody else is found out on the spot.
   * @param ask sends a request to the same backend of the owner, whose event loop answers
   * @throws RdmaError when it does lead there, and the handle is refused: FORGED, STALE, REVOKED, DROPPED; no other is tried
   */
  open(
    handle: MemoryHandle,
    ask: AskOwner,
    signal: AbortSignal,
  ): OpenedMemory | undefined | Promise<OpenedMemory | undefined>;

  /** Owner: somebody has connected for bulk bytes, by a port of this process, and has proved to be of its tree. */
  acceptConnection?(way: BulkConnection): void;
  /** Initiator: a proc has ended, by what links tell. */
  peerGone?(peer: ProcId, reason: string): void;

  /** This process ends, or its tests do: descriptors, queue pairs and listeners are closed. Idempotent. */
  close?(): void;
}

export type AskOwner = (request: Uint8Array, signal: AbortSignal) => Promise<Uint8Array>;

/** Memory of another process that has been reached. */
export interface OpenedMemory {
  /**
   * Moves bytes. The operation has started when this returns.
   *
   * - Settles only when nothing touches local memory any more on its behalf, also when it is cancelled or the peer dies.
   * - A read that resolves: every byte was in the granted memory, while the grant was good. It is no snapshot. One that rejects leaves in
   *   the local view what it likes, except bytes of memory that was not granted.
   * - A write that resolves: the bytes are in the owner's memory. One that rejects with `ERR_RDMA_UNKNOWN`, `ERR_RDMA_TIMEOUT` or because of
   *   its signal may have written any part of them. With every other code it has written nothing, or before a part of
   *   it was refused, what came first.
   * - Transfers have no order among each other.
   * - Counts what has been moved by `operation.moved`.
   * - When `operation.cancelled` becomes true (`operation.onCancel` tells), it rejects as soon as the first promise allows, with anything.
   * - The death of the owner rejects with `ERR_RDMA_PEER_GONE`, within the detection time of the transport; a grant that is taken back with
   *   REVOKED or DROPPED.
   *
   * Small ones may be done on the spot and return undefined: the caller then answers at once.
   */
  transfer(operation: TransferOperation): Promise<void> | undefined;
  /**
   * The granted memory itself, where the transport can. Of a grant for reading alone, a private view: what is written there stays here.
   * Another one each time.
   * @throws RdmaError
   */
  map?(): Uint8Array;
  /** The buffer is no longer used here. No transfer is under way. Idempotent. */
  close(): void;
}
