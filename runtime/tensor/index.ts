/**
 * Tensors, computed by libtorch. The addon that it needs is loaded when the first tensor is made.
 *
 * @module
 */
import "./activate.js";

export type { NativeNccl, NativeStats, NativeVersions } from "../native/tensor-addon.js";
export type { Along, CutOptions, Reduction } from "./collectives.js";
export { TensorError, type TensorErrorCode, type TensorErrorDetails } from "./errors.js";
export { Float, float } from "./float.js";
export type { Functions, Methods } from "./generated/ops.js";
export { type GradOptions, grad, noGrad } from "./grad.js";
export { fetchShard, inspect, show } from "./inspect.js";
export { type TensorOptions, tensor, tensorOver } from "./make.js";
export type { ActivateOptions, Part, TensorMesh } from "./mesh.js";
export { nccl } from "./nccl.js";
/** Layers, and the modules that models consist of. */
export * as nn from "./nn/index.js";
/** Optimizers, which change parameters by their gradients. */
export * as optim from "./optim/index.js";
export { emptyCache, libtorch, type TensorMemory, tensorMemory, threads } from "./process.js";
export { type RemoteFunction, remote } from "./remote/index.js";
export type { ShapesOf, TensorShape } from "./rref.js";
export {
  type LoadOptions,
  loadTensors,
  type SaveOptions,
  saveTensors,
  type TensorFile,
  tensorsIn,
} from "./safetensors/index.js";
export { TensorScope } from "./scope.js";
export { manualSeed } from "./seed.js";
export { shard } from "./shard.js";
export type { TensorDict } from "./state.js";
export { propagated, tensorArguments } from "./support.js";
export { type BackwardOptions, isTensor, type Nested, type Tensor, type TensorObject } from "./tensor.js";
export { call, torch } from "./torch.js";
export type { DataOf, Device, Dtype, Integer, Layout, MemoryFormat, Real, Scalar, TensorData } from "./types.js";
export { tensorCodec } from "./wire.js";
