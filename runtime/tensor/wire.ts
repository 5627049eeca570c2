/** Tensors in messages of actors: by value, so that who gets one has a tensor of its own process. */
import { TensorValueCodec } from "../../generated/tensor.js";
import { type Codec, codec, extendWireEnvironment, type Reader, type Writer } from "../codegen/v1/index.js";
import { TensorError } from "./errors.js";
import { isTensor, type Tensor } from "./tensor.js";
import { localTensor, tensorValue } from "./value.js";

extendWireEnvironment({ writeTensor, readTensor });

/** @internal For generated code, which can hold tensors because it imports this. */
export function tensorCodec(): Codec<Tensor> {
  return codec.tensor<Tensor>();
}

function writeTensor(w: Writer, value: unknown): void {
  if (!isTensor(value)) throw new TypeError(`expected a tensor, got ${describe(value)}`);
  if (value.distributed) {
    throw new TensorError(
      "ERR_TENSOR_PLACE",
      "its elements are on the processes of a mesh; send what await inspect(tensor) answers",
    );
  }
  const own = tensorValue(value);
  // A copy: the message may wait, and operations in place would change what it says.
  w.append(TensorValueCodec, { ...own, elements: own.elements.slice() });
}

function readTensor(r: Reader): unknown {
  return localTensor(r.next(TensorValueCodec));
}

function describe(value: unknown): string {
  if (value === null || typeof value !== "object") return value === null ? "null" : typeof value;
  return `a ${value.constructor?.name ?? "record"}`;
}
