/**
 * Finds the handles in a message: ports, meshes, registered memory and tensors, at any depth. The description of a
 * service lists every message that its requests and answers can contain, so the search covers everything that the
 * codecs can read.
 */

import { isHandle } from "./names.js";
import type { ProtoSchema } from "./proto-schema.js";

/** A handle in a message. */
export interface HandlePath {
  /** The kind of handle: `Port`, `Mesh`, `RdmaBuffer` or `Tensor`. */
  readonly handle: string;
  /** The JSON names of the fields that lead to the handle: `items.reply`. */
  readonly path: string;
}

/** Returns the handle with the shortest path in a message, or undefined if the message cannot contain one. */
export function findHandle(message: string, { messages }: ProtoSchema): HandlePath | undefined {
  const seen = new Set([message]);
  // The list grows while the loop runs: a breadth-first search.
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
