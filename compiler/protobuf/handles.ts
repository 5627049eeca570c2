/**
 * Messages that Viceroy itself declares: what means something inside a running mesh alone. In a package of their own, so
 * that every project means the same by them.
 */
import type { ProtoMessage } from "../../schemas/protobuf/descriptor.js";

export const handlePackage = "viceroy.handle.v1";
export const handleFile = "viceroy/handle/v1/handle.proto";

const names: Readonly<Record<string, string>> = {
  port: "Port",
  mesh: "Mesh",
  rdmaBuffer: "RdmaBuffer",
  tensor: "Tensor",
};

/** @param kind of a type */
export function handleName(kind: string): string {
  const name = names[kind];
  if (name === undefined) throw new Error(`cannot name the message of a type of kind ${kind}`);
  return `${handlePackage}.${name}`;
}

/** `bytes state = 1`. */
export const handleMessages: readonly ProtoMessage[] = Object.keys(names).map((kind) => ({
  name: handleName(kind),
  fields: [
    {
      name: "state",
      jsonName: "state",
      number: 1,
      cardinality: "implicit",
      type: { kind: "scalar", scalar: "bytes" },
    },
  ],
}));
