/** The NetworkPolicy of a job: only its own pods and its drivers may connect to its pods. */
import type { DriverAccess, KubernetesSpec } from "../kubernetes-spec.js";
import { driverLabel, jobLabel } from "./layout.js";
import type { KubernetesObject, Labels } from "./objects.js";

export function networkPolicy(
  { name, namespace }: KubernetesSpec,
  { pods, namespaces, addresses = [] }: DriverAccess,
  labels: Labels,
): KubernetesObject {
  const selected = (matchLabels: Labels) => ({ matchLabels });
  const others = {
    ...(pods === undefined ? {} : { podSelector: selected(pods) }),
    ...(namespaces === undefined ? {} : { namespaceSelector: selected(namespaces) }),
  };
  const from = [
    { podSelector: selected({ [jobLabel]: name }) },
    { podSelector: selected({ [driverLabel]: name }) },
    // An empty peer would be everybody.
    ...(Object.keys(others).length === 0 ? [] : [others]),
    ...addresses.map((cidr) => ({ ipBlock: { cidr } })),
  ];
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, namespace, labels },
    spec: { podSelector: selected({ [jobLabel]: name }), policyTypes: ["Ingress"], ingress: [{ from }] },
  };
}
