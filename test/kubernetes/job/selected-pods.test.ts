/** Tests of jobs that take pods which are there: their ranks, what is told about wrong ones, and that they stay. */
import { fileURLToPath } from "node:url";
import { AppsV1Api, BatchV1Api, CoreV1Api, type V1PodTemplateSpec } from "@kubernetes/client-node";
import { JobStartError, KubernetesJob } from "viceroy/job";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew } from "../../proc/crew.js";
import { until } from "../../proc/until.js";
import { broughtCode } from "../lab/jobs-of-tests.js";
import { backend, onKubernetes } from "../lab/on-kubernetes.js";

const token = "selected-pods-of-a-test-have-this-token-0123";
const cli = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));

let crew: Crew;
beforeAll(async () => {
  process.env["VICEROY_TOKEN"] = token;
  crew = await loadCrew();
});

onKubernetes("pods that a job takes", (lab) => {
  const jobs: { kill(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(jobs.splice(0).map((job) => job.kill()));
  });

  const core = () => lab().config.makeApiClient(CoreV1Api);

  function makeJob(
    namespace: string,
    hosts: number,
    rank: { readonly label: string } | "job" | "statefulset" | "default" = { label: "rank" },
    attachMs?: number,
  ): KubernetesJob<"workers"> {
    const job = new KubernetesJob<"workers">({
      namespace,
      kubeconfig: lab().kubeconfig,
      cache: null,
      sync: broughtCode,
      progress: "silent",
      hostTimeout: "30s",
      ...(attachMs === undefined ? {} : { attach: { timeout: attachMs } }),
      meshes: { workers: { hosts, selector: "app=worker", ...(rank === "default" ? {} : { rank }) } },
    });
    jobs.push(job);
    return job;
  }

  /** Returns the template of a pod, with a host of Viceroy if `isHost`. */
  function template(labels: Readonly<Record<string, string>>, isHost = true): V1PodTemplateSpec {
    const listen = `exec node "$CLI" host --print --listen "tcp://$POD_IP:26600"`;
    return {
      metadata: { labels: { app: "worker", ...labels } },
      spec: {
        containers: [
          {
            name: "worker",
            image: lab().nodeImage,
            command: ["sh", "-c", isHost ? listen : "exec sleep 600"],
            env: [
              { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
              { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
              { name: "VICEROY_TOKEN", value: token },
              { name: "CLI", value: cli },
            ],
            ...(isHost ? { readinessProbe: { tcpSocket: { port: 26_600 as never }, periodSeconds: 1 } } : {}),
          },
        ],
      },
    };
  }

  async function makePod(namespace: string, name: string, labels: Record<string, string>, isHost = false) {
    const { metadata, spec } = template(labels, isHost);
    await core().createNamespacedPod({ namespace, body: { metadata: { ...metadata, name }, spec: spec! } });
  }

  /** Makes the pods of a StatefulSet "set". The stand-in has no controller of those, so it gets pods with the labels that the real one gives. */
  async function makeStatefulSet(namespace: string, replicas: number): Promise<void> {
    if (backend === "stand-in") {
      for (let pod = 0; pod < replicas; pod++) {
        await makePod(namespace, `set-${pod}`, { "apps.kubernetes.io/pod-index": `${pod}` }, true);
      }
      return;
    }
    const selector = { matchLabels: { app: "worker" } };
    const spec = { replicas, serviceName: "set", selector, podManagementPolicy: "Parallel", template: template({}) };
    await lab()
      .config.makeApiClient(AppsV1Api)
      .createNamespacedStatefulSet({ namespace, body: { metadata: { name: "set" }, spec } });
  }

  /** Makes the pods of an Indexed Job "indexed". */
  async function makeIndexedJob(namespace: string, completions: number): Promise<void> {
    const { metadata, spec } = template({});
    const pods = { metadata: metadata!, spec: { ...spec!, restartPolicy: "Never" } };
    const body = {
      metadata: { name: "indexed" },
      spec: { completionMode: "Indexed", completions, parallelism: completions, template: pods },
    };
    await lab().config.makeApiClient(BatchV1Api).createNamespacedJob({ namespace, body });
  }

  /** Returns the names of the pods by the ranks of the actors in them. */
  async function podsByRank(job: KubernetesJob<"workers">): Promise<readonly string[]> {
    const { workers } = await job.state();
    const names = await workers.spawnProcs().spawn("crew", crew.SteelWorker).env.call("POD_NAME");
    return [...names.values()];
  }

  async function messageOf(job: KubernetesJob<"workers">): Promise<string> {
    const error = await job.state().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(JobStartError);
    return (error as Error).message;
  }

  // The nodes of the cluster do not see this checkout, which the hosts run.
  test.runIf(backend !== "cluster")("actors run in the pods by the rank of a label, and the pods stay", async () => {
    const namespace = await lab().namespace();
    await makePod(namespace, "b", { rank: "0" }, true);
    await makePod(namespace, "a", { rank: "1" }, true);
    const job = makeJob(namespace, 2);
    expect(await podsByRank(job)).toEqual(["b", "a"]);
    const lines: string[] = [];
    for await (const { rank, line } of job.logs()) if (line.includes("listens at")) lines.push(`${rank}`);
    // The logs of the pods are read at the same time.
    expect(lines.sort()).toEqual(["0", "1"]);
    await job.kill();
    const { items } = await core().listNamespacedPod({ namespace });
    expect(items.map(({ metadata, status }) => [metadata!.name, status!.phase])).toEqual([
      ["a", "Running"],
      ["b", "Running"],
    ]);
  });

  test.runIf(backend !== "cluster")("a mesh grows by pods that the selector finds, and leaves them again", async () => {
    const namespace = await lab().namespace();
    await makePod(namespace, "b", { rank: "0" }, true);
    const job = makeJob(namespace, 1);
    expect(await podsByRank(job)).toEqual(["b"]);
    const growing = job.resize({ workers: 2 });
    await makePod(namespace, "a", { rank: "1" }, true);
    await growing;
    expect(await podsByRank(job)).toEqual(["b", "a"]);
    await job.resize({ workers: 1 });
    expect(await podsByRank(job)).toEqual(["b"]);
    const { items } = await core().listNamespacedPod({ namespace });
    expect(items.map(({ status }) => status!.phase)).toEqual(["Running", "Running"]);
    await expect(job.resize({ workers: 1 })).resolves.toBeDefined();
  });

  test.runIf(backend !== "cluster").each(["job", "default"] as const)(
    "actors run in the pods of an Indexed Job by their completion index, with the rule %s",
    async (rule) => {
      const namespace = await lab().namespace();
      await makeIndexedJob(namespace, 2);
      await until(async () => (await core().listNamespacedPod({ namespace })).items.length === 2);
      const names = await podsByRank(makeJob(namespace, 2, rule));
      expect(names[0]).toMatch(/^indexed-0-/);
      expect(names[1]).toMatch(/^indexed-1-/);
    },
  );

  test.runIf(backend !== "cluster").each(["statefulset", "default"] as const)(
    "actors run in the pods of a StatefulSet by their number, with the rule %s",
    async (rule) => {
      const namespace = await lab().namespace();
      await makeStatefulSet(namespace, 2);
      await until(async () => (await core().listNamespacedPod({ namespace })).items.length === 2);
      expect(await podsByRank(makeJob(namespace, 2, rule))).toEqual(["set-0", "set-1"]);
    },
  );

  test("a rule that does not fit the pods is an error that says what they lack", async () => {
    const namespace = await lab().namespace();
    await makePod(namespace, "set-0", { "apps.kubernetes.io/pod-index": "0" });
    const found = 'which the selector "app=worker" of mesh "workers" finds, has no rank:';
    expect(await messageOf(makeJob(namespace, 1, "job"))).toContain(
      `pod set-0, ${found} it has no completion index of an Indexed Job; name what tells the rank with the option rank`,
    );
    await core().deleteNamespacedPod({ namespace, name: "set-0", gracePeriodSeconds: 0 });
    await until(async () => (await core().listNamespacedPod({ namespace })).items.length === 0);
    await makePod(namespace, "set-1", {});
    expect(await messageOf(makeJob(namespace, 1, "statefulset"))).toContain(
      `pod set-1, ${found} it is no pod of a StatefulSet;`,
    );
    expect(await messageOf(makeJob(namespace, 1, "default"))).toContain(
      `pod set-1, ${found} it belongs neither to an Indexed Job nor to a StatefulSet;`,
    );
  });

  test("a selector that finds no pod is an error", async () => {
    const namespace = await lab().namespace();
    expect(await messageOf(makeJob(namespace, 2))).toBe(
      `cannot start job "viceroy": the selector "app=worker" of mesh "workers" finds no pod in namespace "${namespace}"; look with ` +
        "kubectl get pods --show-labels",
    );
  });

  test("pods without a rank, with a rank too many, and two of one rank are errors that name them", async () => {
    const namespace = await lab().namespace();
    await makePod(namespace, "a", {});
    const found = 'which the selector "app=worker" of mesh "workers" finds,';
    expect(await messageOf(makeJob(namespace, 1))).toBe(
      `cannot start job "viceroy": pod a, ${found} has no rank: its label "rank" is no whole number; name what tells the rank with ` +
        "the option rank",
    );
    await core().deleteNamespacedPod({ namespace, name: "a", gracePeriodSeconds: 0 });
    await until(async () => (await core().listNamespacedPod({ namespace })).items.length === 0);
    await makePod(namespace, "b", { rank: "2" });
    expect(await messageOf(makeJob(namespace, 2))).toBe(
      `cannot start job "viceroy": pod b, ${found} has rank 2, and the mesh has hosts: 2; raise hosts, or let the selector find fewer pods`,
    );
    await makePod(namespace, "c", { rank: "2" });
    expect(await messageOf(makeJob(namespace, 3))).toBe(
      `cannot start job "viceroy": pods b and c, ${found} both have rank 2; delete one of them, or give it another rank`,
    );
  });

  /** Makes a pod of rank 0 that runs a program of Node.js. */
  async function makeProgram(namespace: string, program: string): Promise<void> {
    const { metadata, spec } = template({ rank: "0" }, false);
    const [container] = spec!.containers;
    const containers = [{ ...container!, command: ["node", "-e", program] }];
    await core().createNamespacedPod({
      namespace,
      body: { metadata: { ...metadata, name: "a" }, spec: { containers } },
    });
  }

  const serve = (answer: string) =>
    `require("node:net").createServer((socket) => { socket.on("error", () => {}); ${answer} }).listen(26600, process.env.POD_IP);`;

  test.each([
    [
      "does not run Viceroy",
      serve('socket.end("HTTP/1.1 400 Bad Request\\r\\nConnection: close\\r\\n\\r\\n\\r\\n");'),
      /the peer does not speak this protocol; is it a Viceroy process\?/,
    ],
    [
      "runs another version",
      serve('socket.write(Buffer.concat([Buffer.from("VCRH"), Buffer.from([9, 0]), Buffer.alloc(34)]));'),
      /the peer speaks version 9 of the handshake, this process \d+; install the same version of viceroy on both sides/,
    ],
    ["runs nothing at the port", "setInterval(() => {}, 1000);", /ECONNREFUSED/],
    [
      "ends again and again",
      'console.error("no such file: /app/main.js"); process.exit(3);',
      /container "worker" ends with exit code 3/,
    ],
  ])("a pod that %s is an error that says so", async (_what, program, expected) => {
    const namespace = await lab().namespace();
    await makeProgram(namespace, program);
    expect(await messageOf(makeJob(namespace, 1, { label: "rank" }, 3000))).toMatch(expected);
  });

  // The nodes of the cluster do not see this checkout, which the hosts run.
  test.runIf(backend !== "cluster")("pods with another token than the program are an error that says so", async () => {
    const namespace = await lab().namespace();
    await makePod(namespace, "a", { rank: "0" }, true);
    process.env["VICEROY_TOKEN"] = "the-token-was-rotated-and-pods-have-the-old-one";
    try {
      expect(await messageOf(makeJob(namespace, 1))).toMatch(/token/);
    } finally {
      process.env["VICEROY_TOKEN"] = token;
    }
  });
});
