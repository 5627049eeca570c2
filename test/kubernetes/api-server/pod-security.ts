/** The checks of the Pod Security level "restricted", for namespaces whose label asks for it. */
import type { ApiObject } from "./resources.js";

interface SecurityContext {
  readonly allowPrivilegeEscalation?: boolean;
  readonly privileged?: boolean;
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly capabilities?: { readonly drop?: readonly string[] };
  readonly seccompProfile?: { readonly type: string };
}

interface PodSpec {
  readonly containers: readonly { readonly name: string; readonly securityContext?: SecurityContext }[];
  readonly initContainers?: PodSpec["containers"];
  readonly securityContext?: SecurityContext;
  readonly hostNetwork?: boolean;
  readonly volumes?: readonly Record<string, unknown>[];
}

const volumeTypes = [
  "name",
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret",
];

/** Returns what a pod does that its namespace does not permit, with the words of the real API server. */
export function podSecurityViolations(namespace: ApiObject, spec: PodSpec): string[] {
  if (namespace.metadata.labels?.["pod-security.kubernetes.io/enforce"] !== "restricted") return [];
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  const violators = (is: (context: SecurityContext) => boolean) => {
    const names = containers.filter(({ securityContext = {} }) => is(securityContext)).map(({ name }) => `"${name}"`);
    return names.length === 0 ? undefined : `${names.length === 1 ? "container" : "containers"} ${names.join(", ")}`;
  };
  const check = (name: string, must: string, is: (context: SecurityContext) => boolean, pod = "") => {
    const who = violators(is);
    return who === undefined ? [] : [`${name} (${pod}${who} must set ${must})`];
  };
  const pod = spec.securityContext ?? {};
  const forbidden = (spec.volumes ?? []).flatMap((volume) =>
    Object.keys(volume).filter((key) => !volumeTypes.includes(key)),
  );
  return [
    ...(spec.hostNetwork ? ["host namespaces (hostNetwork=true)"] : []),
    ...check(
      "allowPrivilegeEscalation != false",
      "securityContext.allowPrivilegeEscalation=false",
      (context) => context.allowPrivilegeEscalation !== false,
    ),
    ...check(
      "unrestricted capabilities",
      'securityContext.capabilities.drop=["ALL"]',
      (context) => !context.capabilities?.drop?.includes("ALL"),
    ),
    ...(forbidden.length > 0 ? [`restricted volume types (${forbidden.join(", ")})`] : []),
    ...check(
      "runAsNonRoot != true",
      "securityContext.runAsNonRoot=true",
      (context) => (context.runAsNonRoot ?? pod.runAsNonRoot) !== true,
      "pod or ",
    ),
    ...check(
      "seccompProfile",
      'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"',
      (context) =>
        !["RuntimeDefault", "Localhost"].includes((context.seccompProfile ?? pod.seccompProfile)?.type ?? ""),
      "pod or ",
    ),
  ];
}
