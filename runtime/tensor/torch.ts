/** Operations as functions of one object, by libtorch's own names: `torch.matmul(a, b)`. */
import { type Functions, functionNames } from "./generated/ops.js";
import { invoke } from "./invoke.js";

function functions(): Functions {
  const all: Record<string, (...args: unknown[]) => unknown> = {};
  for (const name of functionNames.split(" ")) {
    const full = `aten::${name}`;
    const operation = (...args: unknown[]) => invoke(full, args, operation);
    all[name] = operation;
  }
  return all as unknown as Functions;
}

export const torch: Functions = functions();

/**
 * Calls an operation of libtorch by its name, for those that `torch` has no function for: `call("_foreach_add_.Scalar", [list, 1])`.
 * @param name with an overload, or without; `viceroy::…` and others with their namespace
 */
export function call(name: string, args: readonly unknown[], options?: object): unknown {
  return invoke(name.includes("::") ? name : `aten::${name}`, options === undefined ? args : [...args, { ...options }]);
}
