/** The service account of the pod of a command, and its permissions: less than those of the driver that submits the job. */
import { isProvisioned, type KubernetesSpec } from "../kubernetes-spec.js";
import { commandMesh, jobLabel, meshObjectName, secretName } from "./layout.js";
import type { KubernetesObject } from "./objects.js";
import { type PolicyRule, watchedPods } from "./role.js";

/**
 * Returns the ServiceAccount, the Role and the RoleBinding. The pod can make no object: the driver has made all of them, and the pod changes the numbers of
 * hosts, and ends them.
 */
export function commandAccount({ name, namespace, meshes }: KubernetesSpec): KubernetesObject[] {
  const account = meshObjectName(name, commandMesh);
  const metadata = { name: account, namespace, labels: { [jobLabel]: name } };
  const jobs = Object.entries(meshes).flatMap(([mesh, spec]) =>
    isProvisioned(spec) ? [meshObjectName(name, mesh)] : [],
  );
  const rules: PolicyRule[] = [
    ...watchedPods,
    // As the driver of the job, it ends lost hosts, and lets their Jobs replace them at once.
    { apiGroups: [""], resources: ["pods"], verbs: ["delete", "patch"] },
    { apiGroups: ["batch"], resources: ["jobs"], verbs: ["list", "watch"] },
    // A host that has used its secret gets the next one.
    { apiGroups: [""], resources: ["secrets"], resourceNames: [secretName(name)], verbs: ["patch"] },
    // The command resizes its meshes, and the hosts end with it.
    { apiGroups: ["batch"], resources: ["jobs"], resourceNames: jobs, verbs: ["get", "patch", "delete"] },
  ];
  const group = "rbac.authorization.k8s.io";
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    { apiVersion: `${group}/v1`, kind: "Role", metadata, rules },
    {
      apiVersion: `${group}/v1`,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: group, kind: "Role", name: account },
      subjects: [{ kind: "ServiceAccount", name: account, namespace }],
    },
  ];
}
