/**
 * What generated code calls values that this version of the runtime can name but not make: tensors. Opaque;
 * `WireEnvironment` will write and read them.
 */
declare const handle: unique symbol;

/** A tensor of the tensor engine. */
export interface Tensor {
  readonly [handle]: "Tensor";
}
