/** Which cluster a job of Kubernetes uses, and as whom, for `viceroy job context`. */
import { type Job, providerOfJob } from "../job.js";
import { openAccess } from "../kubernetes/api/cluster-access.js";
import { HttpApi } from "../kubernetes/api/http-api.js";
import type { KubernetesSpec } from "../kubernetes/kubernetes-spec.js";

/** The properties are printed in this order. */
export interface ClusterContext {
  /** The context of a kubeconfig file, or the service account of the pod. */
  readonly access: string;
  /** The address of the API server. */
  readonly server: string;
  readonly namespace: string;
  /** The user that the API server sees. */
  readonly user: string;
  readonly groups: string;
}

/**
 * Asks the API server who this program is.
 * @throws Error if it is another kind of job, or there is no access to a cluster
 * @throws KubernetesError if the API server does not answer or does not accept the credentials
 */
export async function contextOf(job: Job): Promise<ClusterContext> {
  const { kind, spec } = providerOfJob(job);
  if (kind !== "kubernetes") {
    throw new Error(
      `cannot print the context of job "${job.name}": it is a job of the provider "${kind}"; give a KubernetesJob`,
    );
  }
  const options = spec as KubernetesSpec;
  const access = await openAccess(options);
  const { username, groups } = await new HttpApi(access, options.namespace).whoAmI();
  const { source, server } = access;
  return { access: source, server, namespace: options.namespace, user: username, groups: groups.join(", ") };
}
