/** The three kinds of patches that name what changes: JSON patch, merge patch, and strategic merge patch. */
import { isDeepStrictEqual } from "node:util";
import { isObject, mergeKey } from "./merge-keys.js";
import type { Json } from "./resources.js";
import { badRequest, StatusError } from "./status-error.js";

/** Returns the value after a merge patch (RFC 7386). */
export function mergePatch(value: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result = isObject(value) ? { ...value } : {};
  for (const [field, change] of Object.entries(patch)) {
    if (change === null) delete result[field];
    else result[field] = mergePatch(result[field], change);
  }
  return result;
}

/** Returns the value after a strategic merge patch, which merges lists whose items have an identity. */
export function strategicMergePatch(value: Json | undefined, patch: Json, field = ""): Json {
  if (Array.isArray(patch) && Array.isArray(value)) {
    if (field === "finalizers") return [...new Set([...value, ...patch])];
    const key = mergeKey(field, patch);
    if (key === undefined) return patch;
    const items = [...value];
    for (const change of patch as { [key: string]: Json }[]) {
      const at = items.findIndex((item) => isObject(item) && item[key] === change[key]);
      if (change["$patch"] === "delete") items.splice(at, at < 0 ? 0 : 1);
      else if (at < 0) items.push(change);
      else items[at] = strategicMergePatch(items[at], change);
    }
    return items;
  }
  if (!isObject(patch)) return patch;
  const result = isObject(value) ? { ...value } : {};
  for (const [name, change] of Object.entries(patch)) {
    const removed = /^\$deleteFromPrimitiveList\/(.*)$/.exec(name)?.[1];
    if (removed !== undefined) {
      result[removed] = ((result[removed] ?? []) as Json[]).filter((item) => !(change as Json[]).includes(item));
    } else if (change === null) delete result[name];
    else if (!name.startsWith("$")) result[name] = strategicMergePatch(result[name], change, name);
  }
  return result;
}

interface Operation {
  readonly op: "add" | "remove" | "replace" | "test";
  readonly path: string;
  readonly value?: Json;
}

/**
 * Returns the value after a JSON patch (RFC 6902).
 * @throws StatusError if the patch does not fit the value
 */
export function jsonPatch(value: Json, operations: Json): Json {
  if (!Array.isArray(operations)) throw badRequest("error decoding patch: json: cannot unmarshal object into Go value");
  const root: { [key: string]: Json } = { "": structuredClone(value) };
  for (const operation of operations as unknown as Operation[]) applyOperation(root, operation);
  return root[""]!;
}

function applyOperation(root: { [key: string]: Json }, { op, path, value = null }: Operation): void {
  const names = path.split("/").map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last = names.pop()!;
  const fail = (why: string) =>
    new StatusError(
      422,
      "Invalid",
      `the server rejected our request due to an error in our request: ${op} ${path}: ${why}`,
    );
  let parent: Json = root;
  for (const name of names) {
    const next: Json | undefined = Array.isArray(parent)
      ? parent[Number(name)]
      : isObject(parent)
        ? parent[name]
        : undefined;
    if (next === undefined) throw fail("no such path");
    parent = next;
  }
  if (Array.isArray(parent)) {
    const index = last === "-" ? parent.length : Number(last);
    if (op === "add") parent.splice(index, 0, value);
    else if (index >= parent.length) throw fail("no such item");
    else if (op === "remove") parent.splice(index, 1);
    else if (op === "replace") parent[index] = value;
    else if (!isDeepStrictEqual(parent[index], value)) throw fail("the value differs");
    return;
  }
  if (!isObject(parent)) throw fail("no such path");
  if (op === "add") parent[last] = value;
  else if (op === "test") {
    if (!isDeepStrictEqual(parent[last], value)) throw fail("the value differs");
  } else if (parent[last] === undefined) throw fail("no such field");
  else if (op === "remove") delete parent[last];
  else parent[last] = value;
}
