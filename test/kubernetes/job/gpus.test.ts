/** Tests of jobs with GPUs: they wait for a node that has them, and the processes of a pod share its devices. */
import { CoreV1Api } from "@kubernetes/client-node";
import { Compute, Image, type JobEvent, KubernetesJob } from "viceroy/job";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew } from "../../proc/crew.js";
import { until } from "../../proc/until.js";
import { setResource } from "../lab/access.js";
import { onKubernetes } from "../lab/on-kubernetes.js";

let crew: Crew;
beforeAll(async () => {
  crew = await loadCrew();
});

onKubernetes("jobs with GPUs", (lab) => {
  const jobs: { kill(): Promise<void> }[] = [];
  const resources: string[] = [];
  afterEach(async () => {
    await Promise.all(jobs.splice(0).map((job) => job.kill()));
    for (const resource of resources.splice(0)) await setResource(lab(), lab().nodes[0]!, resource, null);
  });

  test.each([
    // The device plugin of NVIDIA sets this variable in the containers to which it gives devices. That of AMD sets none.
    ["nvidia.com/gpu", {}, { NVIDIA_VISIBLE_DEVICES: "GPU-0aa1,GPU-0bb2" }, ["GPU-0aa1", "GPU-0bb2"]],
    ["amd.com/gpu", { gpuResource: "amd.com/gpu" }, {}, ["unset", "unset"]],
  ])(
    "wait with the words of the scheduler until a node has %s, and run there",
    async (resource, options, env, seen) => {
      const namespace = await lab().namespace();
      const compute = new Compute({
        gpus: 2,
        image: Image.from(lab().nodeImage).env(env as Record<string, string>),
        ...options,
      });
      const job = new KubernetesJob({
        namespace,
        meshes: { trainers: { hosts: 1, compute } },
        kubeconfig: lab().kubeconfig,
        cache: null,
        progress: "silent",
      });
      jobs.push(job);
      await job.apply();
      const events: JobEvent[] = [];
      void (async () => {
        for await (const event of job.watch()) events.push(event);
      })();
      const state = job.state();
      const isWaiting = ({ kind, reason }: JobEvent) =>
        kind === "pending" && reason.includes(`has no node yet: 0/2 nodes are available: 2 Insufficient ${resource}.`);
      await until(() => events.some(isWaiting));
      resources.push(resource);
      await setResource(lab(), lab().nodes[0]!, resource, "2");
      const { trainers } = await state;
      const { items } = await lab().config.makeApiClient(CoreV1Api).listNamespacedPod({ namespace });
      expect(items[0]!.spec).toMatchObject({
        nodeName: lab().nodes[0],
        containers: [{ resources: { limits: { [resource]: "2" } } }],
      });
      const workers = trainers.spawnProcs({ gpus: 2 }).spawn("crew", crew.SteelWorker);
      expect([...(await workers.env.call("CUDA_VISIBLE_DEVICES")).values()]).toEqual(seen);
    },
  );
});
