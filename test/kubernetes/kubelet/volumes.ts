/** The volumes of a pod, as folders: empty ones, folders of the node, and files from Secrets, ConfigMaps, the downward API and tokens. */
import { chmodSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { CoreV1Api, V1Container, V1KeyToPath, V1Pod, V1Volume, V1VolumeProjection } from "@kubernetes/client-node";
import { expand, fieldOf } from "./environment.js";
import type { Mount } from "./root-file-system.js";

export interface VolumeContext {
  readonly core: CoreV1Api;
  readonly pod: V1Pod;
  readonly podIp: string;
  /** The certificate of the authority of the API server. */
  readonly authority: string;
}

/**
 * Fills the folders of all volumes.
 * @param folder the folder of the pod
 * @throws Error if a volume needs an object that does not exist, or is of an unknown type
 */
export async function makeVolumes(context: VolumeContext, folder: string): Promise<void> {
  for (const volume of context.pod.spec?.volumes ?? [])
    await makeVolume(context, volume, path.join(folder, volume.name));
}

/** Returns the mounts of a container. */
export function mountsOf(
  { volumeMounts = [] }: V1Container,
  folder: string,
  env: Readonly<Record<string, string>>,
): Mount[] {
  return volumeMounts.map(({ name, mountPath, subPath, subPathExpr, readOnly }) => {
    const below = subPath ?? expand(subPathExpr ?? "", env);
    const source = path.join(folder, name, below);
    if (below !== "" && !existsSync(source)) mkdirSync(source, { recursive: true });
    return { source: realpathSync(source), target: mountPath, readOnly: readOnly ?? false };
  });
}

async function makeVolume(context: VolumeContext, volume: V1Volume, folder: string): Promise<void> {
  const { secret, configMap, downwardAPI, projected, emptyDir, hostPath } = volume;
  if (hostPath?.type === "DirectoryOrCreate") {
    mkdirSync(hostPath.path, { recursive: true });
    if (!existsSync(folder)) symlinkSync(hostPath.path, folder);
    return;
  }
  mkdirSync(folder, { recursive: true });
  if (emptyDir !== undefined) return chmodSync(folder, 0o777);
  if (secret !== undefined) {
    const source = { name: secret.secretName!, ...pick(secret) };
    return write(folder, await secretFiles(context, source), secret.defaultMode);
  }
  if (configMap !== undefined)
    return write(
      folder,
      await configFiles(context, { name: configMap.name!, ...pick(configMap) }),
      configMap.defaultMode,
    );
  if (downwardAPI !== undefined)
    return write(folder, downwardFiles(context, downwardAPI.items ?? []), downwardAPI.defaultMode);
  if (projected !== undefined) {
    for (const source of projected.sources ?? [])
      write(folder, await projection(context, source), projected.defaultMode);
    return;
  }
  const kind = hostPath === undefined ? Object.keys(volume).find((key) => key !== "name") : "hostPath";
  throw new Error(
    `cannot make the volume ${volume.name}: the stand-in of the kubelet knows emptyDir, secret, configMap, downwardAPI, projected, and hostPath of the type DirectoryOrCreate, got ${kind}`,
  );
}

interface Source {
  readonly name: string;
  readonly items?: readonly V1KeyToPath[];
  readonly optional?: boolean;
}

function pick({ items, optional }: { items?: V1KeyToPath[]; optional?: boolean }): Omit<Source, "name"> {
  return { ...(items === undefined ? {} : { items }), ...(optional === undefined ? {} : { optional }) };
}

type Files = readonly { readonly path: string; readonly content: Buffer | string; readonly mode?: number }[];

async function projection(context: VolumeContext, source: V1VolumeProjection): Promise<Files> {
  const { secret, configMap, downwardAPI, serviceAccountToken } = source;
  if (secret !== undefined) return secretFiles(context, { name: secret.name!, ...pick(secret) });
  if (configMap !== undefined) return configFiles(context, { name: configMap.name!, ...pick(configMap) });
  if (downwardAPI !== undefined) return downwardFiles(context, downwardAPI.items ?? []);
  if (serviceAccountToken === undefined) return [];
  const { namespace, name: podName, uid } = context.pod.metadata!;
  const name = context.pod.spec!.serviceAccountName ?? "default";
  const spec = {
    audiences: serviceAccountToken.audience ? [serviceAccountToken.audience] : [],
    expirationSeconds: serviceAccountToken.expirationSeconds ?? 3600,
    // The token ends with the pod, and tells which one it is.
    boundObjectRef: { apiVersion: "v1", kind: "Pod", name: podName!, uid: uid! },
  };
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
  const { status } = await context.core.createNamespacedServiceAccountToken({ name, namespace: namespace!, body });
  return [{ path: serviceAccountToken.path, content: status!.token }];
}

async function secretFiles({ core, pod }: VolumeContext, source: Source): Promise<Files> {
  const read = core.readNamespacedSecret({ name: source.name, namespace: pod.metadata!.namespace! });
  const data = await orEmpty(
    source,
    read.then((secret) => secret.data),
  );
  return choose(
    source,
    Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64")])),
  );
}

async function configFiles({ core, pod, authority }: VolumeContext, source: Source): Promise<Files> {
  // The controller manager publishes it to each namespace a moment after the namespace is there.
  if (source.name === "kube-root-ca.crt") return choose(source, { "ca.crt": authority });
  const read = core.readNamespacedConfigMap({ name: source.name, namespace: pod.metadata!.namespace! });
  return choose(
    source,
    await orEmpty<Buffer | string>(
      source,
      read.then(({ data, binaryData = {} }) => {
        const binary = Object.entries(binaryData).map(([key, value]) => [key, Buffer.from(value, "base64")]);
        return { ...data, ...Object.fromEntries(binary) };
      }),
    ),
  );
}

async function orEmpty<T = string>(
  source: Source,
  data: Promise<Record<string, T> | undefined>,
): Promise<Record<string, T>> {
  try {
    return (await data) ?? {};
  } catch (error) {
    if (source.optional === true && (error as { code?: number }).code === 404) return {};
    throw error;
  }
}

function choose({ items }: Source, data: Record<string, Buffer | string>): Files {
  if (items === undefined) return Object.entries(data).map(([name, content]) => ({ path: name, content }));
  return items.map(({ key, path: to, mode }) => ({
    path: to,
    content: data[key]!,
    ...(mode === undefined ? {} : { mode }),
  }));
}

function downwardFiles(
  { pod, podIp }: VolumeContext,
  items: readonly { path: string; fieldRef?: { fieldPath: string } }[],
): Files {
  return items.map(({ path: to, fieldRef }) => ({
    path: to,
    content: fieldOf(pod, podIp, fieldRef?.fieldPath ?? "") ?? "",
  }));
}

function write(folder: string, files: Files, defaultMode = 0o644): void {
  for (const { path: name, content, mode } of files) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
    chmodSync(file, mode ?? defaultMode);
  }
}
