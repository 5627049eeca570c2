/** Signs the certificates of the pods of a run, and counts pods as Ready that answer with theirs. */
import { join } from "node:path";
import { filesOfCredentials } from "../credentials/credential-files.js";
import { credentialsFolder } from "../credentials/credentials-folder.js";
import type { KubernetesApi } from "./api/kubernetes-api.js";
import type { KubernetesAllocation } from "./described-job.js";
import { isProvisioned, type KubernetesSpec } from "./kubernetes-spec.js";
import { daemonListens } from "./pods/daemon-answer.js";
import type { PodSigner, RunningPod } from "./pods/pod-signer.js";
import type { PodFacts } from "./pods/pod-state.js";
import { podSigner } from "./pods/sign-pods.js";
import type { PodReach } from "./reach/pod-reach.js";

/** The run whose pods are signed for. */
export interface SignedRun {
  readonly spec: KubernetesSpec;
  readonly allocation: KubernetesAllocation;
  /** The lifetime of certificates, in ms. */
  readonly lifetime: number;
  readonly reach: PodReach;
  /** Keeps the credentials elsewhere, too. */
  readonly save: (() => Promise<void>) | undefined;
  /** Returns the address of the daemon of a pod, with its identity. */
  readonly addressOf: (pod: PodFacts) => string;
  /** The daemon of a pod has answered. */
  readonly answered: (pod: PodFacts) => void;
}

/** @param signal ends the questions whether pods with new certificates listen; without it, none are asked */
export async function signerOfRun(api: KubernetesApi, run: SignedRun, signal?: AbortSignal): Promise<PodSigner> {
  const { spec, allocation, lifetime, reach, save } = run;
  const { applyId, folder } = allocation;
  const credentials = await import("../credentials/index.js");
  const onSigned = signal && ((pod: RunningPod) => void seeAnswer(run, pod, signal));
  return podSigner(
    api,
    { job: spec.name, applyId, folder, lifetime, reach, ...(onSigned && { onSigned }), save },
    credentials,
  );
}

/** Counts a pod as Ready as soon as its daemon answers. A pod that the job has not made can wait for more than its daemon. */
async function seeAnswer(run: SignedRun, pod: RunningPod, signal: AbortSignal): Promise<void> {
  const mesh = run.spec.meshes[pod.place.mesh];
  if (mesh === undefined || !isProvisioned(mesh) || pod.isReady) return;
  // Whoever signs has made the run, and with it the certificate of its first driver.
  const files = filesOfCredentials(join(credentialsFolder(run.allocation.folder), "driver"));
  const proofs = { address: run.addressOf(pod), files };
  if (await daemonListens(run.reach, pod, proofs, signal)) run.answered(pod);
}
