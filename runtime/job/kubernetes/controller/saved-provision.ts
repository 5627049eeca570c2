/**
 * A Secret for each request contains all that the controller must know of the hosts. It is written before anything is made, so that a
 * controller that is killed finds everything again. The Secret contains the credentials of the run, and is in the namespace of the controller.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { ApiObject } from "../api/kubernetes-api.js";
import type { KubernetesObject } from "../manifest/objects.js";
import type { ProvisionRequest } from "../provision/protocol.js";
import type { Asker } from "./rules/decide.js";

/** The label of these Secrets. Its value is "true". */
export const provisionLabel = "viceroy/provision";

/** Hosts that the controller has provided, or is about to. */
export interface SavedProvision {
  readonly id: string;
  /** The id of the run. */
  readonly applyId: string;
  /** The name of the job that has the hosts, and its namespace. */
  readonly name: string;
  readonly namespace: string;
  readonly asker: Asker;
  readonly rule: string;
  readonly request: ProvisionRequest;
  readonly submittedAt: number;
}

const provisionKey = "provision.json";
const credentialsKey = "credentials.json";

/** Returns the name of the Secret. */
export function savedName(id: string): string {
  return `viceroy-provision-${id}`;
}

/**
 * Returns the Secret.
 * @param credentials the folder of the credentials of the run
 */
export function savedSecret(namespace: string, saved: SavedProvision, credentials: string): KubernetesObject {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: savedName(saved.id), namespace, labels: { [provisionLabel]: "true" } },
    type: "Opaque",
    data: { [provisionKey]: encode(saved), [credentialsKey]: encode(readFiles(credentials)) },
  };
}

/** Returns all files below a folder as text, by their paths. */
function readFiles(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  return Object.fromEntries(files.map((file) => [relative(folder, file), readFileSync(file, "utf8")]));
}

/**
 * Reads a Secret, and writes the credentials to the folder that `folderOf` returns.
 * @throws Error if the Secret is not one that a controller has written
 */
export function restoreSaved(secret: ApiObject, folderOf: (saved: SavedProvision) => string): SavedProvision {
  const data = (secret as { readonly data?: Readonly<Record<string, string>> }).data ?? {};
  const read = (key: string) => {
    try {
      return JSON.parse(Buffer.from(data[key] ?? "", "base64").toString("utf8")) as unknown;
    } catch (cause) {
      throw new Error(`cannot use the Secret "${secret.metadata.name}": ${key} is not JSON`, { cause });
    }
  };
  const saved = read(provisionKey) as SavedProvision;
  const folder = folderOf(saved);
  for (const [name, text] of Object.entries(read(credentialsKey) as Record<string, string>)) {
    const file = join(folder, name);
    if (relative(folder, file).startsWith("..")) {
      throw new Error(`cannot use the Secret "${secret.metadata.name}": ${name} is outside of its folder`);
    }
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { mode: 0o600 });
  }
  return saved;
}
