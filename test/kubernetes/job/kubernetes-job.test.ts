/** Tests of jobs whose hosts are pods of Kubernetes: they come up, are replaced, and leave nothing behind. */
import { readdirSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { BatchV1Api, CoreV1Api } from "@kubernetes/client-node";
import {
  Compute,
  Image,
  type JobEvent,
  JobStartError,
  JobStartTimeoutError,
  JobSubmitError,
  KubernetesJob,
} from "viceroy/job";
import { afterEach, beforeAll, expect, test } from "vitest";
import { startJobDriver } from "../../job/job-driver.js";
import { newCache } from "../../job/job-program.js";
import { type Crew, loadCrew } from "../../proc/crew.js";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { until } from "../../proc/until.js";
import { daemonOf } from "../lab/daemon-of.js";
import { broughtCode } from "../lab/jobs-of-tests.js";
import { backend, onKubernetes } from "../lab/on-kubernetes.js";

let crew: Crew;
// The processes of a pod that is deleted are lost.
collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

onKubernetes("jobs of Kubernetes", (lab) => {
  const jobs: { kill(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(jobs.splice(0).map((job) => job.kill()));
  });

  type Options = ConstructorParameters<typeof KubernetesJob<"trainers">>[0];

  function makeJob(namespace: string, options: Partial<Options> = {}): KubernetesJob<"trainers"> {
    const job = new KubernetesJob<"trainers">({
      namespace,
      meshes: { trainers: { hosts: 2, image: lab().nodeImage } },
      kubeconfig: lab().kubeconfig,
      cache: newCache(),
      sync: broughtCode,
      progress: "silent",
      ...options,
    });
    jobs.push(job);
    return job;
  }

  async function podsOf(namespace: string) {
    const { items } = await lab().config.makeApiClient(CoreV1Api).listNamespacedPod({ namespace });
    return items;
  }

  function collect(job: KubernetesJob<"trainers">): JobEvent[] {
    const events: JobEvent[] = [];
    void (async () => {
      for await (const event of job.watch()) events.push(event);
    })();
    return events;
  }

  test("actors run in the pods of a mesh, and a killed job leaves no object", async () => {
    const namespace = await lab().namespace({ "pod-security.kubernetes.io/enforce": "restricted" });
    const job = makeJob(namespace);
    const { trainers } = await job.state();
    const words = await trainers.spawnProcs().spawn("crew", crew.SteelWorker).env.call("VICEROY_JOB_RANK");
    expect([...words.values()]).toEqual(["0", "1"]);
    const used = await lab()
      .config.makeApiClient(CoreV1Api)
      .readNamespacedSecret({ namespace, name: "viceroy-secrets" });
    expect(Object.keys(used.data!).sort()).toEqual(["trainers-0", "trainers-1"]);
    await job.kill();
    expect(await podsOf(namespace)).toEqual([]);
    const { items } = await lab().config.makeApiClient(CoreV1Api).listNamespacedConfigMap({ namespace });
    expect(items.map(({ metadata }) => metadata!.name).filter((name) => name?.startsWith("viceroy"))).toEqual([]);
  });

  // Pods of the cluster have process ids of their own.
  test.runIf(backend !== "cluster")(
    "the store of code is below the folder of the image, so that programs find the packages of the image",
    async () => {
      const job = makeJob(await lab().namespace(), { meshes: { trainers: { hosts: 1, image: lab().nodeImage } } });
      const { trainers } = await job.state();
      const { pid } = await trainers.spawnProcs().spawn("crew", crew.SteelWorker).slice({ hosts: 0 }).where.callOne();
      expect(readdirSync(`/proc/${pid}/root/viceroy/app/.viceroy-store`)).toContain("viceroy");
    },
  );

  test("what pods print can be read, also while they run", async () => {
    const namespace = await lab().namespace();
    const job = makeJob(namespace);
    await job.state();
    const lines: string[] = [];
    for await (const { mesh, rank, line } of job.logs()) lines.push(`${mesh}[${rank}] ${line}`);
    for (const rank of [0, 1]) {
      expect(
        lines.some((line) => line.startsWith(`trainers[${rank}] viceroy host `) && line.includes("listens at")),
      ).toBe(true);
    }
  });

  /** The rules of a driver, with what it may do with pods. */
  const rules = (...podVerbs: string[]) => [
    { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch", "delete", ...podVerbs] },
    { apiGroups: [""], resources: ["configmaps", "events", "secrets", "services"], verbs: ["*"] },
    { apiGroups: ["batch", "networking.k8s.io"], resources: ["jobs", "networkpolicies"], verbs: ["*"] },
  ];

  test.each([
    ["at once", ["patch"]],
    ["after the delay of the Job controller, for a driver that may not patch pods", []],
  ])(
    "a pod that is deleted is warned about, and another one takes its rank with a secret of its own %s",
    async (_when, verbs) => {
      const namespace = await lab().namespace();
      const kubeconfig = await lab().user(namespace, rules(...verbs));
      const job = makeJob(namespace, { kubeconfig, hostTimeout: { lost: "90s" } });
      const { trainers } = await job.state();
      const events = collect(job);
      const workers = trainers.spawnProcs().spawn("crew", crew.SteelWorker);
      await workers.echo.call("before");
      const [first] = (await podsOf(namespace)).filter(
        ({ metadata }) => metadata!.annotations!["batch.kubernetes.io/job-completion-index"] === "0",
      );
      const core = lab().config.makeApiClient(CoreV1Api);
      await core.deleteNamespacedPod({ namespace, name: first!.metadata!.name!, gracePeriodSeconds: 5 });
      await until(() => events.some(({ kind, rank }) => kind === "warned" && rank === 0));
      // The daemon gives its actors the grace period.
      expect(await workers.slice({ hosts: 0 }).echo.callOne("still here")).toBe("still here");
      await until(() => events.some(({ kind, rank }) => kind === "host-replaced" && rank === 0), 100_000);
      const kinds = events.filter(({ rank }) => rank === 0).map(({ kind }) => kind);
      expect(kinds.filter((kind) => ["warned", "host-lost", "host-replaced"].includes(kind))).toEqual([
        "warned",
        "host-lost",
        "host-replaced",
      ]);
      const words = await trainers.spawnProcs().spawn("again", crew.SteelWorker).env.call("VICEROY_JOB_RANK");
      expect([...words.values()]).toEqual(["0", "1"]);
    },
  );

  test("a driver that was killed leaves its pods to the next one", async () => {
    const namespace = await lab().namespace();
    const options = {
      namespace,
      kubeconfig: lab().kubeconfig,
      cache: newCache(),
      sync: broughtCode,
      meshes: { trainers: { hosts: 2, image: lab().nodeImage } },
    };
    const driver = startJobDriver([], "on-kubernetes.ts", options, "wait", process.env);
    const { applyId, message } = await driver.outcome();
    expect(message).toBe(undefined);
    const before = (await podsOf(namespace)).map(({ metadata }) => metadata!.uid).sort();
    driver.child.kill("SIGKILL");
    await driver.exited;
    const { kubeconfig, ...next } = options;
    const job = makeJob(namespace, { ...next, kubeconfig });
    const { trainers } = await job.state();
    expect(job.applyId).toBe(applyId);
    expect([...(await trainers.spawnProcs().spawn("crew", crew.SteelWorker).echo.call("two")).values()]).toHaveLength(
      2,
    );
    expect((await podsOf(namespace)).map(({ metadata }) => metadata!.uid).sort()).toEqual(before);
  });

  test("a program that has used its pods ends after its last line, and leaves them to the next one", async () => {
    const namespace = await lab().namespace();
    const { kubeconfig, nodeImage: image } = lab();
    const options = {
      namespace,
      kubeconfig,
      cache: newCache(),
      sync: broughtCode,
      meshes: { trainers: { hosts: 1, image } },
    };
    const driver = startJobDriver([], "on-kubernetes.ts", options, "leave", process.env);
    expect((await driver.outcome()).message).toBe(undefined);
    expect(await driver.exited).toBe(0);
    expect(await podsOf(namespace)).toHaveLength(1);
    await makeJob(namespace, options).kill();
    expect(await podsOf(namespace)).toEqual([]);
  });

  // Pods of the cluster have process ids of their own.
  test.runIf(backend !== "cluster")(
    "a driver that finds a pod which has just crashed waits for the next one",
    async () => {
      const namespace = await lab().namespace();
      const options = {
        cache: newCache(),
        sync: broughtCode,
        meshes: { trainers: { hosts: 2, image: lab().nodeImage } },
      };
      const known = { namespace, kubeconfig: lab().kubeconfig, ...options };
      const driver = startJobDriver([], "on-kubernetes.ts", known, "wait", process.env);
      const { applyId, pids } = await driver.outcome();
      const daemon = daemonOf(pids![0]!);
      driver.child.kill("SIGKILL");
      await driver.exited;
      // The Job cannot make another pod yet.
      const core = lab().config.makeApiClient(CoreV1Api);
      const quota = { metadata: { name: "no-pods" }, spec: { hard: { pods: "1" } } };
      await core.createNamespacedResourceQuota({ namespace, body: quota });
      process.kill(daemon, "SIGKILL");
      await until(async () => (await podsOf(namespace)).some(({ status }) => status!.phase === "Failed"));
      const job = makeJob(namespace, options);
      await job.apply();
      const events = collect(job);
      const state = job.state();
      await until(() => events.some(({ reason }) => reason.includes('container "host" ends with exit code 137')));
      await core.deleteNamespacedResourceQuota({ namespace, name: "no-pods" });
      const { trainers } = await state;
      expect(job.applyId).toBe(applyId);
      expect([...(await trainers.spawnProcs().spawn("crew", crew.SteelWorker).echo.call("up")).values()]).toHaveLength(
        2,
      );
    },
    120_000,
  );

  test.runIf(backend !== "cluster")(
    "a host that crashes twice comes back twice, and its Job goes on with one pod of each rank",
    async () => {
      const namespace = await lab().namespace();
      const job = makeJob(namespace, { hostTimeout: { lost: "90s" } });
      const { trainers } = await job.state();
      const events = collect(job);
      for (const losses of [1, 2]) {
        const worker = trainers.slice({ hosts: 0 }).spawnProcs().spawn("crew", crew.SteelWorker);
        const { pid } = await worker.where.callOne();
        process.kill(daemonOf(pid), "SIGKILL");
        const isBack = ({ kind, rank }: JobEvent) => kind === "host-replaced" && rank === 0;
        await until(() => events.filter(isBack).length === losses, 100_000);
      }
      const living = (await podsOf(namespace)).filter(({ status }) => status!.phase === "Running");
      const index = "batch.kubernetes.io/job-completion-index";
      expect(living.map(({ metadata }) => metadata!.annotations![index]).sort()).toEqual(["0", "1"]);
      const { status } = await lab()
        .config.makeApiClient(BatchV1Api)
        .readNamespacedJob({ namespace, name: "viceroy-trainers" });
      expect(status).toMatchObject({ active: 2 });
      expect(status!.conditions ?? []).toEqual([]);
      await job.kill();
      expect(await podsOf(namespace)).toEqual([]);
    },
    120_000,
  );

  test("an image that does not exist is an error with the words of Kubernetes, and nothing is left", async () => {
    const namespace = await lab().namespace();
    const job = makeJob(namespace, {
      meshes: { trainers: { hosts: 1, image: "registry.invalid/none:1" } },
      hostTimeout: "20s",
    });
    const error = await job.state().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(JobStartError);
    expect((error as Error).message).toMatch(
      /pod viceroy-trainers-0-\w+.* cannot get its image \((ErrImagePull|ImagePullBackOff)\)/,
    );
    expect(await podsOf(namespace)).toEqual([]);
  });

  test("the launch time-out of a mesh replaces that of the job, and its error names the mesh", async () => {
    const namespace = await lab().namespace();
    const image = lab().nodeImage;
    const slow = new Compute({ image: Image.from(image).run("exec sleep 600"), launchTimeout: "20s" });
    const job = new KubernetesJob({
      namespace,
      meshes: { loaders: { hosts: 1, image }, trainers: { hosts: 2, compute: slow } },
      kubeconfig: lab().kubeconfig,
      cache: null,
      progress: "silent",
      hostTimeout: "1h",
    });
    jobs.push(job);
    const error = (await job.state().catch((thrown: unknown) => thrown)) as JobStartTimeoutError;
    expect(error).toBeInstanceOf(JobStartTimeoutError);
    expect(error.missing).toEqual(["trainers[0]", "trainers[1]"]);
    expect(error.message).toMatch(
      /^cannot start job "viceroy": trainers\[0\], trainers\[1\] did not come up within 20000 ms \(launchTimeout of mesh "trainers"\): pod viceroy-trainers-0-/,
    );
    expect(await podsOf(namespace)).toEqual([]);
  }, 120_000);

  test("a name that another job has is refused while that one runs", async () => {
    const namespace = await lab().namespace();
    const first = makeJob(namespace);
    await first.apply();
    const error = await makeJob(namespace)
      .apply()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(JobSubmitError);
    expect((error as Error).message).toBe(
      `cannot submit job "viceroy": namespace "${namespace}" has a ConfigMap "viceroy" already, of a job of this name that runs as ` +
        `${first.applyId}; kill that job, or give this one another name`,
    );
  });

  test("an API server that restarts does not disturb the job, and a job goes on without it", async () => {
    const namespace = await lab().namespace();
    const job = makeJob(namespace);
    const { trainers } = await job.state();
    const workers = trainers.spawnProcs().spawn("crew", crew.SteelWorker);
    await lab().stopApiServer();
    try {
      expect([...(await workers.echo.call("alone")).values()]).toHaveLength(2);
      await pause(1000);
    } finally {
      await lab().startApiServer();
    }
    expect(job.active).toBe(true);
    await job.kill();
    expect(await podsOf(namespace)).toEqual([]);
  });

  test("a missing permission is named, and nothing is left", async () => {
    const namespace = await lab().namespace();
    const kubeconfig = await lab().user(namespace, [
      { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "create", "patch", "delete"] },
    ]);
    const error = await makeJob(namespace, { kubeconfig })
      .apply()
      .catch((thrown: unknown) => thrown);
    expect((error as Error).message).toMatch(
      / may not patch services in namespace .*"viceroy job rbac" prints the Role that it needs$/,
    );
  });
});
