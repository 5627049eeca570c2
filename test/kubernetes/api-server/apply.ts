/**
 * Server-side apply: who manages which field, conflicts between managers, and the removal of fields that a manager does not
 * apply any more. The record of managers is kept in `metadata.managedFields`, as the real API server keeps it.
 */
import { isDeepStrictEqual } from "node:util";
import { isObject, mergeKey } from "./merge-keys.js";
import type { ApiObject, Json } from "./resources.js";
import { badRequest, StatusError } from "./status-error.js";
import { timestamp } from "./store.js";

/** A step is `f:` with a field, or `k:` with the identity of an item as JSON. */
type Path = readonly string[];

interface Entry {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly time: string;
  readonly fieldsType: "FieldsV1";
  readonly fieldsV1: Json;
}

const identity = ["apiVersion", "kind", "metadata.name", "metadata.namespace", "metadata.managedFields"];

/**
 * Returns an object after an apply.
 * @param before the stored object, or undefined if there is none
 * @throws StatusError with the code 409 if another manager has another value of a field, and `force` is not set
 */
export function apply(before: ApiObject | undefined, wanted: ApiObject, manager: string, force: boolean): ApiObject {
  if (manager === "")
    throw badRequest(
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    );
  const entries = (before?.metadata.managedFields ?? []) as unknown as Entry[];
  const paths = leaves(wanted as unknown as Json).filter((path) => !identity.includes(fieldsOf(path)));
  const others = entries.filter((entry) => entry.manager !== manager || entry.operation !== "Apply");
  const result = structuredClone(
    before ?? { apiVersion: wanted.apiVersion, kind: wanted.kind, metadata: {} },
  ) as unknown as Json;
  const conflicts = paths.flatMap((path) => {
    const differs = !isDeepStrictEqual(read(result, path), read(wanted as unknown as Json, path));
    return others.filter((entry) => differs && owns(entry, path)).map((entry) => ({ path, entry }));
  });
  if (conflicts.length > 0 && !force) throw conflictOf(conflicts);
  const own = entries.find((entry) => entry.manager === manager && entry.operation === "Apply");
  for (const path of own === undefined ? [] : ownedBy(own)) {
    const kept =
      paths.some((wantedPath) => isDeepStrictEqual(wantedPath, path)) || others.some((entry) => owns(entry, path));
    if (!kept) remove(result, path);
  }
  for (const path of paths) write(result, path, read(wanted as unknown as Json, path)!);
  const object = result as unknown as ApiObject;
  Object.assign(
    object.metadata,
    { name: wanted.metadata.name },
    wanted.metadata.namespace ? { namespace: wanted.metadata.namespace } : {},
  );
  const remaining = others.map((entry) => ({
    ...entry,
    fieldsV1: tree(ownedBy(entry).filter((path) => !conflicts.some((found) => isDeepStrictEqual(found.path, path)))),
  }));
  const entry = {
    manager,
    operation: "Apply",
    apiVersion: wanted.apiVersion,
    time: timestamp(),
    fieldsType: "FieldsV1",
    fieldsV1: tree(paths),
  };
  const same = own !== undefined && isDeepStrictEqual(own.fieldsV1, entry.fieldsV1);
  object.metadata.managedFields = [...remaining, same ? own : entry] as unknown as Json[];
  return object;
}

/** Records that a manager has written all fields that another kind of write has changed. */
export function recordUpdate(before: ApiObject | undefined, object: ApiObject, manager: string): void {
  const entries = (before?.metadata.managedFields ?? []) as unknown as Entry[];
  const changed = leaves(object as unknown as Json)
    .filter((path) => !identity.includes(fieldsOf(path)) && !["status", "uid"].includes(fieldsOf(path).split(".")[0]!))
    .filter((path) => !isDeepStrictEqual(read(before as unknown as Json, path), read(object as unknown as Json, path)));
  if (changed.length === 0) {
    object.metadata.managedFields = entries as unknown as Json[];
    return;
  }
  const own = entries.find((entry) => entry.manager === manager && entry.operation === "Update");
  const paths = [...(own === undefined ? [] : ownedBy(own)), ...changed];
  const others = entries
    .filter((entry) => entry !== own)
    .map((entry) => ({
      ...entry,
      fieldsV1: tree(ownedBy(entry).filter((path) => !changed.some((other) => isDeepStrictEqual(other, path)))),
    }));
  const entry = {
    manager,
    operation: "Update",
    apiVersion: object.apiVersion,
    time: timestamp(),
    fieldsType: "FieldsV1",
    fieldsV1: tree(paths),
  };
  object.metadata.managedFields = [...others, entry] as unknown as Json[];
}

