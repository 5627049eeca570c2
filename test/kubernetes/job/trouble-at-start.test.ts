/** Tests of pods that do not come up: what can pass is waited for, and what cannot is an error, each with the words of Kubernetes. */
import { CoreV1Api, PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";
import { Compute, Image, JobStartError } from "viceroy/job";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { until } from "../../proc/until.js";
import { EventsOfJob, JobsOfTests } from "../lab/jobs-of-tests.js";
import { backend, onKubernetes } from "../lab/on-kubernetes.js";

onKubernetes("pods that do not come up", (lab) => {
  const jobs = new JobsOfTests(lab);
  let namespace: string;
  beforeAll(async () => {
    namespace = await lab().namespace();
  });
  afterEach(() => jobs.killAll());

  const core = () => lab().config.makeApiClient(CoreV1Api);
  const labelNode = (labels: Record<string, string | null>) =>
    core().patchNode(
      { name: "n1", body: { metadata: { labels } } },
      setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
    );

  test("a job waits for a quota and for a node, and tells so in events and lines of progress", async () => {
    const quota = { metadata: { name: "small" }, spec: { hard: { pods: "0" } } };
    await core().createNamespacedResourceQuota({ namespace, body: quota });
    // A quota counts when its controller has seen it.
    await until(async () => {
      const { status } = await core().readNamespacedResourceQuota({ namespace, name: "small" });
      return backend === "stand-in" || status?.hard?.["pods"] === "0";
    });
    const pool = { "viceroy.test/pool": namespace };
    const compute = new Compute({ image: lab().nodeImage, nodeSelector: pool });
    const written: string[] = [];
    const spy = vi.spyOn(process.stderr, "write").mockImplementation((text) => written.push(String(text)) > 0);
    try {
      const job = jobs.make({ namespace, meshes: { trainers: { hosts: 1, compute } }, progress: "auto" });
      await job.apply();
      const events = new EventsOfJob(job);
      const state = job.state();
      const refused =
        /^Job viceroy-trainers cannot make a pod: .*exceeded quota: small, requested: pods=1, used: pods=0, limited: pods=0$/;
      await events.saw("pending", refused);
      await core().deleteNamespacedResourceQuota({ namespace, name: "small" });
      const unplaced =
        /^pod viceroy-trainers-0-\w+ has no node yet: 0\/2 nodes are available: 2 node\(s\) didn't match Pod's node affinity\/selector/;
      await events.saw("pending", unplaced);
      await labelNode(pool);
      await state;
      const lines = written.map((line) => line.replace(/^viceroy job viceroy: waiting: /, "").trim());
      expect(lines.some((line) => refused.test(line))).toBe(true);
      expect(lines.some((line) => unplaced.test(line))).toBe(true);
    } finally {
      spy.mockRestore();
      await labelNode({ "viceroy.test/pool": null });
    }
  });

  test("a host that crashes at its start is an error with what it has printed, and nothing is left", async () => {
    const env = [{ name: "NODE_OPTIONS", value: "--require /no-such-module.cjs" }];
    const compute = new Compute({
      image: lab().nodeImage,
      template: { spec: { containers: [{ name: "host", env }] } },
    });
    const error = await jobs.errorOf(jobs.make({ namespace, meshes: { trainers: { hosts: 1, compute } } }));
    expect(error).toBeInstanceOf(JobStartError);
    expect(error.message).toMatch(
      /^cannot start job "viceroy": pod viceroy-trainers-0-\w+ of trainers\[0\] on node n[12] container "host" ends with exit code 1: /,
    );
    expect(error.message).toContain("Cannot find module '/no-such-module.cjs'");
    expect(await jobs.pods(namespace)).toEqual([]);
  });

  test.skipIf(backend === "cluster")(
    "a container that uses too much memory before its host is up is an error that says what to do",
    async () => {
      const job = jobs.make({
        namespace,
        meshes: { trainers: { hosts: 1, image: Image.from(lab().nodeImage).run("exec sleep 600") } },
      });
      const failing = jobs.errorOf(job);
      const { metadata } = await jobs.podOf(namespace, "trainers", 0);
      const state = async () => {
        const { status } = await core().readNamespacedPod({ namespace, name: metadata!.name! });
        return status?.initContainerStatuses?.[0]?.state?.running;
      };
      await until(async () => (await state()) !== undefined);
      await lab().exceedMemory(namespace, metadata!.name!);
      const error = await failing;
      expect(error).toBeInstanceOf(JobStartError);
      expect(error.message).toMatch(
        /container "image" has used more memory than its limit and was killed \(OOMKilled\); raise memory of the mesh, or let its actors use less$/,
      );
    },
  );

  test("a port of the host that another container of the pod has taken is named in the error", async () => {
    const port = 26_601;
    const listen = `require("node:net").createServer().listen(${port}, process.env.POD_IP)`;
    const taker = {
      name: "taker",
      image: lab().nodeImage,
      command: ["node", "-e", listen],
      restartPolicy: "Always",
      env: [{ name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } }],
      startupProbe: { tcpSocket: { port }, periodSeconds: 1, failureThreshold: 120 },
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
    };
    const compute = new Compute({ image: lab().nodeImage, template: { spec: { initContainers: [taker] } } });
    const error = await jobs.errorOf(jobs.make({ namespace, meshes: { trainers: { hosts: 1, compute } } }));
    expect(error).toBeInstanceOf(JobStartError);
    expect(error.message).toMatch(/ container "host" ends with exit code 70: /);
    expect(error.message).toMatch(new RegExp(`EADDRINUSE.*${port}`));
  });
});
