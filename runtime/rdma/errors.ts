/** What goes wrong with memory of another process: one class, told apart by codes, which are part of the interface. */

/** The codes of {@link RdmaError}. */
export type RdmaErrorCode =
  /** Offset and length leave the buffer, or the local view. Nothing was moved. */
  | "ERR_RDMA_BOUNDS"
  /** The handle does not allow it: it is for reading alone. Nothing was moved. */
  | "ERR_RDMA_ACCESS"
  /** The owner has taken back this grant. */
  | "ERR_RDMA_REVOKED"
  /** The owner has dropped the memory. */
  | "ERR_RDMA_DROPPED"
  /** No owner has ever given out this handle. */
  | "ERR_RDMA_FORGED"
  /** The handle is of something that is no more: an earlier use of the slot, of the process id, of the machine since it was started. */
  | "ERR_RDMA_STALE"
  /** The process of the owner has ended, or cannot be reached. */
  | "ERR_RDMA_PEER_GONE"
  /** It took longer than it was given. */
  | "ERR_RDMA_TIMEOUT"
  /** No transport that is allowed leads there. */
  | "ERR_RDMA_UNREACHABLE"
  /** The memory itself cannot be read or written, although it was granted: its owner has freed it behind the library's back. */
  | "ERR_RDMA_FAULT"
  /** A write may have happened, in whole or in part, or not at all. */
  | "ERR_RDMA_UNKNOWN"
  /** There are as many grants as there can be, or as much memory. */
  | "ERR_RDMA_LIMIT"
  /** Something that this transport, or this machine, cannot do. */
  | "ERR_RDMA_UNSUPPORTED";

/**
 * Thrown when memory of another process cannot be registered, reached, read or written. `code` tells the cases apart.
 */
export class RdmaError extends Error {
  override readonly name: string = "RdmaError";
  /** What went wrong. */
  readonly code: RdmaErrorCode;

  /**
   * Makes an error.
   *
   * @param code what went wrong
   * @param message as text for people
   * @param options the cause
   */
  constructor(code: RdmaErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
