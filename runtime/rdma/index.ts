/**
 * Memory that other processes read and write without the owner's event loop.
 *
 * @module
 */

export type { OpenOptions } from "./domain/transport-selection.js";
export { RdmaError, type RdmaErrorCode } from "./errors.js";
export type { Access } from "./grant/grant.js";
export { RdmaAction } from "./rdma-action.js";
export {
  type GrantOptions,
  RdmaBuffer,
  type RdmaTransferOptions,
  type RegisterOptions,
  type RevokeOptions,
} from "./rdma-buffer.js";
export { type RdmaSupport, rdmaSupport, type TransportSupport } from "./rdma-support.js";
export type { TransferOptions } from "./transfer/run-transfer.js";
export type { Region } from "./transfer/segments.js";
export type { Transport } from "./transport-names.js";
