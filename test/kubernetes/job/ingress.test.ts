/** Tests of drivers that reach a job by the URL to which its ingress leads. The test stands for the ingress controller: it finds the pod as the Service does. */
import { CoreV1Api, NetworkingV1Api } from "@kubernetes/client-node";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { areConnected } from "../../host/tcp-connections.js";
import { type Crew, loadCrew } from "../../proc/crew.js";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { until } from "../../proc/until.js";
import { daemonOf } from "../lab/daemon-of.js";
import { JobsOfTests } from "../lab/jobs-of-tests.js";
import { backend, onKubernetes } from "../lab/on-kubernetes.js";

let crew: Crew;
// The processes of a pod that is deleted are lost.
collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

onKubernetes("jobs with an ingress", (lab) => {
  const jobs = new JobsOfTests(lab);
  afterEach(async () => {
    vi.unstubAllEnvs();
    await jobs.killAll();
  });

  /** Returns the addresses of the port of the backend of the Ingress. */
  async function addressesBehind(namespace: string, name: string): Promise<string[]> {
    const core = lab().config.makeApiClient(CoreV1Api);
    const ingress = await lab().config.makeApiClient(NetworkingV1Api).readNamespacedIngress({ namespace, name });
    const { backend: target } = ingress.spec!.rules![0]!.http!.paths[0]!;
    const service = await core.readNamespacedService({ namespace, name: target.service!.name });
    const labelSelector = Object.entries(service.spec!.selector!)
      .map(([key, value]) => `${key}=${value}`)
      .join(",");
    const { items } = await core.listNamespacedPod({ namespace, labelSelector });
    return items.flatMap(({ status }) => (status?.podIP ? [`${status.podIP}:${service.spec!.ports![0]!.port}`] : []));
  }

  // In the real cluster, the network policy lets only pods reach the port.
  test.runIf(backend !== "cluster")(
    "the Ingress leads to the host of rank 0, through which a driver reaches the others, and ends with the job",
    async () => {
      const namespace = await lab().namespace();
      const meshes = { trainers: { hosts: 2, image: lab().nodeImage }, loaders: { hosts: 1, image: lab().nodeImage } };
      const ingress = { host: "train.example.com", from: { namespaces: { app: "ingress" } } };
      const job = jobs.make({ namespace, name: "train", meshes, ingress });
      await job.apply();
      let addresses: string[] = [];
      await until(async () => {
        addresses = await addressesBehind(namespace, "train");
        return addresses.length > 0;
      });
      expect(addresses).toEqual([expect.stringMatching(/:26602$/)]);
      vi.stubEnv("VICEROY_API_URL", `ws://${addresses[0]}/`);
      const { trainers } = await job.state();
      const workers = trainers.spawnProcs().spawn("crew", crew.SteelWorker);
      expect([...(await workers.env.call("VICEROY_JOB_RANK")).values()]).toEqual(["0", "1"]);
      const [first, second] = [...(await workers.where.call()).values()].map(({ pid }) => daemonOf(pid));
      expect(areConnected(process.pid, second!)).toBe(false);
      expect(first).not.toBe(second);
      await job.kill();
      const { items } = await lab().config.makeApiClient(NetworkingV1Api).listNamespacedIngress({ namespace });
      expect(items).toEqual([]);
    },
  );
});
