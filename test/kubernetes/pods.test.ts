/** Promises about pods that every Kubernetes of the tests keeps: volumes, restarts, placement, and what is refused. */
import {
  BatchV1Api,
  CoreV1Api,
  SchedulingV1Api,
  type V1Container,
  type V1Pod,
  type V1PodSpec,
  Watch,
} from "@kubernetes/client-node";
import { expect, it } from "vitest";
import { until } from "../proc/until.js";
import { quantity } from "./api-server/quantity.js";
import { drain, uncordon } from "./lab/access.js";
import { backend, onKubernetes } from "./lab/on-kubernetes.js";

const forever = "setInterval(() => {}, 1000);";

onKubernetes("pods of the lab", (lab) => {
  const core = () => lab().config.makeApiClient(CoreV1Api);
  const container = (program: string, more: Partial<V1Container> = {}): V1Container => ({
    name: "main",
    image: lab().nodeImage,
    command: ["node", "-e", program],
    ...more,
  });
  const create = async (namespace: string, name: string, spec: V1PodSpec) => {
    await core().createNamespacedPod({
      namespace,
      body: { metadata: { name }, spec: { terminationGracePeriodSeconds: 1, ...spec } },
    });
    return () => core().readNamespacedPod({ namespace, name });
  };
  const when = async (read: () => Promise<V1Pod>, is: (pod: V1Pod) => boolean) => {
    let pod: V1Pod | undefined;
    await until(async () => {
      pod = await read();
      return is(pod);
    });
    return pod!;
  };
  const log = (namespace: string, name: string) => core().readNamespacedPodLog({ namespace, name, container: "main" });
  const messageOf = async (refused: Promise<unknown>) => {
    const error = await refused.then(
      () => undefined,
      (reason) => reason,
    );
    return { code: error?.code, message: JSON.parse(error?.body ?? "{}").message as string };
  };

  it("gives containers the files of Secrets, ConfigMaps, the downward API and an init container", async () => {
    const namespace = await lab().namespace();
    await core().createNamespacedSecret({
      namespace,
      body: { metadata: { name: "keys" }, stringData: { token: "hidden" } },
    });
    await core().createNamespacedConfigMap({
      namespace,
      body: { metadata: { name: "settings" }, data: { level: "high" } },
    });
    const volumeMounts = [
      { name: "shared", mountPath: "/viceroy/store" },
      { name: "keys", mountPath: "/var/run/keys", readOnly: true },
      { name: "settings", mountPath: "/settings" },
      { name: "about", mountPath: "/about" },
    ];
    const program = `const fs = require("node:fs");
      for (const file of ["/viceroy/store/made", "/var/run/keys/token", "/settings/level", "/about/name"]) console.log(fs.readFileSync(file, "utf8"));
      console.log(require("node:os").hostname(), process.env.LEVEL, process.argv[1]);
      try { fs.writeFileSync("/var/run/keys/other", ""); } catch (error) { console.log(error.code); }`;
    const settings = { configMapKeyRef: { name: "settings", key: "level" } };
    const read = await create(namespace, "files", {
      restartPolicy: "Never",
      initContainers: [
        container('require("node:fs").writeFileSync("/viceroy/store/made", "by init")', {
          name: "init",
          volumeMounts: [volumeMounts[0]!],
        }),
      ],
      containers: [
        container(program, { volumeMounts, env: [{ name: "LEVEL", valueFrom: settings }], args: ["$(LEVEL)er"] }),
      ],
      volumes: [
        { name: "shared", emptyDir: {} },
        { name: "keys", secret: { secretName: "keys" } },
        { name: "settings", configMap: { name: "settings" } },
        { name: "about", downwardAPI: { items: [{ path: "name", fieldRef: { fieldPath: "metadata.name" } }] } },
      ],
    });
    await when(read, ({ status }) => status?.phase === "Succeeded");
    expect((await log(namespace, "files")).split("\n")).toEqual([
      "by init",
      "hidden",
      "high",
      "files",
      "files high higher",
      "EROFS",
      "",
    ]);
  });

  it("waits for a Secret that does not exist yet", async () => {
    const namespace = await lab().namespace();
    const read = await create(namespace, "early", {
      containers: [container(forever, { volumeMounts: [{ name: "keys", mountPath: "/keys" }] })],
      volumes: [{ name: "keys", secret: { secretName: "late" } }],
    });
    await until(async () => {
      const events = await core().listNamespacedEvent({ namespace, fieldSelector: "reason=FailedMount" });
      return events.items.some(({ involvedObject }) => involvedObject.name === "early");
    });
    await core().createNamespacedSecret({ namespace, body: { metadata: { name: "late" } } });
    await when(read, ({ status }) => status?.phase === "Running");
  });

  it("restarts a container that fails, and keeps its exit code", async () => {
    const namespace = await lab().namespace();
    const read = await create(namespace, "failing", { containers: [container("process.exit(3)")] });
    const pod = await when(
      read,
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === "CrashLoopBackOff",
    );
    const [status] = pod.status!.containerStatuses!;
    expect(status!.restartCount).toBeGreaterThan(0);
    expect(status!.lastState?.terminated).toMatchObject({ exitCode: 3, reason: "Error" });
  });

  it("fails a Job beyond its backoff limit", async () => {
    const namespace = await lab().namespace();
    const batch = lab().config.makeApiClient(BatchV1Api);
    const spec = { restartPolicy: "Never", containers: [container("process.exit(1)")] };
    await batch.createNamespacedJob({
      namespace,
      body: { metadata: { name: "doomed" }, spec: { backoffLimit: 0, template: { spec } } },
    });
    await until(async () => {
      const { status } = await batch.readNamespacedJob({ namespace, name: "doomed" });
      return (
        status?.conditions?.some(({ type, reason }) => type === "Failed" && reason === "BackoffLimitExceeded") ?? false
      );
    });
  });

  it("says in the words of the scheduler why a pod cannot be placed", async () => {
    const namespace = await lab().namespace();
    const resources = { requests: { "viceroy.test/gpu": "1" }, limits: { "viceroy.test/gpu": "1" } };
    const read = await create(namespace, "large", { containers: [container(forever, { resources })] });
    const placed = ({ status }: V1Pod) => status?.conditions?.find(({ type }) => type === "PodScheduled");
    const pod = await when(read, (seen) => placed(seen)?.reason === "Unschedulable");
    expect(placed(pod)!.message).toMatch(/^0\/2 nodes are available: 2 Insufficient viceroy\.test\/gpu\. /);
  });

  it("preempts a pod for one of a higher priority", async () => {
    const namespace = await lab().namespace();
    const scheduling = lab().config.makeApiClient(SchedulingV1Api);
    const priority = `urgent-${namespace}`;
    await scheduling.createPriorityClass({ body: { metadata: { name: priority }, value: 1000 } });
    const { status } = await core().readNode({ name: "n1" });
    // Two of these do not fit on one node.
    const bytes = Math.floor(quantity(status!.allocatable!["memory"]!) * 0.6);
    const resources = { requests: { memory: `${bytes}` } };
    const spec = { nodeSelector: { "kubernetes.io/hostname": "n1" }, containers: [container(forever, { resources })] };
    try {
      const low = await create(namespace, "low", spec);
      const { metadata } = await when(low, (pod) => pod.status?.phase === "Running");
      const reasons: (string | undefined)[] = [];
      const over = new Promise<void>((resolve, reject) => {
        const from = { resourceVersion: metadata!.resourceVersion!, fieldSelector: "metadata.name=low" };
        const onChange = (type: string, { status }: V1Pod) => {
          reasons.push(status?.conditions?.find((condition) => condition.type === "DisruptionTarget")?.reason);
          if (type === "DELETED") resolve();
        };
        void new Watch(lab().config).watch(`/api/v1/namespaces/${namespace}/pods`, from, onChange, reject);
      });
      const high = await create(namespace, "high", { ...spec, priorityClassName: priority });
      await over;
      await when(high, (pod) => pod.status?.phase === "Running");
      expect(reasons).toContain("PreemptionByScheduler");
    } finally {
      await scheduling.deletePriorityClass({ name: priority });
    }
  });

  it("drains a node: its pods are evicted, and new ones are placed elsewhere", async () => {
    const namespace = await lab().namespace();
    const read = await create(namespace, "moved", {
      nodeSelector: { "kubernetes.io/hostname": "n1" },
      containers: [container(forever)],
    });
    await when(read, ({ status }) => status?.phase === "Running");
    try {
      await drain(lab(), "n1", namespace);
      await until(() =>
        read().then(
          () => false,
          (error) => error.code === 404,
        ),
      );
      const next = await create(namespace, "next", { containers: [container(forever)] });
      expect((await when(next, ({ status }) => status?.phase === "Running")).spec!.nodeName).toBe("n2");
    } finally {
      await uncordon(lab(), "n1");
    }
  });

  it("gives pods a token with which they reach the API server", async () => {
    const namespace = await lab().namespace();
    const program = `const fs = require("node:fs"), folder = "/var/run/secrets/kubernetes.io/serviceaccount/";
      require("node:https").get({ host: process.env.KUBERNETES_SERVICE_HOST, port: process.env.KUBERNETES_SERVICE_PORT, ca: fs.readFileSync(folder + "ca.crt"),
        path: "/api/v1/namespaces/" + fs.readFileSync(folder + "namespace", "utf8") + "/pods",
        headers: { authorization: "Bearer " + fs.readFileSync(folder + "token", "utf8") } }, (answer) => { console.log(answer.statusCode); process.exit(); });`;
    const read = await create(namespace, "inside", { restartPolicy: "Never", containers: [container(program)] });
    await when(read, ({ status }) => status?.phase === "Succeeded");
    expect(await log(namespace, "inside")).toBe("403\n");
  });

  it("refuses a pod that its namespace does not permit", async () => {
    const namespace = await lab().namespace({ "pod-security.kubernetes.io/enforce": "restricted" });
    const spec = { containers: [container(forever)] };
    const { code, message } = await messageOf(
      core().createNamespacedPod({ namespace, body: { metadata: { name: "loose" }, spec } }),
    );
    expect(code).toBe(403);
    expect(message).toBe(
      'pods "loose" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false), ' +
        'unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "main" must set securityContext.runAsNonRoot=true), ' +
        'seccompProfile (pod or container "main" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    );
  });

  it("refuses pods beyond a quota", async () => {
    const namespace = await lab().namespace();
    await core().createNamespacedResourceQuota({
      namespace,
      body: { metadata: { name: "small" }, spec: { hard: { pods: "0" } } },
    });
    const spec = { containers: [container(forever)] };
    const attempt = () =>
      messageOf(core().createNamespacedPod({ namespace, body: { metadata: { name: "extra" }, spec } }));
    await until(async () => (await attempt()).message?.includes("exceeded quota") ?? false);
    expect(await attempt()).toEqual({
      code: 403,
      message: 'pods "extra" is forbidden: exceeded quota: small, requested: pods=1, used: pods=0, limited: pods=0',
    });
  });

  it("refuses objects in a namespace that is being deleted", async () => {
    const namespace = await lab().namespace();
    const finalizers = ["viceroy.test/hold"];
    await core().createNamespacedConfigMap({ namespace, body: { metadata: { name: "held", finalizers } } });
    await core().deleteNamespace({ name: namespace });
    const { code, message } = await messageOf(
      core().createNamespacedConfigMap({ namespace, body: { metadata: { name: "late" } } }),
    );
    expect(code).toBe(403);
    expect(message).toBe(
      `configmaps "late" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
    );
    const held = await core().readNamespacedConfigMap({ namespace, name: "held" });
    await core().replaceNamespacedConfigMap({
      namespace,
      name: "held",
      body: { ...held, metadata: { ...held.metadata, finalizers: [] } },
    });
  });

  it.skipIf(backend === "cluster")("reports a pod that its node has evicted", async () => {
    const namespace = await lab().namespace();
    const read = await create(namespace, "hungry", { containers: [container(forever)] });
    await when(read, ({ status }) => status?.phase === "Running");
    await lab().evictByNode(namespace, "hungry");
    const { status } = await when(read, (pod) => pod.status?.phase === "Failed");
    expect(status).toMatchObject({ reason: "Evicted", message: "The node was low on resource: memory." });
  });
});
