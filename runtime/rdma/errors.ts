/** The error of registered memory. Its codes are a part of the public interface. */

/**
 * The codes of {@link RdmaError}.
 *
 * - `ERR_RDMA_BOUNDS`: offset and length exceed the buffer or the local view. Nothing has been transferred.
 * - `ERR_RDMA_ACCESS`: the buffer is read-only. Nothing has been transferred.
 * - `ERR_RDMA_REVOKED`: the owner has revoked the grant.
 * - `ERR_RDMA_DROPPED`: the owner has dropped the memory.
 * - `ERR_RDMA_FORGED`: no owner has issued the handle.
 * - `ERR_RDMA_STALE`: the handle belongs to an earlier use of a slot or a process id, or to an earlier boot of the
 *   machine.
 * - `ERR_RDMA_PEER_GONE`: the process of the owner has ended, or cannot be reached.
 * - `ERR_RDMA_TIMEOUT`: the time limit has passed.
 * - `ERR_RDMA_UNREACHABLE`: no allowed transport reaches the memory.
 * - `ERR_RDMA_FAULT`: the memory cannot be read or written, although it was granted: its owner has freed it in another
 *   way.
 * - `ERR_RDMA_UNKNOWN`: a write may have happened, completely, partly or not at all.
 * - `ERR_RDMA_LIMIT`: the number of grants or the amount of memory has reached its limit.
 * - `ERR_RDMA_UNSUPPORTED`: the transport or the machine does not support the operation.
 */
export type RdmaErrorCode =
  | "ERR_RDMA_BOUNDS"
  | "ERR_RDMA_ACCESS"
  | "ERR_RDMA_REVOKED"
  | "ERR_RDMA_DROPPED"
  | "ERR_RDMA_FORGED"
  | "ERR_RDMA_STALE"
  | "ERR_RDMA_PEER_GONE"
  | "ERR_RDMA_TIMEOUT"
  | "ERR_RDMA_UNREACHABLE"
  | "ERR_RDMA_FAULT"
  | "ERR_RDMA_UNKNOWN"
  | "ERR_RDMA_LIMIT"
  | "ERR_RDMA_UNSUPPORTED";

/**
 * Thrown when memory of another process cannot be registered, reached, read or written. `code` tells the cases apart.
 */
export class RdmaError extends Error {
  override readonly name: string = "RdmaError";
  /** The kind of failure. */
  readonly code: RdmaErrorCode;

  /**
   * Makes an error.
   *
   * @param code the kind of failure
   * @param message as text for people
   * @param options the cause
   */
  constructor(code: RdmaErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
