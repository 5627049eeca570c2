/**
 * A stand-in of the kubelet: a node whose pods are processes of this machine, without images and root. It speaks to any API
 * server as the real kubelet does, so the real scheduler and the real controllers work with it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  CoreV1Api,
  type Informer,
  type KubeConfig,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1Node,
  type V1Pod,
} from "@kubernetes/client-node";
import type { Addresses } from "./addresses.js";
import { KubeletServer } from "./kubelet-server.js";
import { PodRun } from "./pod-run.js";

export interface KubeletOptions {
  readonly config: KubeConfig;
  readonly name: string;
  readonly addresses: Addresses;
  /** The certificate and key of its server, in PEM, and the certificate of the authority of the API server. */
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string };
  /** What the node has. */
  readonly capacity?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  /** How long a container waits before its second restart, in milliseconds. A real kubelet waits 10 s. */
  readonly backoff?: number;
}

const merge = setHeaderOptions("Content-Type", PatchStrategy.StrategicMergePatch);
const heartbeat = 4_000;
const capacityOfNode = { cpu: "1000", memory: "4Ti", pods: "1000", "ephemeral-storage": "100Gi" };

export class StandInKubelet {
  readonly name: string;
  readonly #options: KubeletOptions;
  readonly #core: CoreV1Api;
  readonly #folder = mkdtempSync(path.join(tmpdir(), "vk-"));
  readonly #runs = new Map<string, { readonly pod: V1Pod; readonly run: PodRun }>();
  readonly #server: KubeletServer;
  readonly #informer: Informer<V1Pod>;
  #heartbeats: NodeJS.Timeout | undefined;
  #port = 0;
  #stopped = false;
  #events = 0;

