/**
 * The certificate of the controller. It makes an authority of its own at its first start, and keeps it in a Secret of its namespace; the certificate
 * of the authority is in a ConfigMap of each namespace that the rules name, so that pods there know the controller. No manifest contains a key.
 */
import { join } from "node:path";
import { Authority } from "../../credentials/authority.js";
import { createKeyPair } from "../../credentials/credential-files.js";
import { authorityCertificate, authorityKey } from "../../credentials/credentials-folder.js";
import { makeSecretFolder, readSecretFile, writeSecretFile } from "../../credentials/secret-files.js";
import { awayLimit, retrying } from "../../retry.js";
import type { KubernetesApi } from "../api/kubernetes-api.js";
import { controllerAuthority } from "../manifest/layout.js";
import { controllerName } from "../provision/protocol.js";

/** The lifetime of the certificate in ms: 30 days. Another one is made at each start, and once a day. */
const lifetime = 30 * 86_400_000;

/**
 * Opens the authority of the controller, and makes it at the first start.
 * @param folder a private folder for its files
 * @throws KubernetesError if the Secret cannot be read or written; Error if it cannot be used
 */
export async function openAuthority(api: KubernetesApi, folder: string): Promise<Authority> {
  const known = await retrying(() => api.get("Secret", controllerName), { limit: awayLimit });
  const { data = {} } = (known ?? {}) as { readonly data?: Readonly<Record<string, string>> };
  // The manifest has the Secret without data.
  if (Object.keys(data).length === 0) {
    const made = Authority.create(controllerName);
    made.save(folder);
    const encode = (name: string) => Buffer.from(readSecretFile(join(folder, name))).toString("base64");
    const files = Object.fromEntries([authorityKey, authorityCertificate].map((name) => [name, encode(name)]));
    const metadata = { name: controllerName, namespace: api.namespace };
    await retrying(() => api.apply({ apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data: files }), {
      limit: awayLimit,
    });
    return made;
  }
  makeSecretFolder(folder);
  for (const name of [authorityKey, authorityCertificate]) {
    writeSecretFile(join(folder, name), Buffer.from(data[name] ?? "", "base64").toString("utf8"));
  }
  try {
    return Authority.load(folder);
  } catch (cause) {
    const advice = "delete its data to have another authority made";
    throw new Error(`cannot use the Secret "${controllerName}" in namespace "${api.namespace}"; ${advice}`, { cause });
  }
}

/** Returns a new key and certificate of the controller for TLS, in PEM. */
export function serverCertificate(authority: Authority): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = createKeyPair();
  const identity = { job: authority.job, role: "controller" } as const;
  return { key: privateKey, cert: authority.issue(publicKey, identity, { validFor: lifetime }) };
}

/** Writes the certificate of the authority into a namespace. @throws KubernetesError if that is refused */
export async function publishAuthority(api: KubernetesApi, { certificate }: Authority): Promise<void> {
  await api.apply({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: controllerName, namespace: api.namespace },
    data: { [controllerAuthority]: certificate },
  });
}
