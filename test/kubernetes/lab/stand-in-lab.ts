/** The quick backend: a stand-in of the API server, with its controllers and two stand-ins of the kubelet, in this process. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { Authority } from "../../link/transport/tls/certificates.js";
import { StandInApiServer } from "../api-server/server.js";
import { startControllers } from "../controllers/controllers.js";
import { Addresses } from "../kubelet/addresses.js";
import { idleImage, nodeImage } from "../kubelet/images.js";
import { StandInKubelet } from "../kubelet/kubelet.js";
import { type Ends, makeNamespaces } from "./ends.js";
import { writeKubeconfig } from "./kubeconfig.js";
import type { KubernetesLab } from "./lab.js";

const nodeNames = ["n1", "n2"];

/** Starts the stand-in. @param ends gets what must be called when it is not needed any more, in reverse order */
export async function startStandIn(ends: Ends): Promise<KubernetesLab> {
  const authority = new Authority();
  ends.push(() => authority.remove());
  const { cert, key, ca } = authority.issue("kube-apiserver");
  const tls = { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8"), ca: readFileSync(ca!, "utf8") };
  const adminToken = randomBytes(24).toString("base64url");
  const server = new StandInApiServer({ ...tls, adminToken });
  await server.start();
  ends.push(() => server.stop());
  makeNamespaces(server.store);
  ends.push(startControllers(server.store));
  const kubeconfig = path.join(mkdtempSync(path.join(tmpdir(), "vk-")), "kubeconfig");
  writeKubeconfig(kubeconfig, { server: server.url, ca: tls.ca, token: adminToken });
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  // Test files run in parallel, each with pods of its own.
  const addresses = new Addresses(`127.${(process.pid % 250) + 2}`);
  const kubelets = nodeNames.map((name) => new StandInKubelet({ config, name, addresses, tls }));
  for (const kubelet of kubelets) {
    await kubelet.start();
    ends.push(() => kubelet.stop());
  }
  return {
    backend: "stand-in",
    kubeconfig,
    config,
    nodeImage,
    idleImage,
    nodes: nodeNames,
    laptop: undefined,
    stopApiServer: () => server.stop(),
    startApiServer: () => server.start(),
    async forgetHistory() {
      await server.stop();
      server.store.forget();
      await server.start();
    },
    evictByNode: (namespace, pod, resource) => evictFrom(kubelets, namespace, pod, resource),
    exceedMemory: async (namespace, pod) => nodeOf(kubelets, namespace, pod).exceedMemory(namespace, pod),
    addControllerImage() {
      throw new Error("cannot add an image: stand-ins of the kubelet run the files of this machine");
    },
    kubectl() {
      throw new Error("cannot run kubectl: the stand-in of the API server is no Kubernetes");
    },
  };
}

/** Evicts a pod from the node that runs it. @throws Error if none does */
export async function evictFrom(
  kubelets: readonly StandInKubelet[],
  namespace: string,
  pod: string,
  resource = "memory",
): Promise<void> {
  await nodeOf(kubelets, namespace, pod).evict(namespace, pod, `The node was low on resource: ${resource}.`);
}

/** Returns the node that runs a pod. @throws Error if none does */
export function nodeOf(kubelets: readonly StandInKubelet[], namespace: string, pod: string): StandInKubelet {
  const running = kubelets.find((kubelet) => kubelet.runs(namespace, pod));
  if (running === undefined) throw new Error(`cannot find the pod ${namespace}/${pod}: no node runs it`);
  return running;
}
