/** Tests of jobs that take pods which are there: their ranks, what is told about wrong ones, and that they stay. */
import { fileURLToPath } from "node:url";
import { CoreV1Api, type V1Pod } from "@kubernetes/client-node";
import { JobStartError, KubernetesJob } from "viceroy/job";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew } from "../../proc/crew.js";
import { until } from "../../proc/until.js";
import { backend, onKubernetes } from "../lab/on-kubernetes.js";

const token = "selected-pods-of-a-test-have-this-token-0123";
const cli = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));

let crew: Crew;
beforeAll(async () => {
  process.env["VICEROY_TOKEN"] = token;
  crew = await loadCrew();
});

onKubernetes("pods that a job takes", (lab) => {
  const jobs: KubernetesJob<string>[] = [];
  afterEach(async () => {
    await Promise.all(jobs.splice(0).map((job) => job.kill()));
  });

  const core = () => lab().config.makeApiClient(CoreV1Api);

  function makeJob(namespace: string, hosts: number): KubernetesJob<"workers"> {
    const job = new KubernetesJob<"workers">({
      namespace,
      kubeconfig: lab().kubeconfig,
      cache: null,
      progress: "silent",
      hostTimeout: "30s",
      meshes: { workers: { hosts, selector: "app=worker", rank: { label: "rank" } } },
    });
    jobs.push(job as unknown as KubernetesJob<string>);
    return job;
  }

  /** Makes a pod, with a host of Viceroy if `isHost`. */
  async function makePod(namespace: string, name: string, rank: string | undefined, isHost = false): Promise<void> {
    const listen = `exec node "$CLI" host --print --listen "tcp://$POD_IP:26600"`;
    const pod: V1Pod = {
      metadata: { name, labels: { app: "worker", ...(rank === undefined ? {} : { rank }) } },
      spec: {
        containers: [
          {
            name: "worker",
            image: lab().nodeImage,
            command: ["sh", "-c", isHost ? listen : "exec sleep 600"],
            env: [
              { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
              { name: "VICEROY_TOKEN", value: token },
              { name: "CLI", value: cli },
            ],
            ...(isHost ? { readinessProbe: { tcpSocket: { port: 26_600 as never }, periodSeconds: 1 } } : {}),
          },
        ],
      },
    };
    await core().createNamespacedPod({ namespace, body: pod });
  }

  async function messageOf(job: KubernetesJob<"workers">): Promise<string> {
    const error = await job.state().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(JobStartError);
    return (error as Error).message;
  }

  // The nodes of the cluster do not see this checkout, which the hosts run.
  test.runIf(backend !== "cluster")("actors run in the pods by the rank of a label, and the pods stay", async () => {
    const namespace = await lab().namespace();
    await makePod(namespace, "b", "0", true);
    await makePod(namespace, "a", "1", true);
    const job = makeJob(namespace, 2);
    const { workers } = await job.state();
    const names = await workers.spawnProcs().spawn("crew", crew.SteelWorker).env.call("HOSTNAME");
    expect([...names.values()]).toHaveLength(2);
    const lines: string[] = [];
    for await (const { rank, line } of job.logs()) if (line.includes("listens at")) lines.push(`${rank}`);
    expect(lines).toEqual(["0", "1"]);
    await job.kill();
    const { items } = await core().listNamespacedPod({ namespace });
    expect(items.map(({ metadata, status }) => [metadata!.name, status!.phase])).toEqual([
      ["a", "Running"],
      ["b", "Running"],
    ]);
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
    await makePod(namespace, "a", undefined);
    const found = 'which the selector "app=worker" of mesh "workers" finds,';
    expect(await messageOf(makeJob(namespace, 1))).toBe(
      `cannot start job "viceroy": pod a, ${found} has no rank: its label "rank" is no whole number; name what tells the rank with ` +
        "the option rank",
    );
    await core().deleteNamespacedPod({ namespace, name: "a", gracePeriodSeconds: 0 });
    await until(async () => (await core().listNamespacedPod({ namespace })).items.length === 0);
    await makePod(namespace, "b", "2");
    expect(await messageOf(makeJob(namespace, 2))).toBe(
      `cannot start job "viceroy": pod b, ${found} has rank 2, and the mesh has hosts: 2`,
    );
    await makePod(namespace, "c", "2");
    expect(await messageOf(makeJob(namespace, 3))).toBe(
      `cannot start job "viceroy": pods b and c, ${found} both have rank 2`,
    );
  });
});
