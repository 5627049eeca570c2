/** Retains the results of actors in their process until the worker of a mesh takes them. */
import type { KeptAnswer, TensorKey } from "../../../generated/tensor.js";
import { isTensor } from "../value/tensor.js";
import { tensorTypeOf } from "../value/tensor-type.js";
import { putTensors } from "./rendezvous.js";

/**
 * Retains a result, and returns its shapes and types.
 *
 * @throws {TypeError} when the result is neither a tensor nor a list of tensors
 */
export function retainResult(label: string, key: TensorKey, answer: unknown): KeptAnswer {
  const list = Array.isArray(answer);
  const tensors: readonly unknown[] = list ? answer : [answer];
  const kept = tensors.map((tensor) => {
    if (!isTensor(tensor) || tensor.distributed) {
      throw new TypeError(
        `cannot keep what ${label} answers: expected a tensor of this process, got ${String(tensor)}`,
      );
    }
    // The actor can change the tensor afterwards.
    return tensor.detach().clone();
  });
  putTensors(key, { tensors: kept });
  return { types: kept.map(tensorTypeOf), list };
}
