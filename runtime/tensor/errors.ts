/** The error of tensors. Wrong arguments are TypeError and RangeError, and errors of libtorch are Error. */

/**
 * The codes of {@link TensorError}.
 *
 * - `ERR_TENSOR_ADDON`: the addon is missing, or cannot be loaded.
 * - `ERR_TENSOR_DEVICE`: a proc cannot use the requested device.
 * - `ERR_TENSOR_FAILED`: an operation has failed on a proc of the mesh.
 * - `ERR_TENSOR_FILE`: a file is not a valid safetensors file.
 * - `ERR_TENSOR_INACTIVE`: the mesh is not active, or no mesh is.
 * - `ERR_TENSOR_PLACE`: the elements are on the procs of a mesh, but are needed in this process, or vice versa.
 */
export type TensorErrorCode =
  | "ERR_TENSOR_ADDON"
  | "ERR_TENSOR_DEVICE"
  | "ERR_TENSOR_FAILED"
  | "ERR_TENSOR_FILE"
  | "ERR_TENSOR_INACTIVE"
  | "ERR_TENSOR_PLACE";

/** The details of a {@link TensorError}. */
export interface TensorErrorDetails {
  /** The error that caused this one. */
  readonly cause?: unknown;
  /** The operation that failed: `aten::mm`. */
  readonly op?: string;
  /** The place in the program that called the operation: `/src/train.ts:12:20`. */
  readonly site?: string;
  /** The rank of the proc that failed, from 0. */
  readonly rank?: number;
}

/**
 * Thrown when the addon, a device, a file or an operation on a mesh fails. Wrong arguments are TypeError and
 * RangeError; errors of libtorch in this process are Error.
 */
export class TensorError extends Error {
  override readonly name = "TensorError";
  /** The kind of failure. */
  readonly code: TensorErrorCode;
  /** The operation that failed: `aten::mm`. */
  readonly op: string | undefined;
  /** The place in the program that called the operation: `/src/train.ts:12:20`. */
  readonly site: string | undefined;
  /** The rank of the proc that failed, from 0. */
  readonly rank: number | undefined;

  /**
   * Makes an error.
   *
   * @param code the kind of failure
   * @param message as text for people
   * @param details operation, place, rank and cause
   */
  constructor(code: TensorErrorCode, message: string, { cause, op, site, rank }: TensorErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.op = op;
    this.site = site;
    this.rank = rank;
  }
}
