/**
 * The Kubernetes of the tests. There are three of it, and the same tests run on each: a real cluster, a real control plane
 * with stand-ins of the kubelet, and a stand-in of both in the process of the test.
 */
import type { KubeConfig } from "@kubernetes/client-node";

export type Backend = "cluster" | "control-plane" | "stand-in";

/** What each backend is, for people. */
export const descriptions: Readonly<Record<Backend, string>> = {
  cluster: "a real cluster of two nodes",
  "control-plane": "a real control plane with stand-ins of the kubelet",
  "stand-in": "a stand-in of the API server and of the kubelet",
};

export interface KubernetesLab {
  readonly backend: Backend;
  /** The kubeconfig of the administrator, as a file. */
  readonly kubeconfig: string;
  /** The kubeconfig of the administrator. */
  readonly config: KubeConfig;
  /** An image with Node.js alone. `node` is on its PATH. */
  readonly nodeImage: string;
  /** An image whose pods are ready at once and run nothing. It is not in the real cluster, where containers need a program. */
  readonly idleImage: string | undefined;
  /** The names of the nodes. */
  readonly nodes: readonly string[];
  /** The command prefix that runs a program where only the API server can be reached, or undefined where there is none such place. */
  readonly laptop: readonly string[] | undefined;
  /** Ends the API server and all connections to it. The objects stay. */
  stopApiServer(): Promise<void>;
  /** Starts the API server again, and resolves when it answers. */
  startApiServer(): Promise<void>;
  /** Restarts the API server without the changes of before: a watch that continues from an old version gets the error 410. */
  forgetHistory(): Promise<void>;
  /**
   * Evicts a pod as its kubelet does when the node has nothing left of a resource. Not possible in the real cluster.
   * @param resource default: `"memory"`
   */
  evictByNode(namespace: string, pod: string, resource?: "ephemeral-storage" | "memory"): Promise<void>;
  /** Kills the containers of a pod as the kernel does when they use more memory than their limits. Not possible in the real cluster. */
  exceedMemory(namespace: string, pod: string): Promise<void>;
  /** Makes the image of the controller as its documentation says, and gives it to all nodes. Only possible in the real cluster. */
  addControllerImage(): Promise<void>;
  /** Runs the real kubectl as the administrator, and returns what it prints. Not possible without the programs of Kubernetes. */
  kubectl(...args: readonly string[]): string;
}
