/** Namespaces and users for tests. They are made through the API, so they are the same on every backend. */
import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  CoreV1Api,
  PatchStrategy,
  RbacAuthorizationV1Api,
  setHeaderOptions,
  type V1PolicyRule,
} from "@kubernetes/client-node";
import { until } from "../../proc/until.js";
import { writeKubeconfig } from "./kubeconfig.js";
import type { KubernetesLab } from "./lab.js";

/** Creates a namespace. @returns its name */
export async function makeNamespace({ config }: KubernetesLab, labels: Record<string, string> = {}): Promise<string> {
  const core = config.makeApiClient(CoreV1Api);
  const name = `test-${randomBytes(4).toString("hex")}`;
  await core.createNamespace({ body: { metadata: { name, labels } } });
  // Pods are refused until the namespace has its service account.
  await until(async () => (await core.listNamespacedServiceAccount({ namespace: name })).items.length > 0);
  return name;
}

/** Deletes a namespace with everything in it, without waiting for the grace periods of its pods. It may be gone already. */
export async function deleteNamespace({ config }: KubernetesLab, name: string): Promise<void> {
  const core = config.makeApiClient(CoreV1Api);
  try {
    await core.deleteCollectionNamespacedPod({ namespace: name, gracePeriodSeconds: 1 });
    await core.deleteNamespace({ name });
  } catch (error) {
    if ((error as { code?: number }).code !== 404) throw error;
  }
}

/**
 * Empties a node as `kubectl drain` does: no pod is placed there any more, and all pods of a namespace are evicted from it.
 * @param labelSelector which pods; default: all
 */
export async function drain(
  lab: KubernetesLab,
  node: string,
  namespace: string,
  labelSelector?: string,
): Promise<void> {
  await setUnschedulable(lab, node, true);
  const core = lab.config.makeApiClient(CoreV1Api);
  const { items } = await core.listNamespacedPod({
    namespace,
    fieldSelector: `spec.nodeName=${node}`,
    ...(labelSelector === undefined ? {} : { labelSelector }),
  });
  for (const { metadata } of items) {
    const name = metadata!.name!;
    await core.createNamespacedPodEviction({ namespace, name, body: { metadata: { name, namespace } } });
  }
}

/** Lets pods be placed on a node again. */
export async function uncordon(lab: KubernetesLab, node: string): Promise<void> {
  await setUnschedulable(lab, node, false);
}

async function setUnschedulable({ config }: KubernetesLab, node: string, unschedulable: boolean): Promise<void> {
  const merging = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);
  await config.makeApiClient(CoreV1Api).patchNode({ name: node, body: { spec: { unschedulable } } }, merging);
}

/** Gives a node an amount of a resource that it does not have, as a device plugin does. @param amount null to take it away */
export async function setResource(
  { config }: KubernetesLab,
  node: string,
  resource: string,
  amount: string | null,
): Promise<void> {
  const merging = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);
  const amounts = { [resource]: amount };
  const body = { status: { capacity: amounts, allocatable: amounts } };
  await config.makeApiClient(CoreV1Api).patchNodeStatus({ name: node, body }, merging);
}

/** A user of tests: a service account with a Role of its own. */
export interface Account {
  readonly name: string;
  readonly namespace: string;
  /** The file of its kubeconfig. */
  readonly kubeconfig: string;
}

/**
 * Creates a user that may do in a namespace what the rules say, and nothing else.
 * @returns the file of its kubeconfig
 */
export async function makeUser(lab: KubernetesLab, namespace: string, rules: readonly V1PolicyRule[]): Promise<string> {
  return (await makeAccount(lab, namespace, rules)).kubeconfig;
}

/** As `makeUser`, for tests that change the rules or the token later. */
export async function makeAccount(
  lab: KubernetesLab,
  namespace: string,
  rules: readonly V1PolicyRule[],
): Promise<Account> {
  const core = lab.config.makeApiClient(CoreV1Api);
  const rbac = lab.config.makeApiClient(RbacAuthorizationV1Api);
  const name = `user-${randomBytes(4).toString("hex")}`;
  const metadata = { name };
  await core.createNamespacedServiceAccount({ namespace, body: { metadata } });
  await rbac.createNamespacedRole({ namespace, body: { metadata, rules: [...rules] } });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name };
  const subjects = [{ kind: "ServiceAccount", name, namespace }];
  await rbac.createNamespacedRoleBinding({ namespace, body: { metadata, roleRef, subjects } });
  const kubeconfig = path.join(mkdtempSync(path.join(tmpdir(), "vk-")), "kubeconfig");
  const account = { name, namespace, kubeconfig };
  await issueToken(lab, account);
  return account;
}

/** Gives a user other rules. */
export async function setRules(
  { config }: KubernetesLab,
  { name, namespace }: Account,
  rules: readonly V1PolicyRule[],
): Promise<void> {
  const rbac = config.makeApiClient(RbacAuthorizationV1Api);
  await rbac.replaceNamespacedRole({ namespace, name, body: { metadata: { name }, rules: [...rules] } });
}

/** Ends the token of a user: it belongs to a service account that is gone. */
export async function expireToken({ config }: KubernetesLab, { name, namespace }: Account): Promise<void> {
  const core = config.makeApiClient(CoreV1Api);
  await core.deleteNamespacedServiceAccount({ namespace, name });
  await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name } } });
}

/** Writes a new token into the kubeconfig file of a user. */
export async function issueToken({ config }: KubernetesLab, { name, namespace, kubeconfig }: Account): Promise<void> {
  const body = { spec: { audiences: [], expirationSeconds: 3600 } };
  const { status } = await config
    .makeApiClient(CoreV1Api)
    .createNamespacedServiceAccountToken({ name, namespace, body });
  const { server, caData } = config.getCurrentCluster()!;
  const ca = Buffer.from(caData!, "base64").toString();
  writeKubeconfig(kubeconfig, { server, ca, token: status!.token, namespace });
}
