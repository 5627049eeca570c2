/** Tests of drivers that reach the API server of a cluster, and none of its pods: they use the API server as the way to a pod, and that pod as the way to the others. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { connect } from "node:tls";
import { fileURLToPath } from "node:url";
import { CoreV1Api } from "@kubernetes/client-node";
import { KubernetesJob } from "viceroy/job";
import { afterEach, beforeAll, expect, test } from "vitest";
import { openAccess } from "../../../runtime/job/kubernetes/api/cluster-access.js";
import { HttpApi } from "../../../runtime/job/kubernetes/api/http-api.js";
import { areConnected } from "../../host/tcp-connections.js";
import { startJobDriver } from "../../job/job-driver.js";
import { newCache } from "../../job/job-program.js";
import { type Crew, loadCrew } from "../../proc/crew.js";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { until } from "../../proc/until.js";
import { daemonOf } from "../lab/daemon-of.js";
import { broughtCode, JobsOfTests } from "../lab/jobs-of-tests.js";
import { backend, onKubernetes } from "../lab/on-kubernetes.js";

const cli = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));
const module = fileURLToPath(new URL("job-of-options.mjs", import.meta.url));

let crew: Crew;
// The processes of a pod that is deleted are lost.
collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

onKubernetes("jobs of drivers outside of the cluster", (lab) => {
  const jobs = new JobsOfTests(lab);
  afterEach(() => jobs.killAll());

  async function makeJob(hosts: number) {
    const namespace = await lab().namespace();
    const meshes = { trainers: { hosts, image: lab().nodeImage } };
    return { namespace, job: jobs.make({ namespace, meshes, reach: "api-server" }) };
  }

  test("actors run in all pods, and the driver connects to none of them", async () => {
    const { job } = await makeJob(3);
    const { trainers } = await job.state();
    const workers = trainers.spawnProcs().spawn("crew", crew.SteelWorker);
    const ranks = await workers.env.call("VICEROY_JOB_RANK");
    expect([...ranks.values()]).toEqual(["0", "1", "2"]);
    const [asker, far] = [workers.slice({ hosts: 0 }), workers.slice({ hosts: 2 })];
    expect(await asker.order.callOne(far, "hello")).toEqual(["hello"]);
    // Pods of the cluster have process ids of their own.
    if (backend === "cluster") return;
    const pids = [...(await workers.where.call()).values()].map(({ pid }) => pid);
    for (const pid of pids) expect(areConnected(process.pid, pid)).toBe(false);
    // The stand-in of the kubelet, which may be in this process, connects to the first daemon.
    for (const pid of pids.slice(1)) expect(areConnected(process.pid, daemonOf(pid))).toBe(false);
  });

  test("calls are handled once and in order while the API server restarts", async () => {
    const { job } = await makeJob(2);
    const { trainers } = await job.state();
    const worker = trainers.spawnProcs().spawn("crew", crew.SteelWorker).slice({ hosts: 1 });
    const answers: Promise<number>[] = [];
    for (let i = 1; i <= 60; i++) {
      answers.push(worker.keep.callOne(new Uint8Array([i])));
      if (i === 20) await lab().stopApiServer();
      if (i === 40) await lab().startApiServer();
    }
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 60 }, (_, i) => i));
  });

  test("the driver goes on through another pod when the one that it uses is deleted, and loses nothing of the others", async () => {
    const { namespace, job } = await makeJob(2);
    const { trainers } = await job.state();
    const worker = trainers.spawnProcs().spawn("crew", crew.SteelWorker).slice({ hosts: 1 });
    await worker.keep.callOne(new Uint8Array([100]));
    const first = await jobs.podOf(namespace, "trainers", 0);
    const core = lab().config.makeApiClient(CoreV1Api);
    await core.deleteNamespacedPod({ namespace, name: first.metadata!.name!, gracePeriodSeconds: 1 });
    await until(async () =>
      (await jobs.pods(namespace)).every(({ metadata }) => metadata!.uid !== first.metadata!.uid),
    );
    // The actor of the other pod has kept what it knows, and each call is handled once.
    let before = 100;
    for (let i = 1; i <= 20; i++) {
      expect(await worker.keep.callOne(new Uint8Array([i]))).toBe(before);
      before = i;
    }
  });

  test("`viceroy job port` reaches ports of pods through the API server", async () => {
    const namespace = await lab().namespace();
    const meshes = { trainers: { hosts: 2, image: lab().nodeImage } };
    const { kubeconfig } = lab();
    const options = {
      namespace,
      meshes,
      kubeconfig,
      reach: "api-server",
      cache: newCache(),
      sync: broughtCode,
      progress: "silent",
    } as const;
    await jobs.make(options).state();
    const args = [cli, "job", "port", "--job", module, "--rank", "1", "0:26600", "--json"];
    const env = { ...process.env, OPTIONS: JSON.stringify(options) };
    const command = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
    try {
      const [line] = await once(createInterface(command.stdout), "line");
      const { local, port } = JSON.parse(line);
      expect(port).toBe(26_600);
      const [host, here] = local.split(":");
      const socket = connect({ host, port: Number(here), rejectUnauthorized: false });
      await once(socket, "secureConnect");
      // The daemon of the host with this rank answers.
      expect(socket.getPeerCertificate().subjectaltname).toMatch(/^URI:viceroy:.*\/hosts\/trainers\/1$/);
      socket.destroy();
    } finally {
      command.kill();
    }
  });

  test("a port at which nothing listens and a pod that is not there are errors that name them", async () => {
    const { namespace, job } = await makeJob(1);
    await job.state();
    const pod = (await jobs.podOf(namespace, "trainers", 0)).metadata!.name!;
    const { kubeconfig } = lab();
    const api = new HttpApi(await openAccess({ kubeconfig, context: null }), namespace);
    const endOf = async (name: string, port: number) => {
      const pipe = await api.openPort(name, port, AbortSignal.timeout(10_000));
      const memory = new Uint8Array(1024);
      return new Promise<Error | undefined>((closed) => pipe.open({ buffer: () => memory, received() {}, closed }));
    };
    expect((await endOf(pod, 9))?.message).toMatch(
      new RegExp(`^cannot reach port 9 of pod ${pod} through the API server: .*\\b9\\b`),
    );
    await expect(endOf("none", 26_600)).rejects.toThrow(/pods "none" not found/);
  });

  // Elsewhere, the machine of the test reaches the pods.
  test.runIf(backend === "cluster")("a program on a laptop finds out that it reaches no pod", async () => {
    const meshes = { trainers: { hosts: 2, image: lab().nodeImage } };
    const { kubeconfig } = lab();
    const namespace = await lab().namespace();
    const options = { namespace, meshes, kubeconfig, cache: newCache(), sync: broughtCode };
    const driver = startJobDriver(lab().laptop!, "on-kubernetes.ts", options, "kill", process.env);
    expect((await driver.outcome()).pids).toHaveLength(2);
    expect(await driver.exited).toBe(0);
  });
});

test("a way to pods that does not exist is refused", () => {
  const make = () => new KubernetesJob({ namespace: "x", meshes: {}, reach: "ssh" as never });
  expect(make).toThrow('cannot make a job: expected reach as "direct" or "api-server", got "ssh"');
});
