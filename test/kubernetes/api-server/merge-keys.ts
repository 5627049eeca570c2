/** Lists whose items have an identity, and the field that holds it. Patches merge them by item; other lists are values. */
import type { Json } from "./resources.js";

const keys: Readonly<Record<string, string>> = {
  conditions: "type",
  containers: "name",
  env: "name",
  imagePullSecrets: "name",
  initContainers: "name",
  ownerReferences: "uid",
  ports: "containerPort|port",
  volumeMounts: "mountPath",
  volumes: "name",
};

/** Returns the field that identifies the items of a list, or undefined for a list that is a value. */
export function mergeKey(field: string, list: readonly Json[]): string | undefined {
  const candidates = keys[field]?.split("|") ?? [];
  return candidates.find((key) => list.length > 0 && list.every((item) => isObject(item) && item[key] !== undefined));
}

export function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
