/** The environment of a container: its own variables, references to other objects, and the downward API. */
import type { CoreV1Api, V1Container, V1EnvVar, V1Pod } from "@kubernetes/client-node";

/**
 * Returns the variables of a container.
 * @param base variables that every container has
 * @throws Error if a variable refers to something that does not exist
 */
export async function environmentOf(
  core: CoreV1Api,
  pod: V1Pod,
  podIp: string,
  container: V1Container,
  base: Record<string, string>,
): Promise<Record<string, string>> {
  const env = { ...base };
  const namespace = pod.metadata!.namespace!;
  for (const { prefix = "", secretRef, configMapRef } of container.envFrom ?? []) {
    const data =
      secretRef !== undefined
        ? decode((await core.readNamespacedSecret({ name: secretRef.name!, namespace })).data)
        : (await core.readNamespacedConfigMap({ name: configMapRef!.name!, namespace })).data;
    for (const [name, value] of Object.entries(data ?? {})) env[`${prefix}${name}`] = value;
  }
  for (const variable of container.env ?? []) {
    const value =
      variable.valueFrom === undefined
        ? expand(variable.value ?? "", env)
        : await valueFrom(core, pod, podIp, container, variable);
    if (value !== undefined) env[variable.name] = value;
  }
  return env;
}

/** Replaces `$(NAME)` by the value of a variable; `$$(NAME)` stands for itself. */
export function expand(text: string, env: Readonly<Record<string, string>>): string {
  return text.replace(/\$\$\(|\$\(([A-Za-z_][\w.-]*)\)/g, (found, name: string | undefined) => {
    return name === undefined ? "$(" : (env[name] ?? found);
  });
}

/** Returns a field of a pod as the downward API gives it, or undefined if the pod does not have it. */
export function fieldOf(pod: V1Pod, podIp: string, field: string): string | undefined {
  const { metadata, spec } = pod;
  const entry = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(field);
  if (entry !== null) return metadata?.[entry[1] as "labels" | "annotations"]?.[entry[2]!] ?? "";
  const fields: Record<string, string | undefined> = {
    "metadata.name": metadata?.name,
    "metadata.namespace": metadata?.namespace,
    "metadata.uid": metadata?.uid,
    "metadata.labels": lines(metadata?.labels),
    "metadata.annotations": lines(metadata?.annotations),
    "spec.nodeName": spec?.nodeName,
    "spec.serviceAccountName": spec?.serviceAccountName,
    "status.podIP": podIp,
    "status.podIPs": podIp,
    "status.hostIP": "127.0.0.1",
  };
  return fields[field];
}

function lines(entries: Record<string, string> | undefined): string {
  return Object.entries(entries ?? {})
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join("\n");
}

async function valueFrom(
  core: CoreV1Api,
  pod: V1Pod,
  podIp: string,
  container: V1Container,
  { name, valueFrom: from }: V1EnvVar,
): Promise<string | undefined> {
  const namespace = pod.metadata!.namespace!;
  if (from?.fieldRef !== undefined) return fieldOf(pod, podIp, from.fieldRef.fieldPath);
  if (from?.resourceFieldRef !== undefined) {
    const [kind, resource] = from.resourceFieldRef.resource.split(".") as ["limits" | "requests", string];
    return container.resources?.[kind]?.[resource] ?? "0";
  }
  const { secretKeyRef, configMapKeyRef } = from ?? {};
  const wanted = secretKeyRef ?? configMapKeyRef;
  if (wanted === undefined) return undefined;
  const data =
    secretKeyRef !== undefined
      ? decode((await core.readNamespacedSecret({ name: wanted.name!, namespace })).data)
      : (await core.readNamespacedConfigMap({ name: wanted.name!, namespace })).data;
  const value = data?.[wanted.key];
  if (value === undefined && wanted.optional !== true)
    throw new Error(`couldn't find key ${wanted.key} in ${namespace}/${wanted.name}, which ${name} refers to`);
  return value;
}

function decode(data: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
}
