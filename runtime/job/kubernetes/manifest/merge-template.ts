/** Merges a pod template of the user into that of the job, as `kubectl apply` does: lists of objects by their keys. */
import type { PodTemplate } from "./objects.js";

/** The fields by which Kubernetes identifies the entries of its lists. Other lists are replaced as a whole. */
const keysOfLists: Readonly<Record<string, readonly string[]>> = {
  containers: ["name"],
  initContainers: ["name"],
  volumes: ["name"],
  env: ["name"],
  envFrom: ["prefix", "configMapRef", "secretRef"],
  volumeMounts: ["mountPath"],
  volumeDevices: ["devicePath"],
  ports: ["containerPort", "protocol"],
  tolerations: ["key", "operator", "value", "effect"],
  imagePullSecrets: ["name"],
  hostAliases: ["ip"],
  topologySpreadConstraints: ["topologyKey", "whenUnsatisfiable"],
  resourceClaims: ["name"],
  schedulingGates: ["name"],
};

/** Returns a template with all fields of both; where both have a field, that of the user. Null removes a field. */
export function mergeTemplate(own: PodTemplate, template: PodTemplate): PodTemplate {
  return mergeObjects(own as Fields, template as Fields) as PodTemplate;
}

type Fields = Readonly<Record<string, unknown>>;

function mergeObjects(own: Fields, template: Fields): Fields {
  const merged: Record<string, unknown> = { ...own };
  for (const [field, value] of Object.entries(template)) {
    if (value === null) delete merged[field];
    else if (value !== undefined) merged[field] = mergeValues(field, own[field], value);
  }
  return merged;
}

function mergeValues(field: string, own: unknown, value: unknown): unknown {
  if (Array.isArray(value)) {
    const keys = Object.hasOwn(keysOfLists, field) ? keysOfLists[field] : undefined;
    return keys === undefined ? value : mergeLists(keys, Array.isArray(own) ? own : [], value);
  }
  if (!isObject(value)) return value;
  return mergeObjects(isObject(own) ? own : {}, value);
}

function mergeLists(keys: readonly string[], own: readonly unknown[], list: readonly unknown[]): unknown[] {
  const keyOf = (entry: unknown) => JSON.stringify(keys.map((key) => (isObject(entry) ? entry[key] : undefined)));
  const merged = new Map(own.map((entry) => [keyOf(entry), entry]));
  for (const entry of list) {
    const before = merged.get(keyOf(entry));
    merged.set(keyOf(entry), mergeObjects(isObject(before) ? before : {}, isObject(entry) ? entry : {}));
  }
  return [...merged.values()];
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