function conflictOf(conflicts: readonly { path: Path; entry: Entry }[]): StatusError {
  const lines = conflicts.map(({ path, entry }) => `conflict with "${entry.manager}": .${fieldsOf(path)}`);
  const what = lines.length === 1 ? `1 conflict: ${lines[0]}` : `${lines.length} conflicts: ${lines.join(", ")}`;
  return new StatusError(409, "Conflict", `Apply failed with ${what}`);
}

/** Returns the paths of everything that is no object and no list with identities. */
function leaves(value: Json, path: Path = []): Path[] {
  const field = path.at(-1)?.slice(2) ?? "";
  if (isObject(value) && Object.keys(value).length > 0) {
    return Object.entries(value).flatMap(([name, part]) => leaves(part, [...path, `f:${name}`]));
  }
  const key = Array.isArray(value) ? mergeKey(field, value) : undefined;
  if (key === undefined) return [path];
  return (value as { [key: string]: Json }[]).flatMap((item) =>
    leaves(item, [...path, `k:${JSON.stringify({ [key]: item[key] })}`]),
  );
}

function step(value: Json | undefined, name: string): Json | undefined {
  if (name.startsWith("f:")) return isObject(value) ? value[name.slice(2)] : undefined;
  return Array.isArray(value) ? value[indexOf(value, name)] : undefined;
}

function indexOf(list: readonly Json[], name: string): number {
  const [[key, wanted]] = Object.entries(JSON.parse(name.slice(2)) as { [key: string]: Json }) as [[string, Json]];
  return list.findIndex((item) => isObject(item) && item[key] === wanted);
}

function read(value: Json | undefined, path: Path): Json | undefined {
  return path.reduce(step, value);
}

function write(root: Json, path: Path, leaf: Json): void {
  let value = root;
  for (const [i, name] of path.entries()) {
    const last = i === path.length - 1;
    let next = step(value, name);
    if (last) next = leaf;
    // A new item of a list has its identity from the start, so that its other fields find it.
    else if (next === undefined && name.startsWith("k:")) next = JSON.parse(name.slice(2)) as Json;
    else next ??= path[i + 1]!.startsWith("k:") ? [] : {};
    if (isObject(value)) value[name.slice(2)] = next;
    else if (Array.isArray(value)) {
      const at = indexOf(value, name);
      if (at < 0) value.push(next);
      else value[at] = next;
    }
    value = next;
  }
}

function remove(root: Json, path: Path): void {
  const parent = read(root, path.slice(0, -1));
  const name = path.at(-1)!;
  if (isObject(parent)) delete parent[name.slice(2)];
  // An item without any other field than its identity is gone, too.
  const item = path.findLastIndex((part) => part.startsWith("k:"));
  if (item < 0) return;
  const list = read(root, path.slice(0, item));
  const rest = read(root, path.slice(0, item + 1));
  if (Array.isArray(list) && isObject(rest) && Object.keys(rest).length === 0) list.splice(list.indexOf(rest), 1);
}

function tree(paths: readonly Path[]): Json {
  const root: { [key: string]: Json } = {};
  for (const path of paths) {
    let at = root;
    for (const name of path) {
      at[name] ??= {};
      at = at[name] as { [key: string]: Json };
    }
  }
  return root;
}

function ownedBy({ fieldsV1 }: Entry): Path[] {
  const walk = (value: Json, path: Path): Path[] => {
    const fields = Object.entries(value as { [key: string]: Json });
    return fields.length === 0 ? [path] : fields.flatMap(([name, part]) => walk(part, [...path, name]));
  };
  return Object.keys(fieldsV1 as object).length === 0 ? [] : walk(fieldsV1, []);
}

function owns(entry: Entry, path: Path): boolean {
  return contains(entry.fieldsV1, path);
}

function contains(fields: Json, path: Path): boolean {
  return path.reduce<Json | undefined>((at, name) => (isObject(at) ? at[name] : undefined), fields) !== undefined;
}

/** Returns a path as errors write it, such as `spec.template.spec.containers[name="host"].image`. */
function fieldsOf(path: Path): string {
  return path
    .map((name) => {
      if (name.startsWith("f:")) return `.${name.slice(2)}`;
      const [[key, value]] = Object.entries(JSON.parse(name.slice(2)) as object) as [[string, Json]];
      return `[${key}=${JSON.stringify(value)}]`;
    })
    .join("")
    .replace(/^\./, "");
}
