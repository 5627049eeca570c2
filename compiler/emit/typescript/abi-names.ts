/**
 * The names that generated code imports from Viceroy: the ABI, `viceroy/tensor` if the schema has tensors, and `viceroy/tasks` if it
 * has references to values of tasks. Generated code imports nothing else of the runtime.
 */
import { type Code, importedType, importedValue } from "../kit/index.js";

const abi = "viceroy/codegen/v1";

/** Returns a type of the ABI. */
export const abiType = memoizeByKey((name) => importedType(abi, name));

/** Returns a value of the ABI. */
export const abiValue = memoizeByKey((name) => importedValue(abi, name));

/** The module that enables messages to hold tensors when it is imported. */
const tensors = "viceroy/tensor";
export const tensorType = importedType(tensors, "Tensor");
export const tensorCodec = importedValue(tensors, "tensorCodec");
export const tensorArguments = importedValue(tensors, "tensorArguments");
export const propagated = importedValue(tensors, "propagated");

/** The module that enables messages to hold references to values of tasks when it is imported. */
const tasks = "viceroy/tasks";
export const objectRefType = importedType(tasks, "ObjectRef");
export const objectRefCodec = importedValue(tasks, "objectRefCodec");

/** Returns a function that creates one object per key. Identical name objects are spelt without comparison. */
export function memoizeByKey<Made extends Code>(make: (key: string) => Made): (key: string) => Made {
  const known = new Map<string, Made>();
  return (key) => {
    let name = known.get(key);
    if (name === undefined) {
      name = make(key);
      known.set(key, name);
    }
    return name;
  };
}
