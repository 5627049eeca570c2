/**
 * What generated code calls values that this version of the runtime can name but not make: handles to registered memory
 * and tensors. Opaque; `WireEnvironment` will write and read them.
 */
declare const handle: unique symbol;

/** A handle to registered memory. */
export interface RdmaBuffer {
  readonly [handle]: "RdmaBuffer";
}

/** A tensor of the tensor engine. */
export interface Tensor {
  readonly [handle]: "Tensor";
}
