/** Signs the certificates of the hosts while the command runs, also of those that replace lost ones. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { HttpApi } from "../../api/http-api.js";
import type { KubernetesSpec } from "../../kubernetes-spec.js";
import { PodFeed } from "../../pods/pod-feed.js";
import { podSources } from "../../pods/pod-sources.js";
import { hostsIn } from "../../pods/pod-state.js";
import { podSigner } from "../../pods/sign-pods.js";
import { installedDaemon } from "./installed-daemon.js";

/**
 * Begins to sign. A fault is printed, and the hosts tell why they do not start.
 * @param folder the folder of the run
 * @returns what ends it; undefined if the hosts have no certificates
 */
export async function signHosts(
  api: HttpApi,
  spec: KubernetesSpec,
  applyId: string,
  folder: string,
): Promise<AbortController | undefined> {
  if (spec.tls === null) return undefined;
  const module = pathToFileURL(join(installedDaemon(), "job-credentials.mjs")).href;
  const credentials = (await import(module)) as typeof import("../../../credentials/index.js");
  const { name: job, tls } = spec;
  const signer = podSigner(api, { job, applyId, folder, lifetime: tls.lifetime }, credentials);
  const ending = new AbortController();
  const feed = new PodFeed(async () => api, podSources(spec, applyId));
  feed
    .until<never>((state) => void signer.seePods(hostsIn(state)), ending.signal)
    .catch((error: Error) => {
      if (!ending.signal.aborted) process.stderr.write(`viceroy job: cannot sign for the hosts: ${error.message}\n`);
    })
    .finally(() => signer.close());
  return ending;
}
