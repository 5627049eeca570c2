/**
 * Finds the handles in a message: ports, meshes, registered memory and tensors, at any depth. A description of a service lists
 * every message that its requests and answers can hold, so this walk sees all that the codecs can read.
 */

import { isHandle } from "../../shared/protobuf/names.js";
import type { ProtoSchema } from "../../shared/protobuf/proto-schema.js";

export interface HandlePlace {
  /** The kind of handle: `Port`, `Mesh`, `RdmaBuffer` or `Tensor`. */
  readonly handle: string;
  /** The names of the fields that lead to it, as JSON has them: `items.reply`. */
  readonly path: string;
}

/** Returns the shallowest handle that a message can hold, or undefined if it can hold none. */
export function findHandle(message: string, { messages }: ProtoSchema): HandlePlace | undefined {
  const seen = new Set([message]);
  // The list grows while it is walked: a breadth-first search.
  const open: { readonly name: string; readonly path: readonly string[] }[] = [{ name: message, path: [] }];
  for (const { name, path } of open) {
    for (const { jsonName, type } of messages.get(name)?.fields ?? []) {
      if (type.kind !== "message" || seen.has(type.name)) continue;
      const below = [...path, jsonName];
      if (isHandle(type.name))
        return { handle: type.name.slice(type.name.lastIndexOf(".") + 1), path: below.join(".") };
      seen.add(type.name);
      open.push({ name: type.name, path: below });
    }
  }
  return undefined;
}
