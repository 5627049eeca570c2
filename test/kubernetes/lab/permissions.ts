/** Gives a user, and the pod of a command, what `viceroy job rbac` prints for a job, and nothing else. */
import { CoreV1Api, RbacAuthorizationV1Api, type V1PolicyRule } from "@kubernetes/client-node";
import { checkKubernetesJob, type KubernetesJobOptions } from "../../../runtime/job/kubernetes/kubernetes-spec.js";
import { commandAccount } from "../../../runtime/job/kubernetes/manifest/command-role.js";
import { jobObjects } from "../../../runtime/job/kubernetes/manifest/job-objects.js";
import type { KubernetesObject } from "../../../runtime/job/kubernetes/manifest/objects.js";
import { driverRole } from "../../../runtime/job/kubernetes/manifest/role.js";
import type { LabOfTests } from "./on-kubernetes.js";

/** Makes the service account of the pod of a command, with its permissions. */
export async function permitCommand(lab: LabOfTests, options: KubernetesJobOptions<string>): Promise<void> {
  const { spec } = checkKubernetesJob(options);
  const { namespace } = spec;
  const rbac = lab.config.makeApiClient(RbacAuthorizationV1Api);
  const [account, role, binding] = commandAccount(spec) as unknown as [KubernetesObject, never, never];
  const core = lab.config.makeApiClient(CoreV1Api);
  await core.createNamespacedServiceAccount({ namespace, body: account as never });
  await rbac.createNamespacedRole({ namespace, body: role });
  await rbac.createNamespacedRoleBinding({ namespace, body: binding });
}

/** Returns the kubeconfig of a user with the Role of a driver. */
export function permittedDriver(lab: LabOfTests, options: KubernetesJobOptions<string>): Promise<string> {
  const { spec, reach } = checkKubernetesJob(options);
  const run = { applyId: "0", files: {}, daemon: Buffer.alloc(400_000), isReplaced: true, hasCommand: true };
  const { rules } = driverRole(spec, jobObjects(spec, run), reach) as unknown as {
    readonly rules: readonly V1PolicyRule[];
  };
  return lab.user(spec.namespace, rules);
}
