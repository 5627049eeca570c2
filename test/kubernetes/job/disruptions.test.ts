/** Tests of what the cluster does to the pods of a job that runs: it goes on, and its events have the words of Kubernetes. */
import { CoreV1Api, PolicyV1Api, SchedulingV1Api } from "@kubernetes/client-node";
import type { HostMesh } from "viceroy";
import { Compute, type KubernetesJob } from "viceroy/job";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew } from "../../proc/crew.js";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { until } from "../../proc/until.js";
import { quantity } from "../api-server/quantity.js";
import { drain, uncordon } from "../lab/access.js";
import { EventsOfJob, JobsOfTests, replacementMs } from "../lab/jobs-of-tests.js";
import { backend, onKubernetes } from "../lab/on-kubernetes.js";

// The processes of a pod that ends are lost.
collectUnhandledFaults();

onKubernetes("pods that the cluster ends", (lab) => {
  const jobs = new JobsOfTests(lab);
  let crew: Crew;
  let namespace: string;
  let job: KubernetesJob<"trainers" | "victims">;
  let meshes: Record<"trainers" | "victims", HostMesh<"hosts">>;
  /** An amount of memory of which a node does not have twice. */
  let large: number;

  const core = () => lab().config.makeApiClient(CoreV1Api);

  beforeAll(async () => {
    crew = await loadCrew();
    namespace = await lab().namespace();
    const image = lab().nodeImage;
    const { status } = await core().readNode({ name: "n1" });
    large = Math.floor(quantity(status!.allocatable!["memory"]!) * 0.6);
    // The actors of a pod that is told to end have this time less 5 s.
    const template = { spec: { terminationGracePeriodSeconds: 15 } };
    const onFirstNode = { memory: large, nodeSelector: { "kubernetes.io/hostname": "n1" } };
    job = jobs.make({
      namespace,
      meshes: {
        trainers: { hosts: 3, compute: new Compute({ image, template }) },
        victims: { hosts: 1, compute: new Compute({ image, template, ...onFirstNode }) },
      },
      hostTimeout: { lost: replacementMs },
    });
    meshes = await job.state();
  });
  afterAll(() => jobs.killAll());

  /** Waits until a host was lost and is back, and checks that actors run there again. */
  async function backAgain(events: EventsOfJob, mesh: "trainers" | "victims", rank: number): Promise<void> {
    await until(() => events.reasons("host-replaced", { mesh, rank }).length > 0, replacementMs);
    const host = meshes[mesh].slice({ hosts: rank });
    expect(await host.spawnProcs().spawn("again", crew.SteelWorker).echo.callOne("up")).toBe("up");
  }

  test("a drain that a PodDisruptionBudget forbids does not disturb the job, and one that it allows is warned about", async () => {
    const policy = lab().config.makeApiClient(PolicyV1Api);
    const events = new EventsOfJob(job);
    const budget = (minAvailable: number) => ({
      metadata: { name: "budget" },
      spec: { minAvailable, selector: { matchLabels: { "viceroy/mesh": "trainers" } } },
    });
    await policy.createNamespacedPodDisruptionBudget({ namespace, body: budget(3) });
    const trainers = "viceroy/mesh=trainers";
    const { spec, metadata } = await jobs.podOf(namespace, "trainers", 0);
    const node = spec!.nodeName!;
    const workers = meshes.trainers.spawnProcs().spawn("crew", crew.SteelWorker);
    await workers.echo.call("before");
    try {
      await expect(drain(lab(), node, namespace, trainers)).rejects.toMatchObject({ code: 429 });
      expect(events.reasons("warned")).toEqual([]);
      await policy.deleteNamespacedPodDisruptionBudget({ namespace, name: "budget" });
      await until(() =>
        drain(lab(), node, namespace, trainers).then(
          () => true,
          (error: { code?: number }) => error.code !== 429,
        ),
      );
      await events.saw(
        "warned",
        new RegExp(`^pod ${metadata!.name} of trainers\\[0\\] is evicted, as when its node is drained: `),
      );
      // The daemon gives its actors the grace period.
      expect(await workers.slice({ hosts: 0 }).echo.callOne("still here")).toBe("still here");
      await backAgain(events, "trainers", 0);
      const kinds = events.all.filter(({ mesh, rank }) => mesh === "trainers" && rank === 0).map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind !== "pending" && kind !== "starting" && kind !== "running")).toEqual([
        "warned",
        "host-lost",
        "host-replaced",
      ]);
      expect((await jobs.podOf(namespace, "trainers", 0)).spec!.nodeName).not.toBe(node);
      // Ranks that were on the same node move, too.
      const moved = events.all.flatMap(({ kind, mesh, rank }) =>
        kind === "warned" && mesh === "trainers" ? [rank!] : [],
      );
      for (const rank of new Set(moved)) await backAgain(events, "trainers", rank);
    } finally {
      await uncordon(lab(), node);
    }
  });

  test("a preempted pod is warned about, waits with the words of the scheduler, and is back when there is room", async () => {
    const scheduling = lab().config.makeApiClient(SchedulingV1Api);
    const priorityClassName = `urgent-${namespace}`;
    await scheduling.createPriorityClass({ body: { metadata: { name: priorityClassName }, value: 1000 } });
    const events = new EventsOfJob(job);
    const requests = { memory: `${large}` };
    const container = {
      name: "main",
      image: lab().nodeImage,
      command: ["node", "-e", "setInterval(() => {}, 1000)"],
      resources: { requests },
    };
    const spec = {
      priorityClassName,
      terminationGracePeriodSeconds: 1,
      nodeSelector: { "kubernetes.io/hostname": "n1" },
      containers: [container],
    };
    try {
      await core().createNamespacedPod({ namespace, body: { metadata: { name: "urgent" }, spec } });
      await events.saw(
        "warned",
        /^pod viceroy-victims-0-\w+ of victims\[0\] is preempted, because a pod with a higher priority needs its node: /,
      );
      await events.saw("host-lost", /^pod viceroy-victims-0-\w+ of victims\[0\] is preempted/);
      await events.saw(
        "pending",
        /^pod viceroy-victims-0-\w+ has no node yet: 0\/2 nodes are available: .*1 Insufficient memory/,
      );
      await core().deleteNamespacedPod({ namespace, name: "urgent", gracePeriodSeconds: 0 });
      await backAgain(events, "victims", 0);
    } finally {
      await scheduling.deletePriorityClass({ name: priorityClassName });
    }
  });

  test.skipIf(backend === "cluster")(
    "a pod that its node evicts for lack of disk is lost with the words of the node, and is replaced",
    async () => {
      const events = new EventsOfJob(job);
      const { metadata } = await jobs.podOf(namespace, "trainers", 1);
      await lab().evictByNode(namespace, metadata!.name!, "ephemeral-storage");
      await events.saw("host-lost", /was evicted by its node: The node was low on resource: ephemeral-storage\.$/);
      await backAgain(events, "trainers", 1);
    },
  );

  test.skipIf(backend === "cluster")(
    "a host that uses too much memory is lost with that reason, and is replaced",
    async () => {
      const events = new EventsOfJob(job);
      const { metadata } = await jobs.podOf(namespace, "trainers", 2);
      await lab().exceedMemory(namespace, metadata!.name!);
      await events.saw(
        "host-lost",
        /^pod viceroy-trainers-2-\w+ of trainers\[2\] container "host" has used more memory than its limit and was killed \(OOMKilled\)$/,
      );
      await backAgain(events, "trainers", 2);
    },
  );
});
