/** Tests of jobs in a queue: they wait for as long as it takes, go on when they are admitted, and come back after they were preempted. */
import { setTimeout as pause } from "node:timers/promises";
import { BatchV1Api } from "@kubernetes/client-node";
import { Compute, type JobEvent, KubernetesJob } from "viceroy/job";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew } from "../../proc/crew.js";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { limitUnderLoad, until } from "../../proc/until.js";
import { broughtCode } from "../lab/jobs-of-tests.js";
import { onKubernetes } from "../lab/on-kubernetes.js";
import { admit, preempt, tellWhy } from "../lab/queue.js";

let crew: Crew;
// The processes of a Job that is suspended are lost.
collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

const name = "viceroy-trainers";
const quickEnd = { spec: { terminationGracePeriodSeconds: 7 } };

onKubernetes("jobs in a queue", (lab) => {
  const jobs: { kill(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(jobs.splice(0).map((job) => job.kill()));
  });

  function makeJob(namespace: string, hostTimeout: Record<string, string | number>): KubernetesJob<"trainers"> {
    const job = new KubernetesJob<"trainers">({
      namespace,
      // Pods that are told to end leave their actors 2 s.
      meshes: { trainers: { hosts: 2, compute: new Compute({ image: lab().nodeImage, template: quickEnd }) } },
      queue: "team-a",
      kubeconfig: lab().kubeconfig,
      cache: null,
      sync: broughtCode,
      progress: "silent",
      hostTimeout,
    });
    jobs.push(job);
    return job;
  }

  function collect(job: KubernetesJob<"trainers">): JobEvent[] {
    const events: JobEvent[] = [];
    void (async () => {
      for await (const event of job.watch()) events.push(event);
    })();
    return events;
  }

  test("a job waits longer than its time limit, and can be killed meanwhile", async () => {
    const namespace = await lab().namespace();
    const start = limitUnderLoad(3000);
    const job = makeJob(namespace, { start });
    await job.apply();
    const events = collect(job);
    let failed: Error | undefined;
    const state = job.state().catch((error: Error) => {
      failed = error;
    });
    await until(() => events.some(({ kind }) => kind === "pending"));
    await pause(start * 1.2);
    expect(failed).toBe(undefined);
    const { metadata, spec } = await lab().config.makeApiClient(BatchV1Api).readNamespacedJob({ namespace, name });
    expect(metadata!.labels!["kueue.x-k8s.io/queue-name"]).toBe("team-a");
    expect(spec!.suspend).toBe(true);
    await job.kill();
    await state;
    expect(failed).toBeInstanceOf(Error);
  });

  test("a job tells what its queue says, goes on when it is admitted, and its hosts are lost when it is preempted, until it is admitted again", async () => {
    const namespace = await lab().namespace();
    const job = makeJob(namespace, { lost: "10m" });
    await job.apply();
    const events = collect(job);
    const reasons = (kind: string) => events.filter((event) => event.kind === kind).map(({ reason }) => reason);
    const state = job.state();
    await until(() => reasons("pending").includes(`Job ${name} waits in queue "team-a"`));
    await tellWhy(lab(), namespace, name, "insufficient unused quota for cpu in flavor default, 2 more needed");
    const words = `Job ${name} waits in queue "team-a": insufficient unused quota for cpu in flavor default, 2 more needed`;
    await until(() => reasons("pending").includes(words));
    await admit(lab(), namespace, name);
    const { trainers } = await state;
    const before = await trainers.spawnProcs().spawn("crew", crew.SteelWorker).echo.call("before");
    expect([...before.values()]).toEqual(["before", "before"]);

    const preempted = events.length;
    await preempt(lab(), namespace, name);
    const told = (kind: string) => events.slice(preempted).filter((event) => event.kind === kind);
    await until(() => told("host-lost").length === 2);
    const why = `because queue "team-a" has suspended Job ${name}`;
    for (const { mesh, rank, reason } of told("host-lost")) {
      expect(reason).toMatch(new RegExp(`^pod ${name}-${rank}-\\w+ of ${mesh}\\[${rank}\\] is .*, ${why}$`));
    }
    expect(told("warned").map(({ reason }) => reason.endsWith(why))).toEqual([true, true]);
    await until(() => told("pending").some(({ reason }) => reason === `Job ${name} waits in queue "team-a"`));

    await admit(lab(), namespace, name);
    await until(() => told("host-replaced").length === 2);
    const after = await trainers.spawnProcs().spawn("again", crew.SteelWorker).echo.call("after");
    expect([...after.values()]).toEqual(["after", "after"]);
  }, 240_000);
});
