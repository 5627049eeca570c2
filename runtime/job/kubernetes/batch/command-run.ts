/** Adds to a run what its command needs: a mark that there is one, a pod, and the secret of that pod. */
import { join } from "node:path";
import { hostUri, secretsFile } from "../../credentials/credentials-folder.js";
import type { Submission } from "../../provider.js";
import { awayLimit, retrying } from "../../retry.js";
import type { ApiObject, KubernetesApi } from "../api/kubernetes-api.js";
import { commandLabel, commandMesh, meshLabel } from "../manifest/layout.js";
import { runSelector } from "../pods/pod-sources.js";

/** Returns whether a command runs in a pod of its own. @param owner the owner of the objects of a run */
export function hasCommand({ metadata }: ApiObject): boolean {
  return metadata.labels?.[commandLabel] === "true";
}

/** Returns whether a Job is that of a command. */
export function isOfCommand({ metadata }: ApiObject): boolean {
  return metadata.labels?.[meshLabel] === commandMesh;
}

/** @throws Error if this program may not resize a run, because it does not have the secrets with which its hosts enrol */
export function checkResizer(run: { readonly hasCommand?: boolean; readonly isShared?: boolean }): void {
  if (run.isShared) {
    throw new Error(
      "it was submitted on another machine, which signs for its hosts; call job.resize in a program there",
    );
  }
  if (!run.hasCommand) return;
  throw new Error(
    "its hosts belong to the command that the job runs, and its command alone changes their numbers; call job.resize in that program",
  );
}

/** Returns the pod of the command of a run; none after it was deleted. */
export async function podsOfCommand(
  api: Pick<KubernetesApi, "list">,
  job: string,
  applyId: string,
): Promise<readonly ApiObject[]> {
  const labelSelector = `${runSelector(job, applyId)},${meshLabel}=${commandMesh}`;
  return (await retrying(() => api.list("Pod", { labelSelector }), { limit: awayLimit })).items;
}

/**
 * Makes the secret of the pod of a command, for which a run has none yet.
 * @param token the token of the hosts, if they have no certificates
 * @returns the secret by the URI of the identity of the pod
 */
export async function commandSecret(
  { applyId, credentials }: Pick<Submission, "applyId" | "credentials">,
  token: string,
): Promise<Record<string, string>> {
  const place = { mesh: commandMesh, rank: 0 };
  const identity = hostUri(applyId, place);
  if (credentials === undefined) return { [identity]: token };
  const { addSecrets, readSecrets } = await import("../../credentials/index.js");
  addSecrets(credentials.folder, applyId, [place]);
  return { [identity]: readSecrets(join(credentials.folder, secretsFile))[identity]! };
}
