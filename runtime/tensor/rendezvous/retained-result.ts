/** Answers of actors that stay in their process until the tensors of a mesh take them. */
import type { KeptAnswer, TensorKey } from "../../../generated/tensor.js";
import { isTensor } from "../value/tensor.js";
import { tensorTypeOf } from "../value/tensor-type.js";
import { putTensors } from "./rendezvous.js";

/** @returns what is told of it @throws TypeError if the answer is neither a tensor nor a list of them */
export function retainResult(label: string, key: TensorKey, answer: unknown): KeptAnswer {
  const list = Array.isArray(answer);
  const tensors: readonly unknown[] = list ? answer : [answer];
  const kept = tensors.map((tensor) => {
    if (!isTensor(tensor) || tensor.distributed) {
      throw new TypeError(
        `cannot keep what ${label} answers: expected a tensor of this process, got ${String(tensor)}`,
      );
    }
    // The actor may go on working with what it has answered.
    return tensor.detach().clone();
  });
  putTensors(key, { tensors: kept });
  return { types: kept.map(tensorTypeOf), list };
}
