/** The NetworkPolicy of a job: only its own pods and its drivers may connect to its pods. */
import type { DriverAccess, KubernetesSpec } from "../kubernetes-spec.js";
import { driverLabel, gatewayPort, jobLabel } from "./layout.js";
import type { KubernetesObject, Labels } from "./objects.js";

/** @param peers further peers */
export function networkPolicy(
  { name, namespace, ingress }: KubernetesSpec,
  drivers: DriverAccess,
  labels: Labels,
  peers: readonly object[] = [],
): KubernetesObject {
  const selected = (matchLabels: Labels) => ({ matchLabels });
  const peer = (access: Pick<DriverAccess, "pods" | "namespaces">) => ({
    ...(access.pods === undefined ? {} : { podSelector: selected(access.pods) }),
    ...(access.namespaces === undefined ? {} : { namespaceSelector: selected(access.namespaces) }),
  });
  const others = peer(drivers);
  const from = [
    { podSelector: selected({ [jobLabel]: name }) },
    { podSelector: selected({ [driverLabel]: name }) },
    // An empty peer would be everybody.
    ...(Object.keys(others).length === 0 ? [] : [others]),
    ...(drivers.addresses ?? []).map((cidr) => ({ ipBlock: { cidr } })),
    ...peers,
  ];
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, namespace, labels },
    spec: {
      podSelector: selected({ [jobLabel]: name }),
      policyTypes: ["Ingress"],
      ingress: [
        { from },
        // The ingress controller reaches the port for WebSockets alone.
        ...(ingress?.from === undefined ? [] : [{ from: [peer(ingress.from)], ports: [{ port: gatewayPort }] }]),
      ],
    },
  };
}
