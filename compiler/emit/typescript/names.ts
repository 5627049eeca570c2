/** What generated code imports from Viceroy: the ABI, and nothing else of the runtime. */
import { type ImportedName, importedType, importedValue } from "../kit/index.js";

const abi = "viceroy/codegen/v1";

/** A type of the ABI. */
export function abiType(name: string): ImportedName {
  return importedType(abi, name);
}

/** A value of the ABI. */
export function abiValue(name: string): ImportedName {
  return importedValue(abi, name);
}
