/**
 * Memory that other processes read and write without the owner's event loop.
 *
 * @module
 */
export { RdmaAction } from "./action.js";
export {
  type GrantOptions,
  RdmaBuffer,
  type RdmaTransferOptions,
  type RegisterOptions,
  type RevokeOptions,
} from "./buffer.js";
export { RdmaError, type RdmaErrorCode } from "./errors.js";
export type { Access } from "./grant.js";
export type { OpenOptions } from "./opening.js";
export type { Region } from "./region.js";
export { type RdmaSupport, rdmaSupport, type TransportSupport } from "./support.js";
export type { TransferOptions } from "./transfer.js";
export type { Transport } from "./transport.js";
