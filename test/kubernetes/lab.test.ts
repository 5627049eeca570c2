/** Promises that every Kubernetes of the tests keeps. Tests of jobs build on them. */
import { spawnSync } from "node:child_process";
import {
  BatchV1Api,
  CoreV1Api,
  KubeConfig,
  makeInformer,
  type V1Job,
  type V1Pod,
  Watch,
} from "@kubernetes/client-node";
import { describe, expect, it } from "vitest";
import { until } from "../proc/until.js";
import { backend, onKubernetes } from "./lab/on-kubernetes.js";

const indexKey = "batch.kubernetes.io/job-completion-index";

/** A program that listens on the address of its pod, and says so. */
const listening = `require("node:net").createServer().listen(7000, process.env.POD_IP, () =>
  console.log("listening as", process.env.JOB_COMPLETION_INDEX));`;

interface Options {
  readonly hosts?: number;
  readonly grace?: number;
  readonly image?: string;
}

function jobOf(image: string, name: string, program: string, { hosts = 2, grace = 5 }: Options = {}): V1Job {
  const fieldRef = { fieldPath: "status.podIP" };
  const container = {
    name: "main",
    image,
    command: ["node", "-e", program],
    env: [{ name: "POD_IP", valueFrom: { fieldRef } }],
    readinessProbe: { tcpSocket: { port: 7000 }, periodSeconds: 1 },
  };
  return {
    metadata: { name },
    spec: {
      completions: hosts,
      parallelism: hosts,
      completionMode: "Indexed",
      backoffLimit: 100,
      template: {
        metadata: { labels: { app: name } },
        spec: { restartPolicy: "Never", terminationGracePeriodSeconds: grace, containers: [container] },
      },
    },
  };
}

const isReady = ({ metadata, status }: V1Pod) =>
  metadata?.deletionTimestamp === undefined &&
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;

