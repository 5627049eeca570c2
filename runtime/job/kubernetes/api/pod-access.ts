/** The access of a program in a pod: the service account of the pod, whose token Kubernetes replaces from time to time. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { errorMessage } from "../../../../shared/text/error-message.js";
import type { ClusterAccess } from "./access.js";

/** The folder of the service account of a pod. */
export const serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * Returns the access to the cluster of the pod.
 * @param env the environment of the pod
 * @throws Error if the pod has no certificate of the API server, or no address of it
 */
export function podAccess(
  env: Readonly<Record<string, string | undefined>> = process.env,
  folder: string = serviceAccountFolder,
): ClusterAccess {
  const host = env["KUBERNETES_SERVICE_HOST"] ?? "";
  const server = `https://${host.includes(":") ? `[${host}]` : host}:${env["KUBERNETES_SERVICE_PORT"] ?? "443"}`;
  if (host === "" || !URL.canParse(server)) {
    throw new Error("cannot use Kubernetes: the environment of this pod names no API server that could be reached");
  }
  const read = (name: string) => {
    try {
      return readFileSync(join(folder, name), "utf8");
    } catch (cause) {
      throw new Error(`cannot use Kubernetes: cannot read the service account of this pod: ${errorMessage(cause)}`, {
        cause,
      });
    }
  };
  const ca = read("ca.crt");
  return {
    server,
    who: "the service account of this pod",
    isInside: true,
    source: `the service account of this pod, in ${folder}`,
    requestOptions: async () => ({ ca, headers: { authorization: `Bearer ${read("token").trim()}` } }),
    // Each request reads the token.
    reload: async () => {},
  };
}
