/**
 * The interface of the four transports, which copy bytes between the memories of two processes: `shared`, `vm`, `verbs`
 * and `stream`. Each process (`ProcessRuntime`) has one backend of each. It acts for owners, which grant memory, and
 * for initiators, which open handles and transfer bytes. `domain/select-transport.ts` tries which backend reaches a
 * memory; no code above this interface depends on the transport.
 *
 * The caller of a backend checks that offsets and lengths are within the handle and the local view, that the handle
 * allows the direction, and that the buffer was not dropped. It also handles timeouts and signals. A handle may be
 * forged, so the backend checks, as far as it can, that the grant is valid, and its range and rights.
 */
import type { ProcId } from "../../link/address.js";
import type { Grant } from "../grant/grant.js";
import type { MemoryHandle } from "../grant/memory-handle.js";
import type { BulkConnection } from "../peer/bulk-connection.js";
import type { TransferOperation } from "../transfer/transfer-operation.js";
import type { Transport } from "../transport-names.js";

export interface TransportBackend {
  readonly transport: Transport;
  /** Whether transfers need no work of the owner's event loop. */
  readonly oneSided: boolean;
  /**
   * Returns why this process cannot use the transport at all, or undefined if it may be able to. Cheap after the first
   * call; opens no connection. The text completes `vm: …`.
   */
  whyUnavailable(): string | undefined;

  /**
   * Owner: returns the bytes that this transport adds to the handle of a new grant, at most `MAX_PART_BYTES`; undefined
   * for none. Called once for each grant, before its handle leaves the process. It must not block.
   * @throws Error, which makes the grant fail
   */
  handlePartOf?(grant: Grant): Uint8Array | undefined;
  /**
   * Owner: completes the end of a grant, whose slot is already marked as ended. Resolves when no peer can write the
   * memory through this transport, and bytes that a peer still reads are discarded; the owner may then free the memory.
   * Rejects if a writer neither ends nor dies; `revoke` may then be called again.
   * @param signal ends the wait
   */
  finishRevocation?(grant: Grant, signal: AbortSignal): Promise<void>;
  /**
   * Owner: answers the request that an initiator has sent with `ask`. Only transports that exchange data before the
   * first transfer have this method. The request is not trusted.
   * @throws Error, whose message the initiator receives
   */
  answerPeer?(request: Uint8Array): Promise<Uint8Array>;

  /**
   * Initiator: tries to reach the memory of a handle. Called once for each buffer, and again after a transfer of the
   * opened memory has failed with `ERR_RDMA_PEER_GONE`. A backend must prove that it reaches this memory, and not only
   * memory of the same name. Returns undefined if the transport does not reach the memory; the caller then tries the
   * next one. It returns synchronously if it needs no other process.
   * @param ask sends a request to the same backend of the owner, whose event loop answers
   * @throws RdmaError if the transport reaches the owner and the handle is refused, with the code
   * `ERR_RDMA_FORGED`, `ERR_RDMA_STALE`, `ERR_RDMA_REVOKED` or `ERR_RDMA_DROPPED`; the caller then tries no other
   * transport
   */
  open(
    handle: MemoryHandle,
    ask: AskOwner,
    signal: AbortSignal,
  ): OpenedMemory | undefined | Promise<OpenedMemory | undefined>;

  /** Owner: takes a connection for memory bytes from an authenticated process of the same tree. */
  acceptConnection?(connection: BulkConnection): void;
  /** Initiator: handles the end of a proc, as its links report it. */
  peerGone?(peer: ProcId, reason: string): void;

  /** Closes descriptors, queue pairs and listeners. Called at the end of this process or of a test. Idempotent. */
  close?(): void;
}

export type AskOwner = (request: Uint8Array, signal: AbortSignal) => Promise<Uint8Array>;

/** The opened memory of another process. */
export interface OpenedMemory {
  /**
   * Transfers bytes. The transfer has started when the method returns.
   *
   * - The promise settles only when the transfer accesses local memory no more, also if it was cancelled or the peer
   *   died.
   * - If a read resolves, every byte was in the granted memory while the grant was valid. The bytes are not a snapshot.
   *   If a read rejects, the content of the local view is undefined, but never contains memory that was not granted.
   * - If a write resolves, the bytes are in the owner's memory. If it rejects with `ERR_RDMA_UNKNOWN`,
   *   `ERR_RDMA_TIMEOUT` or because of its signal, any part of the bytes may have been written. With any other code,
   *   nothing was written, or only what precedes the refused part.
   * - Transfers have no order among each other.
   * - The transfer counts the transferred bytes with `operation.addMoved`.
   * - After `operation.cancel`, the promise rejects with any error as soon as the first rule allows.
   * - If the owner dies, the promise rejects with `ERR_RDMA_PEER_GONE` within the detection time of the transport. If
   *   the grant ends, it rejects with `ERR_RDMA_REVOKED` or `ERR_RDMA_DROPPED`.
   *
   * A small transfer may be completed synchronously; the method then returns undefined.
   */
  transfer(operation: TransferOperation): Promise<void> | undefined;
  /**
   * Returns a new view of the granted memory itself. Absent if the transport cannot map memory. Writes to the view of a
   * read-only grant stay private.
   * @throws RdmaError if the memory cannot be mapped
   */
  map?(): Uint8Array;
  /** Releases the opened memory. The caller makes sure that no transfer is in progress. Idempotent. */
  close(): void;
}
