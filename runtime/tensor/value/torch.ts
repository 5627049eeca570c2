/** `torch`: the operations of libtorch as functions, by their names in libtorch: `torch.matmul(a, b)`. */
import { functionNames, type OperationFunctions } from "../generated/ops.js";
import { callOperation, TensorOperation } from "../operation/operation.js";
import type { Tensor } from "./tensor.js";

/** The operations of libtorch as functions. */
export interface Functions extends OperationFunctions<Tensor> {}

function createFunctions(): Functions {
  const all: Record<string, (...args: unknown[]) => unknown> = {};
  for (const name of functionNames.split(" ")) {
    const operation = new TensorOperation(`aten::${name}`);
    const call = (...args: unknown[]) => callOperation(operation, args, call);
    all[name] = call;
  }
  return all as unknown as Functions;
}

/** The operations of libtorch as functions: see {@link Functions}. */
export const torch: Functions = createFunctions();

/**
 * Calls an operation of libtorch that `torch` has no function for: `call("_foreach_add_.Scalar", [list, 1])`.
 *
 * @param name the name of the operation, with or without an overload; operations outside `aten` need their namespace
 * @param args the arguments, in order
 * @param options keyword arguments
 * @returns the result of the operation
 * @throws {Error} when libtorch refuses the arguments
 */
export function call(name: string, args: readonly unknown[], options?: object): unknown {
  const operation = operationNamed(name.includes("::") ? name : `aten::${name}`);
  return callOperation(operation, options === undefined ? args : [...args, { ...options }]);
}

const operationsByName = new Map<string, TensorOperation>();

function operationNamed(name: string): TensorOperation {
  let operation = operationsByName.get(name);
  if (operation === undefined) {
    operation = new TensorOperation(name);
    operationsByName.set(name, operation);
  }
  return operation;
}