onKubernetes("the lab", (lab) => {
  const core = () => lab().config.makeApiClient(CoreV1Api);
  const podsOf = async (namespace: string, name: string) =>
    (await core().listNamespacedPod({ namespace, labelSelector: `app=${name}` })).items;
  const readyPods = async (namespace: string, name: string, hosts = 2) => {
    let pods: V1Pod[] = [];
    await until(async () => {
      pods = (await podsOf(namespace, name)).filter(isReady);
      return pods.length === hosts;
    });
    return pods.sort((a, b) => Number(a.metadata!.labels![indexKey]) - Number(b.metadata!.labels![indexKey]));
  };
  const start = async (name: string, program: string, options?: Options) => {
    const namespace = await lab().namespace();
    const job = jobOf(options?.image ?? lab().nodeImage, name, program, options);
    await lab().config.makeApiClient(BatchV1Api).createNamespacedJob({ namespace, body: job });
    return namespace;
  };

  it("makes the pods of an indexed Job ready, each with an index and an address of its own", async () => {
    const namespace = await start("ready", listening);
    const pods = await readyPods(namespace, "ready");
    expect(pods.map(({ metadata }) => metadata!.labels![indexKey])).toEqual(["0", "1"]);
    expect(new Set(pods.map(({ status }) => status!.podIP)).size).toBe(2);
    const logs = pods.map(({ metadata }) => core().readNamespacedPodLog({ namespace, name: metadata!.name! }));
    expect(await Promise.all(logs)).toEqual(["listening as 0\n", "listening as 1\n"]);
  });

  it("replaces a deleted pod by one with the same index and another address", async () => {
    const namespace = await start("replaced", listening);
    const [, before] = await readyPods(namespace, "replaced");
    await core().deleteNamespacedPod({ namespace, name: before!.metadata!.name! });
    await until(async () =>
      (await podsOf(namespace, "replaced")).every(({ metadata }) => metadata!.uid !== before!.metadata!.uid),
    );
    const [, after] = await readyPods(namespace, "replaced");
    expect(after!.metadata!.labels![indexKey]).toBe("1");
    expect(after!.status!.podIP).not.toBe(before!.status!.podIP);
  });

  it("evicts a pod, which is replaced", async () => {
    const namespace = await start("evicted", listening);
    const [before] = await readyPods(namespace, "evicted");
    const { name, uid } = before!.metadata!;
    await core().createNamespacedPodEviction({
      namespace,
      name: name!,
      body: { metadata: { name: name!, namespace } },
    });
    await until(async () => {
      const pods = await podsOf(namespace, "evicted");
      return pods.every(({ metadata }) => metadata!.uid !== uid) && pods.filter(isReady).length === 2;
    });
  });

  it("sends SIGTERM, and ends a pod only after its grace period", async () => {
    const program = `process.on("SIGTERM", () => { console.log("warned"); setTimeout(() => { console.log("ready to go"); process.exit(0); }, 300); }); ${listening}`;
    const namespace = await start("warned", program, { hosts: 1, grace: 30 });
    const [pod] = await readyPods(namespace, "warned", 1);
    const { name } = pod!.metadata!;
    const lines: string[] = [];
    const { Log } = await import("@kubernetes/client-node");
    const { PassThrough } = await import("node:stream");
    const stream = new PassThrough();
    stream.setEncoding("utf8").on("data", (text: string) => lines.push(...text.split("\n")));
    await new Log(lab().config).log(namespace, name!, "main", stream, { follow: true });
    await until(() => lines.includes("listening as 0"));
    await core().deleteNamespacedPod({ namespace, name: name! });
    await until(() => lines.includes("ready to go"));
    expect(lines).toContain("warned");
  });

  it("kills a pod that does not end within its grace period", async () => {
    const namespace = await start("stubborn", `process.on("SIGTERM", () => {}); ${listening}`, { hosts: 1, grace: 1 });
    const [pod] = await readyPods(namespace, "stubborn", 1);
    await core().deleteNamespacedPod({ namespace, name: pod!.metadata!.name! });
    await until(async () =>
      (await podsOf(namespace, "stubborn")).every(({ metadata }) => metadata!.uid !== pod!.metadata!.uid),
    );
  });

  it("says why an image cannot be pulled", async () => {
    const namespace = await start("imageless", listening, { hosts: 1, image: "viceroy.test/missing:1" });
    await until(async () => {
      const [pod] = await podsOf(namespace, "imageless");
      return pod?.status?.containerStatuses?.[0]?.state?.waiting?.reason === "ImagePullBackOff";
    });
  });

  it("says which verb a user lacks", async () => {
    const namespace = await lab().namespace();
    const config = new KubeConfig();
    config.loadFromFile(await lab().user(namespace, [{ apiGroups: [""], resources: ["pods"], verbs: ["list"] }]));
    const limited = config.makeApiClient(CoreV1Api);
    expect((await limited.listNamespacedPod({ namespace })).items).toEqual([]);
    const denied = await limited.deleteNamespacedPod({ namespace, name: "any" }).catch((error) => error);
    expect(denied.code).toBe(403);
    expect(JSON.parse(denied.body).message).toMatch(
      /^pods "any" is forbidden: User "system:serviceaccount:\S+:user-\w+" cannot delete resource "pods" in API group "" in the namespace "\S+"$/,
    );
  });

  it("takes a server-side apply twice, and names the manager in a conflict", async () => {
    const namespace = await lab().namespace();
    const { PatchStrategy, setHeaderOptions } = await import("@kubernetes/client-node");
    const applying = setHeaderOptions("Content-Type", PatchStrategy.ServerSideApply);
    const configMap = (value: string) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "settings" },
      data: { level: value },
    });
    const apply = (value: string, fieldManager: string, force = false) =>
      core().patchNamespacedConfigMap(
        { namespace, name: "settings", body: configMap(value), fieldManager, force },
        applying,
      );
    const first = await apply("one", "job");
    const second = await apply("one", "job");
    expect(second.metadata!.resourceVersion).toBe(first.metadata!.resourceVersion);
    const conflict = await apply("two", "other").catch((error) => error);
    expect(conflict.code).toBe(409);
    expect(JSON.parse(conflict.body).message).toBe('Apply failed with 1 conflict: conflict with "job": .data.level');
    expect((await apply("two", "other", true)).data).toEqual({ level: "two" });
  });

  it("checks a dry run like a request, and stores nothing", async () => {
    const namespace = await lab().namespace();
    const body = { metadata: { name: "tried" }, data: { a: "b" } };
    expect((await core().createNamespacedConfigMap({ namespace, body, dryRun: "All" })).metadata!.name).toBe("tried");
    expect(
      (await core().listNamespacedConfigMap({ namespace })).items.map(({ metadata }) => metadata!.name),
    ).not.toContain("tried");
    const batch = lab().config.makeApiClient(BatchV1Api);
    const wrong = jobOf(lab().nodeImage, "Wrong_Name", listening);
    const refused = await batch.createNamespacedJob({ namespace, body: wrong, dryRun: "All" }).catch((error) => error);
    expect(refused.code).toBe(422);
    expect(JSON.parse(refused.body).message).toContain('Job.batch "Wrong_Name" is invalid: ');
  });

  it.skipIf(backend === "cluster")("runs many pods that have no process", async () => {
    const namespace = await start("many", "", { hosts: 60, image: lab().idleImage! });
    const batch = lab().config.makeApiClient(BatchV1Api);
    await until(async () => (await batch.readNamespacedJob({ namespace, name: "many" })).status?.ready === 60);
    expect(new Set((await podsOf(namespace, "many")).map(({ status }) => status!.podIP)).size).toBe(60);
  });

  it.runIf(backend === "cluster")("has a laptop that reaches the API server, and no pod", async () => {
    const namespace = await start("remote", listening, { hosts: 1 });
    const [pod] = await readyPods(namespace, "remote", 1);
    const api = new URL(lab().config.getCurrentCluster()!.server);
    const program = `const socket = require("node:net").connect(process.argv[1], process.argv[2]);
      socket.on("connect", () => { console.log("connected"); process.exit(); }).on("error", ({ code }) => console.log(code));`;
    const connect = (prefix: readonly string[], port: string, host: string) =>
      spawnSync("env", [...prefix, process.execPath, "-e", program, port, host], { encoding: "utf8" }).stdout.trim();
    expect(connect(lab().laptop!, api.port, api.hostname)).toBe("connected");
    expect(connect([], "7000", pod!.status!.podIP!)).toBe("connected");
    expect(connect(lab().laptop!, "7000", pod!.status!.podIP!)).toBe("ENETUNREACH");
  });

  describe("when the API server restarts", () => {
    it("goes on with a watch that starts again", async () => {
      const namespace = await lab().namespace();
      const seen: string[] = [];
      const list = () => core().listNamespacedConfigMap({ namespace });
      const informer = makeInformer(lab().config, `/api/v1/namespaces/${namespace}/configmaps`, list);
      informer.on("add", ({ metadata }) => seen.push(metadata!.name!));
      informer.on("error", () => setTimeout(() => void informer.start(), 100));
      await informer.start();
      try {
        await core().createNamespacedConfigMap({ namespace, body: { metadata: { name: "before" } } });
        await until(() => seen.includes("before"));
        await lab().stopApiServer();
        await expect(core().listNamespacedConfigMap({ namespace })).rejects.toThrow();
        await lab().startApiServer();
        await core().createNamespacedConfigMap({ namespace, body: { metadata: { name: "after" } } });
        await until(() => seen.includes("after"));
      } finally {
        await informer.stop();
      }
    });

    it("answers 410 to a watch from a version that it has forgotten", async () => {
      const namespace = await lab().namespace();
      const { metadata } = await core().listNamespacedConfigMap({ namespace });
      await core().createNamespacedConfigMap({ namespace, body: { metadata: { name: "later" } } });
      await lab().forgetHistory();
      const error = await new Promise<{ code?: number; reason?: string }>((resolve, reject) => {
        const path = `/api/v1/namespaces/${namespace}/configmaps`;
        void new Watch(lab().config).watch(
          path,
          { resourceVersion: metadata!.resourceVersion! },
          (type, object) => {
            if (type === "ERROR") resolve(object);
            else reject(new Error(`got ${type}`));
          },
          reject,
        );
      });
      expect(error).toMatchObject({ code: 410, reason: "Expired" });
    });
  });
});
