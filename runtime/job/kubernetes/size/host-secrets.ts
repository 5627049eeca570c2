/** The one-time secrets of hosts that a running job gets later. */
import { readFileSync } from "node:fs";
import { credentialsFolder, hostUri } from "../../credentials/credentials-folder.js";
import type { TlsSpec } from "../../job-options.js";
import type { HostPlace } from "../../mesh-spec.js";
import { awayLimit, retrying } from "../../retry.js";
import type { KubernetesApi } from "../api/kubernetes-api.js";
import { secretKey, secretName } from "../manifest/layout.js";
import { base64 } from "../submission.js";

export interface HostSecretsOptions {
  readonly api: Pick<KubernetesApi, "patch">;
  /** The name of the job. */
  readonly job: string;
  readonly applyId: string;
  /** The folder of the run, where all drivers of the run have the secrets. */
  readonly folder: string;
  /** Null if the hosts ask for a token instead of a certificate. */
  readonly tls: TlsSpec | null;
  /** The file with the token. */
  readonly tokenFile: string;
}

/** Writes the secrets of hosts where their pods read them. They are made before, unless another driver has done so. */
export async function writeHostSecrets(options: HostSecretsOptions, places: readonly HostPlace[]): Promise<void> {
  const { api, job } = options;
  const secretOf = await secretsOf(options);
  const read = () =>
    Object.fromEntries(places.map((place) => [secretKey(place.mesh, place.rank), base64(secretOf(place))]));
  for (;;) {
    const data = read();
    await retrying(() => api.patch("Secret", secretName(job), { data }), { limit: awayLimit });
    // Meanwhile another driver can have enrolled a host, so that the next secret of its rank is another one. It writes that one after this change,
    // or the next look finds it.
    if (JSON.stringify(read()) === JSON.stringify(data)) return;
  }
}

async function secretsOf({
  applyId,
  folder,
  tls,
  tokenFile,
}: HostSecretsOptions): Promise<(place: HostPlace) => string> {
  if (tls === null) {
    const token = readFileSync(tokenFile, "utf8");
    return () => token;
  }
  const { PodIssuer } = await import("../../credentials/index.js");
  const issuer = new PodIssuer(credentialsFolder(folder), tls.lifetime);
  return (place) => issuer.addSecret(hostUri(applyId, place));
}
