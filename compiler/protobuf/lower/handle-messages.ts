/**
 * Messages that Viceroy itself declares: what means something inside a running mesh alone. In a package of their own, so
 * that every project means the same by them.
 */

import { handlePackage } from "../../../shared/protobuf/names.js";
import type { ProtoField, ProtoMessage } from "../../../shared/protobuf/proto-schema.js";

export const handleFile = "viceroy/handle/v1/handle.proto";

const handles: Readonly<Record<string, readonly [name: string, doc: string]>> = {
  port: ["Port", "Where messages can be sent, inside a running mesh."],
  mesh: ["Mesh", "A mesh of actors, inside a running mesh."],
  rdmaBuffer: ["RdmaBuffer", "Registered memory of a process, inside a running mesh."],
  tensor: ["Tensor", "A tensor, inside a running mesh."],
};

/** @param kind of a type */
export function handleName(kind: string): string {
  const handle = handles[kind];
  if (handle === undefined) throw new Error(`cannot name the message of a type of kind ${kind}`);
  return `${handlePackage}.${handle[0]}`;
}

const state: ProtoField = {
  name: "state",
  jsonName: "state",
  number: 1,
  cardinality: "implicit",
  type: { kind: "scalar", scalar: "bytes" },
};

export const handleMessages: readonly { readonly message: ProtoMessage; readonly doc: string }[] = Object.entries(
  handles,
).map(([kind, [, doc]]) => ({ message: { name: handleName(kind), fields: [state] }, doc }));
