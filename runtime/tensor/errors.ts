/** What goes wrong with tensors beside wrong arguments, which are TypeErrors, and what libtorch says, which are Errors. */

/** The codes of {@link TensorError}. */
export type TensorErrorCode =
  /** There is no addon, or it cannot be loaded. */
  | "ERR_TENSOR_ADDON"
  /** A process cannot hold tensors on the device that was asked for. */
  | "ERR_TENSOR_DEVICE"
  /** An operation has failed on a process of the mesh. */
  | "ERR_TENSOR_FAILED"
  /** A file is no safetensors file, or not a valid one. */
  | "ERR_TENSOR_FILE"
  /** A mesh is not active any more. */
  | "ERR_TENSOR_INACTIVE"
  /** Elements were asked for that are on the processes of a mesh, or the other way round. */
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
  /** What went wrong. */
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
   * @param code what went wrong
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
