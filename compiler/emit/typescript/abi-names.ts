/** What generated code imports from Viceroy: the ABI, tensors where a schema has them, and nothing else of the runtime. */
import { type Code, importedType, importedValue } from "../kit/index.js";

const abi = "viceroy/codegen/v1";

/** A type of the ABI. */
export const abiType = memoizeByKey((name) => importedType(abi, name));

/** A value of the ABI. */
export const abiValue = memoizeByKey((name) => importedValue(abi, name));

/** Importing it makes messages able to hold tensors. */
const tensors = "viceroy/tensor";
export const tensorType = importedType(tensors, "Tensor");
export const tensorCodec = importedValue(tensors, "tensorCodec");
export const tensorArguments = importedValue(tensors, "tensorArguments");
export const propagated = importedValue(tensors, "propagated");

/** The same object for the same key: names that are the same object are spelt without comparing them. */
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
