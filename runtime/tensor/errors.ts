/** What goes wrong with tensors beside wrong arguments, which are TypeErrors, and what libtorch says, which are Errors. */

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

export interface TensorErrorDetails {
  readonly cause?: unknown;
  /** The operation that failed: `aten::mm`. */
  readonly op?: string;
  /** Where in the controller's code it was called: `/src/train.ts:12:20`. */
  readonly site?: string;
  /** Where in the mesh it failed. */
  readonly rank?: number;
}

export class TensorError extends Error {
  override readonly name = "TensorError";
  readonly code: TensorErrorCode;
  readonly op: string | undefined;
  readonly site: string | undefined;
  readonly rank: number | undefined;

  constructor(code: TensorErrorCode, message: string, { cause, op, site, rank }: TensorErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.op = op;
    this.site = site;
    this.rank = rank;
  }
}
