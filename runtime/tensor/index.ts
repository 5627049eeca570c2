/**
 * Tensors, computed by libtorch. The addon that it needs is loaded when the first tensor is made.
 *
 * @module
 */
import "./activate.js";
import "./mesh/tensor-methods.js";

export type { NativeNccl, NativeStats, NativeVersions } from "../native/tensor-addon.js";
export type {
  DataOf,
  Device,
  Dtype,
  Integer,
  Integers,
  Layout,
  MemoryFormat,
  Real,
  Scalar,
  TensorData,
} from "./argument-types.js";
export type { ShapesOf, TensorShape } from "./call/rref.js";
export { tensorCodec } from "./call/tensor-codec.js";
export { propagated, tensorArguments } from "./call/tensor-interceptor.js";
export { nccl } from "./communicator/nccl.js";
export { TensorError, type TensorErrorCode, type TensorErrorDetails } from "./errors.js";
export { Float, float } from "./float.js";
export type { Along, CutOptions, Reduction } from "./mesh/collectives.js";
export { fetchShard, inspect, show } from "./mesh/inspect.js";
export type { ActivateOptions, Part } from "./mesh/mesh-options.js";
export { shard } from "./mesh/shard.js";
export type { TensorMesh } from "./mesh/tensor-mesh.js";
/** Layers, and the modules that models consist of. */
export * as nn from "./nn/index.js";
export { emptyCache, libtorch, type TensorMemory, tensorMemory, threads } from "./operation/libtorch-process.js";
export { manualSeed } from "./operation/manual-seed.js";
/** Optimizers, which change parameters by their gradients. */
export * as optim from "./optim/index.js";
export { type RemoteFunction, remote } from "./remote/index.js";
export { type RecordedStep, recorded, type StepCounts } from "./replay/recorded.js";
export {
  type LoadOptions,
  loadTensors,
  type SaveOptions,
  saveTensors,
  type TensorFile,
  tensorsIn,
} from "./safetensors/index.js";
export { type TensorOptions, tensor, tensorOver } from "./value/create-tensor.js";
export { type GradOptions, grad, noGrad } from "./value/grad.js";
export {
  type BackwardOptions,
  isTensor,
  type Methods,
  type Nested,
  type Tensor,
  type TensorObject,
} from "./value/tensor.js";
export type { TensorDict } from "./value/tensor-dict.js";
export { TensorScope } from "./value/tensor-scope.js";
export { call, type Functions, torch } from "./value/torch.js";
