/** The objects of the controller in Kubernetes, as `viceroy controller manifest` prints them: a pure function of the rules and the options. */
import { readFileSync } from "node:fs";
import { errorMessage } from "../../../../shared/text/error-message.js";
import { checkNamespace } from "../manifest/names.js";
import type { KubernetesObject } from "../manifest/objects.js";
import { printDocuments } from "../manifest/print-yaml.js";
import type { PolicyRule } from "../manifest/role.js";
import { controllerName } from "../provision/protocol.js";
import { leaseMs } from "./lease.js";
import { controllerLabels } from "./provisioned-job.js";
import { parseRules } from "./rules/parse-rules.js";
import type { Rule } from "./rules/rule.js";

/** The options of the objects. */
export interface ControllerManifestOptions {
  /** The file of the rules. */
  readonly rules: string;
  readonly namespace: string;
  readonly image: string;
  /** The time after which hosts end whose owner gives no sign of life. */
  readonly lease: string;
}

/** The port at which the controller listens, and the folder with the file of its rules. */
const port = 8443;
const rulesFolder = "/etc/viceroy";
const rulesName = "rules.yaml";

const rbac = "rbac.authorization.k8s.io";

/** The controller needs these permissions in namespaces of hosts. It reads no Secret there. */
const hostRules: readonly PolicyRule[] = [
  { apiGroups: [""], resources: ["pods"], verbs: ["list", "watch", "delete", "patch"] },
  { apiGroups: [""], resources: ["events"], verbs: ["list", "watch"] },
  { apiGroups: [""], resources: ["configmaps"], verbs: ["create", "get", "patch", "delete"] },
  { apiGroups: [""], resources: ["secrets", "services"], verbs: ["create", "patch"] },
  { apiGroups: ["batch"], resources: ["jobs"], verbs: ["create", "get", "list", "watch", "patch"] },
  { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: ["create", "patch"] },
];

/**
 * The controller needs these permissions in namespaces of programs that ask: it reads their pods, and publishes its authority in a ConfigMap that is there
 * already, because a permission to create one cannot name it.
 */
const askerRules: readonly PolicyRule[] = [
  { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
  { apiGroups: [""], resources: ["configmaps"], resourceNames: [controllerName], verbs: ["patch"] },
];

/** Its own Secrets contain its key, and the credentials of the hosts. */
const ownRules: readonly PolicyRule[] = [
  { apiGroups: [""], resources: ["secrets"], verbs: ["create", "get", "list", "patch", "delete"] },
];

/**
 * Prints the objects.
 * @throws Error with the line and the field, if the rules cannot be used
 * @throws TypeError if the lease is malformed or too short
 */
export function printControllerManifest(options: ControllerManifestOptions): string {
  const { rules: file } = options;
  leaseMs("print the manifest", options.lease);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw new Error(`cannot read the rules: ${errorMessage(cause)}`, { cause });
  }
  const { rules, fault } = parseRules(text);
  if (fault !== undefined) throw new Error(`cannot use the rules in ${file}: ${fault}`);
  return printDocuments(controllerObjects(rules, text, options)).trimEnd();
}

/** Returns the objects in the order in which they can be applied. @param text the text of the rules */
export function controllerObjects(
  rules: readonly Rule[],
  text: string,
  { namespace, image, lease }: Omit<ControllerManifestOptions, "rules">,
): KubernetesObject[] {
  checkNamespace(namespace);
  const metadata = { name: controllerName, namespace, labels: controllerLabels };
  const subjects = [{ kind: "ServiceAccount", name: controllerName, namespace }];
  const clusterWide = { name: controllerName, labels: controllerLabels };
  const askers = new Set(rules.flatMap(({ who }) => who.namespaces));
  const hosts = new Set(rules.flatMap(({ who, allow }) => allow.namespaces ?? who.namespaces));
  return [
    {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: namespace, labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
    },
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRole",
      metadata: clusterWide,
      rules: [{ apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] }],
    },
    binding("ClusterRoleBinding", "ClusterRole", clusterWide, subjects),
    ...[...new Set([namespace, ...askers, ...hosts])].flatMap((name): KubernetesObject[] => {
      const place = { ...metadata, namespace: name };
      const own = [
        ...(name === namespace ? ownRules : []),
        ...(askers.has(name) ? askerRules : []),
        ...(hosts.has(name) ? hostRules : []),
      ];
      return [
        { apiVersion: `${rbac}/v1`, kind: "Role", metadata: place, rules: own },
        binding("RoleBinding", "Role", place, subjects),
      ];
    }),
    // The controller fills in its key and its certificate. They are here so that they end with the other objects.
    { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque" },
    ...[...askers].map(
      (name): KubernetesObject => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { ...metadata, namespace: name } }),
    ),
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { ...metadata, name: `${controllerName}-rules` },
      data: { [rulesName]: text },
    },
    deployment(metadata, { image, namespace, lease }),
    {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: { selector: controllerLabels, ports: [{ name: "https", port: 443, targetPort: "https" }] },
    },
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata,
      spec: {
        podSelector: { matchLabels: controllerLabels },
        policyTypes: ["Ingress"],
        // Programs in pods of all namespaces may ask; the rules decide who gets something.
        ingress: [{ from: [{ namespaceSelector: {} }], ports: [{ port: "https" }] }],
      },
    },
  ];
}

function binding(
  kind: string,
  role: string,
  metadata: KubernetesObject["metadata"],
  subjects: object,
): KubernetesObject {
  const roleRef = { apiGroup: rbac, kind: role, name: controllerName };
  return { apiVersion: `${rbac}/v1`, kind, metadata, roleRef, subjects };
}

function deployment(
  metadata: KubernetesObject["metadata"],
  { image, namespace, lease }: Omit<ControllerManifestOptions, "rules">,
): KubernetesObject {
  const probe = { httpGet: { path: "/healthz", port: "https", scheme: "HTTPS" }, periodSeconds: 5 };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata,
    spec: {
      replicas: 1,
      // Two controllers would count what is used apart from each other.
      strategy: { type: "Recreate" },
      selector: { matchLabels: controllerLabels },
      template: {
        metadata: { labels: controllerLabels },
        spec: {
          serviceAccountName: controllerName,
          enableServiceLinks: false,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 1000,
            runAsGroup: 1000,
            fsGroup: 1000,
            seccompProfile: { type: "RuntimeDefault" },
          },
          containers: [
            {
              name: "controller",
              image,
              command: [
                "viceroy",
                "controller",
                "run",
                "--rules",
                `${rulesFolder}/${rulesName}`,
                "--namespace",
                namespace,
                "--lease",
                lease,
              ],
              env: [{ name: "HOME", value: "/tmp" }],
              ports: [{ name: "https", containerPort: port }],
              resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "1Gi" } },
              readinessProbe: probe,
              securityContext: {
                allowPrivilegeEscalation: false,
                capabilities: { drop: ["ALL"] },
                readOnlyRootFilesystem: true,
              },
              volumeMounts: [
                { name: "rules", mountPath: rulesFolder, readOnly: true },
                { name: "tmp", mountPath: "/tmp" },
              ],
            },
          ],
          volumes: [
            { name: "rules", configMap: { name: `${controllerName}-rules` } },
            { name: "tmp", emptyDir: {} },
          ],
        },
      },
    },
  };
}
