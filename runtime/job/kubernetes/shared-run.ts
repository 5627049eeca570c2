/**
 * The Secrets with what programs on other machines need to use a run, or to look at it: its record, and their credentials. Whoever may read the
 * first is trusted as a driver of the job, and whoever may read the second only looks.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeValue } from "../../../shared/text/describe-value.js";
import { credentialsFolder } from "../credentials/credentials-folder.js";
import type { SharedCredentials, SharedWith } from "../credentials/index.js";
import type { Json } from "../json.js";
import type { RunCredentials } from "../provider.js";
import { type JobRecord, parseRecord } from "../record/job-record.js";
import { specHash } from "../record/spec-hash.js";
import { awayLimit, retrying } from "../retry.js";
import type { KubernetesApi } from "./api/kubernetes-api.js";
import { tokenName } from "./batch/private-files.js";
import { hasViewers, type KubernetesSpec } from "./kubernetes-spec.js";
import { sharedSecretName, viewerSecretName } from "./manifest/layout.js";
import { base64 } from "./submission.js";

/** The names of the parts of the Secret, besides those of the credentials. */
const recordKey = "record.json";
const tokenKey = "token";

/**
 * Returns the data of the Secret of a run, in base64 by their names.
 * @param credentials those of the run; undefined if its hosts ask for a token
 * @param who whether whoever may read the Secret is a driver, or only looks
 */
export async function sharedData(
  record: string,
  credentials: RunCredentials | undefined,
  token: string,
  who: SharedWith,
): Promise<Record<string, string>> {
  const own = credentials === undefined ? { [tokenKey]: token } : await issueFor(credentials.folder, who);
  const parts = { [recordKey]: record, ...own };
  return Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, base64(text)]));
}

async function issueFor(folder: string, who: SharedWith): Promise<SharedCredentials> {
  return (await import("../credentials/index.js")).issueShared(folder, who);
}

/**
 * Reads the Secret of a run, and writes the credentials to files of this machine.
 * @param folderOf returns the folder of the files of a run
 * @param who whether this program is a driver, or only looks
 * @returns the record, without the allocation; undefined if there is no such Secret
 * @throws Error if the Secret cannot be used, or this job has other options than the run; KubernetesError if it cannot be read
 */
export async function takeSharedRun(
  api: Pick<KubernetesApi, "get">,
  spec: KubernetesSpec,
  folderOf: (applyId: string) => string,
  who: SharedWith,
): Promise<JobRecord | undefined> {
  // A token gives all rights, so there is no Secret for viewers beside it.
  const isForViewers = who === "viewers" && hasViewers(spec);
  const secretName = (isForViewers ? viewerSecretName : sharedSecretName)(spec.name);
  const secret = await retrying(() => api.get("Secret", secretName), { limit: awayLimit });
  if (secret === undefined) return undefined;
  const data = (secret as { readonly data?: Readonly<Record<string, unknown>> }).data ?? {};
  const read = (name: string): string => {
    const value = data[name];
    if (typeof value === "string") return Buffer.from(value, "base64").toString("utf8");
    throw unusable(spec, secretName, `expected ${name} as text, got ${describeValue(value)}`);
  };
  const record = parseRecord(read(recordKey));
  if (typeof record === "string") throw unusable(spec, secretName, record);
  if (!/^[\w-]{1,64}$/.test(record.applyId)) throw unusable(spec, secretName, "its run has no id");
  if (commonHash(record.spec as unknown as KubernetesSpec) !== commonHash(spec)) {
    throw new Error(`what runs as ${record.applyId} was submitted with other options`);
  }
  const folder = folderOf(record.applyId);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (spec.tls === null) writeFileSync(join(folder, tokenName), read(tokenKey), { mode: 0o600 });
  else await saveCredentials(folder, who, read);
  const own = spec as unknown as Json;
  return { ...record, folder, spec: own, specHash: specHash(own) };
}

async function saveCredentials(folder: string, who: SharedWith, read: (name: string) => string): Promise<void> {
  const { saveShared, sharedNames } = await import("../credentials/index.js");
  const parts = Object.fromEntries(sharedNames(who).map((name) => [name, read(name)]));
  saveShared(credentialsFolder(folder), who, parts);
}

function unusable({ namespace }: KubernetesSpec, secretName: string, why: string): Error {
  return new Error(
    `the Secret "${secretName}" in namespace "${namespace}" cannot be used: ${why}; kill the job where it was submitted, and submit it again`,
  );
}

/** Each machine has its own way to the cluster. */
function commonHash(spec: KubernetesSpec): string {
  return specHash({ ...spec, kubeconfig: null, context: null } as unknown as Json);
}
