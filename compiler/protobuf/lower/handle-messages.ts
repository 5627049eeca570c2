/**
 * The messages that Viceroy itself declares, for values that have a meaning only inside a running mesh. They have a
 * package of their own, so that they are the same types in every project.
 */

import { handlePackage } from "../../../shared/protobuf/names.js";
import type { ProtoField, ProtoMessage } from "../../../shared/protobuf/proto-schema.js";

export const handleFile = "viceroy/handle/v1/handle.proto";

const handles: Readonly<Record<string, readonly [name: string, doc: string]>> = {
  port: ["Port", "A destination of messages, inside a running mesh."],
  mesh: ["Mesh", "A mesh of actors, inside a running mesh."],
  rdmaBuffer: ["RdmaBuffer", "Registered memory of a process, inside a running mesh."],
  objectRef: ["ObjectRef", "A reference to a value of tasks, inside a running mesh."],
  tensor: ["Tensor", "A tensor, inside a running mesh."],
};

/** Returns the full name of the message for a kind of type. */
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
