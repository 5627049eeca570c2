/** The Service and the Ingress that lead drivers outside of the cluster to the driver gateway of a job. */
import type { JobIngress } from "../ingress-options.js";
import { gatewayPort, gatewayServiceName, jobLabel, meshLabel, rankAnnotation } from "./layout.js";
import type { KubernetesObject, Labels } from "./objects.js";

/** The job of the ingress. */
export interface IngressTarget {
  readonly name: string;
  readonly namespace: string;
  /** The mesh whose host of rank 0 is the driver gateway. */
  readonly mesh: string;
  readonly labels: Labels;
}

/**
 * Returns both objects. One host is behind them, because a driver uses the host to which each of its connections leads: it would change its
 * gateway with each of them. The host that replaces a lost one has the same rank.
 */
export function ingressObjects(
  ingress: JobIngress,
  { name, namespace, mesh, labels }: IngressTarget,
): KubernetesObject[] {
  const { host, path = "/", className, tls, annotations } = ingress;
  const service = gatewayServiceName(name);
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: service, namespace, labels },
      spec: {
        // Kubernetes gives pods a label with the rank, of the name of the annotation.
        selector: { [jobLabel]: name, [meshLabel]: mesh, [rankAnnotation]: "0" },
        ports: [{ name: "websocket", port: gatewayPort }],
      },
    },
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name, namespace, labels, ...(annotations === undefined ? {} : { annotations }) },
      spec: {
        ...(className === undefined ? {} : { ingressClassName: className }),
        ...(tls === undefined ? {} : { tls: [{ hosts: [host], secretName: tls }] }),
        rules: [
          {
            host,
            http: {
              paths: [
                { path, pathType: "Prefix", backend: { service: { name: service, port: { name: "websocket" } } } },
              ],
            },
          },
        ],
      },
    },
  ];
}
