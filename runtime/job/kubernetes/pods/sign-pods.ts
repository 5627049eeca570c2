/** Signs the certificates of the pods of a run, and replaces the secrets that they use. */
import { credentialsFolder, hostUri } from "../../credentials/credentials-folder.js";
import type { isStranger, PodIssuer } from "../../credentials/index.js";
import { awayLimit, retrying } from "../../retry.js";
import type { KubernetesApi } from "../api/kubernetes-api.js";
import { enrolmentPort, secretKey, secretName } from "../manifest/layout.js";
import type { PodReach } from "../reach/pod-reach.js";
import { PodSigner, type RunningPod } from "./pod-signer.js";
import type { PodFacts } from "./pod-state.js";

/** The run whose pods are signed for. */
export interface SignedRun {
  /** The name of the job. */
  readonly job: string;
  readonly applyId: string;
  /** The folder of the run, with its credentials. */
  readonly folder: string;
  /** The lifetime of certificates, in ms. */
  readonly lifetime: number;
  /** Connects to the pods. Absent: their addresses are dialled. */
  readonly reach?: PodReach;
  /** Called when a pod has got a certificate. It listens with it, unless it refuses it. */
  readonly onSigned?: (pod: RunningPod) => void;
  /** Keeps the credentials elsewhere, too. Called after each change of them, before the pods learn of it. */
  readonly save?: (() => Promise<void>) | undefined;
}

/** @param credentials the module of credentials, which is loaded when it is needed */
export function podSigner(
  api: Pick<KubernetesApi, "patch">,
  { job, applyId, folder, lifetime, reach, onSigned, save }: SignedRun,
  credentials: { readonly PodIssuer: typeof PodIssuer; readonly isStranger: typeof isStranger },
): PodSigner {
  const issuer = new credentials.PodIssuer(credentialsFolder(folder), lifetime);
  const identityOf = (pod: PodFacts) => hostUri(applyId, pod.place);
  const writeSecret = async (pod: PodFacts) => {
    const { mesh, rank } = pod.place;
    await save?.();
    const next = Buffer.from(issuer.nextSecret(identityOf(pod))).toString("base64");
    await retrying(() => api.patch("Secret", secretName(job), { data: { [secretKey(mesh, rank)]: next } }), {
      limit: awayLimit,
    });
  };
  return new PodSigner({
    issuer,
    lifetime,
    hostOf: (pod) => ({
      id: pod.uid,
      identity: identityOf(pod),
      host: pod.ip,
      port: enrolmentPort,
      ...(reach && { connect: (signal) => reach.connect(pod, enrolmentPort, signal) }),
    }),
    ...(onSigned && { onSigned }),
    onUsed: writeSecret,
    isStranger: credentials.isStranger,
    // Somebody else has changed the Secret. The pod ends, and the next one finds the right secret again.
    onStranger: writeSecret,
  });
}