  constructor(options: KubeletOptions) {
    this.#options = options;
    this.name = options.name;
    this.#core = options.config.makeApiClient(CoreV1Api);
    this.#server = new KubeletServer({
      ...options.tls,
      find: (...wanted) => this.#logOf(...wanted),
      addressOf: (namespace, pod) => this.#find(namespace, pod)?.run.address,
    });
    const fieldSelector = `spec.nodeName=${options.name}`;
    const list = () => this.#core.listPodForAllNamespaces({ fieldSelector });
    // Clients of this version give selectors of fields in the path alone.
    this.#informer = makeInformer(
      options.config,
      `/api/v1/pods?fieldSelector=${encodeURIComponent(fieldSelector)}`,
      list,
    );
    this.#informer.on("add", (pod) => this.#see(pod));
    this.#informer.on("update", (pod) => this.#see(pod));
    this.#informer.on("delete", (pod) => this.#forget(pod));
    this.#informer.on("error", () => setTimeout(() => this.#stopped || void this.#informer.start(), 200));
  }

  /** Registers the node, and starts to run its pods. */
  async start(): Promise<void> {
    this.#port = await this.#server.start();
    const labels = { "kubernetes.io/hostname": this.name, ...this.#options.labels };
    const node: V1Node = { apiVersion: "v1", kind: "Node", metadata: { name: this.name, labels } };
    await this.#core.createNode({ body: node }).catch(unless(409));
    await this.#beat();
    this.#heartbeats = setInterval(() => void this.#beat().catch(() => {}), heartbeat);
    await this.#informer.start();
  }

  /** Stops at once with all processes of its pods, as a machine does that loses its power. The API server is told nothing. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#heartbeats);
    await this.#informer.stop();
    await Promise.all([...this.#runs.values()].map(({ run }) => run.stop(0)));
    this.#server.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Whether this node runs a pod. */
  runs(namespace: string, name: string): boolean {
    return this.#find(namespace, name) !== undefined;
  }

  /** Evicts a pod as a kubelet does that has no memory or disk left. @throws Error if the node does not run it */
  async evict(namespace: string, name: string, message: string): Promise<void> {
    const found = this.#find(namespace, name);
    if (found === undefined)
      throw new Error(`cannot evict the pod ${namespace}/${name}: the node ${this.name} does not run it`);
    this.#report(found.pod, "Evicted", message);
    await found.run.evict(message);
  }

  /** Lets the containers of a pod use more memory than their limits. */
  exceedMemory(namespace: string, name: string): void {
    this.#find(namespace, name)?.run.exceedMemory();
  }

  /** Starts a new pod, and ends one that is being deleted. */
  #see(pod: V1Pod): void {
    const { uid, namespace, name, deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata!;
    const known = this.#runs.get(uid!);
    const ended = ["Succeeded", "Failed"].includes(pod.status?.phase ?? "");
    if (deletionTimestamp !== undefined) {
      if (known === undefined && deletionGracePeriodSeconds === 0) return;
      void this.#end(pod, (deletionGracePeriodSeconds ?? 0) * 1000);
      return;
    }
    if (known !== undefined || ended || this.#stopped) return;
    const run = new PodRun(pod, {
      core: this.#core,
      folder: path.join(this.#folder, uid!),
      address: this.#options.addresses.next(),
      env: this.#environment(),
      authority: this.#options.tls.ca,
      backoff: this.#options.backoff ?? 1_000,
      report: (status) =>
        this.#write(() =>
          this.#core.patchNamespacedPodStatus(
            { name: name!, namespace: namespace!, body: { metadata: { uid }, status } },
            merge,
          ),
        ),
      reportEvent: (reason, message) => this.#report(pod, reason, message),
    });
    this.#runs.set(uid!, { pod, run });
    void run.run();
  }

  async #end({ metadata }: V1Pod, grace: number): Promise<void> {
    const { uid, namespace, name } = metadata!;
    const known = this.#runs.get(uid!);
    if (known?.run !== undefined) await known.run.stop(grace);
    if (this.#stopped) return;
    // The API server ignores the parameters of a request with a body.
    const body = { gracePeriodSeconds: 0, preconditions: { uid: uid! } };
    await this.#write(() => this.#core.deleteNamespacedPod({ name: name!, namespace: namespace!, body }));
  }

  /** Ends a pod whose object has been removed, by its deletion or by force. */
  #forget({ metadata }: V1Pod): void {
    const known = this.#runs.get(metadata!.uid!);
    this.#runs.delete(metadata!.uid!);
    if (known !== undefined) void known.run.stop(0).then(() => known.run.remove());
  }

  #find(namespace: string, name: string) {
    const all = [...this.#runs.values()];
    return all.findLast(({ pod }) => pod.metadata?.namespace === namespace && pod.metadata.name === name);
  }

  #logOf(namespace: string, pod: string, container: string, previous: boolean) {
    const run = this.#find(namespace, pod)?.run.container(container);
    return previous ? run?.previousLog : run?.log;
  }

  #environment(): Record<string, string> {
    const { hostname, port } = new URL(this.#options.config.getCurrentCluster()!.server);
    return {
      PATH: `${path.dirname(process.execPath)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
      HOME: "/root",
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: port,
      KUBERNETES_SERVICE_PORT_HTTPS: port,
    };
  }

  async #beat(): Promise<void> {
    const amounts = { ...capacityOfNode, ...this.#options.capacity };
    const now = new Date();
    const ready = {
      type: "Ready",
      status: "True",
      reason: "KubeletReady",
      message: "the stand-in is ready",
      lastHeartbeatTime: now,
      lastTransitionTime: now,
    };
    const addresses = [
      { type: "InternalIP", address: "127.0.0.1" },
      { type: "Hostname", address: this.name },
    ];
    const status = {
      capacity: amounts,
      allocatable: amounts,
      conditions: [ready],
      addresses,
      daemonEndpoints: { kubeletEndpoint: { Port: this.#port } },
    };
    await this.#core.patchNodeStatus({ name: this.name, body: { status } }, merge);
  }

  /** Repeats a write until the API server has answered it. A pod that is gone needs none. */
  async #write(call: () => Promise<unknown>): Promise<void> {
    while (!this.#stopped) {
      try {
        await call();
        return;
      } catch (error) {
        if ([404, 409, 422].includes((error as { code?: number }).code ?? 0)) return;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
  }

  #report(pod: V1Pod, reason: string, message: string): void {
    const { name, namespace, uid } = pod.metadata!;
    const involvedObject = { apiVersion: "v1", kind: "Pod", name: name!, namespace: namespace!, uid: uid! };
    const now = new Date();
    const metadata = { name: `${name}.${Date.now().toString(16)}.${this.#events++}` };
    const body = {
      metadata,
      involvedObject,
      reason,
      message,
      type: "Warning",
      count: 1,
      firstTimestamp: now,
      lastTimestamp: now,
      source: { component: "kubelet", host: this.name },
    };
    void this.#core.createNamespacedEvent({ namespace: namespace!, body }).catch(() => {});
  }
}

/** Returns a handler that ignores errors with a code. */
function unless(ignored: number) {
  return (error: { code?: number }) => {
    if (error.code !== ignored) throw error;
  };
}
