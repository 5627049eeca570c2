/** Tests of what users get wrong: the cluster, the credentials, the namespace, the Secret, the clock. Each is an error that says what to do, or works. */
import { setTimeout as pause } from "node:timers/promises";
import { CoreV1Api } from "@kubernetes/client-node";
import { Compute, JobStartError, JobSubmitError } from "viceroy/job";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew } from "../../proc/crew.js";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { until } from "../../proc/until.js";
import { expireToken, makeAccount } from "../lab/access.js";
import { EventsOfJob, JobsOfTests, replacementMs } from "../lab/jobs-of-tests.js";
import { onKubernetes } from "../lab/on-kubernetes.js";

// The processes of a pod that is deleted are lost.
collectUnhandledFaults();

onKubernetes("clusters that are not as a job expects", (lab) => {
  const jobs = new JobsOfTests(lab);
  let crew: Crew;
  beforeAll(async () => {
    crew = await loadCrew();
  });
  afterEach(() => jobs.killAll());

  const core = () => lab().config.makeApiClient(CoreV1Api);
  const oneHost = () => ({ trainers: { hosts: 1, image: lab().nodeImage } });

  test("a kubeconfig file that does not exist, and a context that it does not have, are named", async () => {
    const job = (options: object) => jobs.make({ namespace: "default", meshes: oneHost(), cache: null, ...options });
    const { message } = await jobs.errorOf(job({ kubeconfig: "/no/such/kubeconfig" }));
    expect(message).toMatch(
      /^cannot submit job "viceroy": cannot use Kubernetes: cannot read the kubeconfig file \/no\/such\/kubeconfig: ENOENT/,
    );
    const { message: other } = await jobs.errorOf(job({ context: "production" }));
    expect(other).toBe(
      `cannot submit job "viceroy": cannot use Kubernetes: the kubeconfig file ${lab().kubeconfig} has no context "production"; its contexts: "lab"`,
    );
  });

  test("credentials that have expired are an error that says whose they are, and what to do", async () => {
    const namespace = await lab().namespace();
    const account = await makeAccount(lab(), namespace, []);
    await expireToken(lab(), account);
    const job = () => jobs.make({ namespace, meshes: oneHost(), cache: null, kubeconfig: account.kubeconfig });
    let error = new Error();
    // The API server remembers for 10 s that a token is valid.
    await until(async () => {
      await pause(500);
      error = await jobs.errorOf(job());
      return error.message.includes("credentials");
    });
    expect(error).toBeInstanceOf(JobSubmitError);
    const { server } = lab().config.getCurrentCluster()!;
    expect(error.message).toBe(
      `cannot submit job "viceroy": the API server at ${server} does not accept the credentials of user "user" of context "lab": ` +
        "Unauthorized; they may have expired: log in to the cluster again",
    );
  });

  test("a namespace that does not exist, and one that is being deleted, are errors that say what to do", async () => {
    const job = (namespace: string) => jobs.make({ namespace, meshes: oneHost(), cache: null });
    expect((await jobs.errorOf(job("no-such-namespace"))).message).toBe(
      'cannot submit job "viceroy": cannot patch configmaps "viceroy" in namespace "no-such-namespace": namespaces "no-such-namespace" not ' +
        "found; make it with kubectl create namespace no-such-namespace, or name another one",
    );
    const namespace = await lab().namespace();
    const held = { metadata: { name: "held", finalizers: ["viceroy.test/hold"] } };
    await core().createNamespacedConfigMap({ namespace, body: held });
    await core().deleteNamespace({ name: namespace });
    try {
      expect((await jobs.errorOf(job(namespace))).message).toBe(
        `cannot submit job "viceroy": cannot patch configmaps "viceroy" in namespace "${namespace}": configmaps "viceroy" is forbidden: unable ` +
          `to create new content in namespace ${namespace} because it is being terminated; wait until it is gone and make it again, or name another one`,
      );
    } finally {
      const { metadata, ...rest } = await core().readNamespacedConfigMap({ namespace, name: "held" });
      const body = { ...rest, metadata: { ...metadata, finalizers: [] } };
      await core().replaceNamespacedConfigMap({ namespace, name: "held", body });
    }
  });

  test("two jobs run side by side in a namespace, and the end of one leaves the other", async () => {
    const namespace = await lab().namespace();
    const make = (name: string) => jobs.make({ namespace, name, meshes: oneHost() });
    const [left, right] = [make("left"), make("right")];
    const [{ trainers: others }, { trainers }] = await Promise.all([left.state(), right.state()]);
    const workers = trainers.spawnProcs().spawn("crew", crew.SteelWorker);
    const run = await workers.env.callOne("VICEROY_JOB");
    expect(run).toBe(right.applyId);
    expect(await others.spawnProcs().spawn("crew", crew.SteelWorker).env.callOne("VICEROY_JOB")).toBe(left.applyId);
    await left.kill();
    expect(await workers.env.callOne("VICEROY_JOB")).toBe(run);
    expect((await jobs.pods(namespace)).map(({ metadata }) => metadata!.labels!["viceroy/job"])).toEqual(["right"]);
    expect(right.active).toBe(true);
  });

  test("a job whose namespace is deleted ends with that reason", async () => {
    const namespace = await lab().namespace();
    // The driver does not leave the hosts before, so that they use this time.
    const template = { spec: { terminationGracePeriodSeconds: 6 } };
    const compute = new Compute({ hosts: 1, image: lab().nodeImage, template });
    const job = jobs.make({ namespace, meshes: { trainers: { compute } } });
    await job.state();
    const events = new EventsOfJob(job);
    await core().deleteNamespace({ name: namespace });
    await events.saw("ended", /^Job viceroy-trainers of Kubernetes was deleted$/);
  });

  test("a secret that somebody else has changed is written again, so that the next pod of the rank is a host", async () => {
    const namespace = await lab().namespace();
    const job = jobs.make({ namespace, meshes: oneHost(), hostTimeout: { lost: replacementMs } });
    const { trainers } = await job.state();
    const events = new EventsOfJob(job);
    const name = "viceroy-secrets";
    const secretOf = async () => (await core().readNamespacedSecret({ namespace, name })).data!["trainers-0"]!;
    // The driver replaces the secret that the first pod has used.
    await until(async () => {
      const { metadata } = await core().readNamespacedSecret({ namespace, name });
      return metadata!.managedFields?.some(({ operation }) => operation === "Update") === true;
    });
    const right = await secretOf();
    // It is as long as a secret.
    const wrong = Buffer.from(Buffer.from(right, "base64").toString().replace(/\w/g, "A")).toString("base64");
    const secret = await core().readNamespacedSecret({ namespace, name });
    await core().replaceNamespacedSecret({ namespace, name, body: { ...secret, data: { "trainers-0": wrong } } });
    const { metadata } = await jobs.podOf(namespace, "trainers", 0);
    await core().deleteNamespacedPod({ namespace, name: metadata!.name!, gracePeriodSeconds: 1 });
    await until(() => events.reasons("host-replaced").length > 0, replacementMs);
    const said = (await jobs.pods(namespace)).map(
      ({ status }) => status!.containerStatuses?.[0]?.state?.terminated?.message,
    );
    expect(said.join()).toContain("the issuer refuses it: its secret is not the one for this identity");
    expect(await trainers.spawnProcs().spawn("again", crew.SteelWorker).echo.callOne("up")).toBe("up");
    expect(await secretOf()).not.toBe(wrong);
  });

  /** Returns pods whose clock is wrong. */
  function withClock(hours: number): Compute {
    const program = `const now=Date.now;Date.now=()=>now()+${hours * 3_600_000};`;
    const env = [{ name: "NODE_OPTIONS", value: `--import data:text/javascript,${encodeURIComponent(program)}` }];
    return new Compute({
      hosts: 1,
      image: lab().nodeImage,
      template: { spec: { containers: [{ name: "host", env }] } },
    });
  }

  test("hosts whose clocks are an hour ahead and an hour behind work", async () => {
    const namespace = await lab().namespace();
    const meshes = { early: { compute: withClock(-1) }, late: { compute: withClock(1) } };
    const { early, late } = await jobs.make({ namespace, meshes }).state();
    for (const mesh of [early, late]) {
      const worker = mesh.spawnProcs().spawn("crew", crew.SteelWorker);
      expect(await worker.echo.callOne("in time")).toBe("in time");
    }
  });

  test("a host whose clock is days ahead is an error with both times", async () => {
    const namespace = await lab().namespace();
    const error = await jobs.errorOf(jobs.make({ namespace, meshes: { late: { compute: withClock(72) } } }));
    expect(error).toBeInstanceOf(JobStartError);
    expect(error.message).toMatch(
      /container "host" ends with exit code 70: .*the clock of this machine is 3 days ahead of that of the issuer: it says \S+Z, and the issuer's \S+Z; set the clock of one of them/s,
    );
  });
});
