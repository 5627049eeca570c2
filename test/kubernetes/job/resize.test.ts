/** Tests of jobs on Kubernetes that get more and fewer pods while they run. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { BatchV1Api, CoreV1Api, type V1Pod } from "@kubernetes/client-node";
import { Compute, JobResizeError, KubernetesJob } from "viceroy/job";
import { afterEach, beforeAll, expect, test } from "vitest";
import { checkKubernetesJob } from "../../../runtime/job/kubernetes/kubernetes-spec.js";
import type { PolicyRule } from "../../../runtime/job/kubernetes/manifest/role.js";
import { type JobDriver, startJobDriver } from "../../job/job-driver.js";
import { newCache } from "../../job/job-program.js";
import { type Crew, loadCrew } from "../../proc/crew.js";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { limitUnderLoad, until } from "../../proc/until.js";
import { quantity } from "../api-server/quantity.js";
import { broughtCode } from "../lab/jobs-of-tests.js";
import { backend, onKubernetes } from "../lab/on-kubernetes.js";

const cli = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));

let crew: Crew;
// Processes on hosts that another program gives back are lost.
collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

/** The lines that the program prints, one after each step: the ranks of the hosts, or the message of an error. */
const stepsOf = ({ printed }: JobDriver) =>
  printed.flatMap(({ places, message }) => (places ? [places.join(",")] : message === undefined ? [] : [message]));

onKubernetes("the hosts of a job of Kubernetes", (lab) => {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  type Options = ConstructorParameters<typeof KubernetesJob<"workers">>[0];

  function optionsIn(namespace: string, options: Partial<Options> = {}): Options {
    return {
      namespace,
      meshes: { workers: { hosts: 1, image: lab().nodeImage } },
      kubeconfig: lab().kubeconfig,
      cache: newCache(),
      sync: broughtCode,
      progress: "silent",
      ...options,
    };
  }

  function makeJob(options: Options): KubernetesJob<"workers"> {
    const job = new KubernetesJob<"workers">(options);
    ends.push(() => job.kill());
    return job;
  }

  /** Starts a program that resizes the job, and waits after its last step. */
  function drive(options: Options, ...sizes: number[]): JobDriver {
    const driver = startJobDriver([], "on-resized-hosts.ts", { ...options, sizes }, "wait", process.env);
    ends.push(async () => {
      driver.child.kill("SIGKILL");
      await driver.exited;
    });
    return driver;
  }

  const steps = (driver: JobDriver, count: number) =>
    until(() => {
      if (driver.child.exitCode !== null) throw new Error(driver.complaints());
      return stepsOf(driver).length === count;
    });

  const core = () => lab().config.makeApiClient(CoreV1Api);
  const rankOf = ({ metadata }: V1Pod) => metadata!.annotations!["batch.kubernetes.io/job-completion-index"];

  /** Returns the ranks of the pods that nobody has told to end. */
  async function ranksIn(namespace: string): Promise<string> {
    const { items } = await core().listNamespacedPod({ namespace });
    const living = items.filter(({ metadata, status }) => {
      return metadata!.deletionTimestamp === undefined && ["Pending", "Running"].includes(status!.phase!);
    });
    return living.map(rankOf).sort().join(",");
  }

  const readJob = (namespace: string) =>
    lab().config.makeApiClient(BatchV1Api).readNamespacedJob({ namespace, name: "viceroy-workers" });

  async function limitPods(namespace: string, pods: number): Promise<() => Promise<unknown>> {
    const name = "few-pods";
    const quota = { metadata: { name }, spec: { hard: { pods: `${pods}` } } };
    await core().createNamespacedResourceQuota({ namespace, body: quota });
    const hardOf = async () => (await core().readNamespacedResourceQuota({ namespace, name })).status?.hard;
    // The stand-in counts pods at each request, and has no controller of quotas.
    await until(async () => backend === "stand-in" || (await hardOf())?.["pods"] === `${pods}`);
    return () => core().deleteNamespacedResourceQuota({ namespace, name });
  }

  /** Runs `viceroy job` for a job. The stand-in of the API server answers in this process meanwhile. */
  async function viceroyJob(options: Options, command: string, ...words: string[]) {
    const module = fileURLToPath(new URL("job-of-options.mjs", import.meta.url));
    const args = [cli, "job", command, "--job", module, ...words];
    const env = { ...process.env, OPTIONS: JSON.stringify(options) };
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    const ended = once(child, "close");
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    await ended;
    return { status: child.exitCode, stdout, stderr };
  }

  test("get more and fewer with the permissions of the Role, and ranks that stay keep their processes", async () => {
    const namespace = await lab().namespace({ "pod-security.kubernetes.io/enforce": "restricted" });
    const options = optionsIn(namespace);
    const module = fileURLToPath(new URL("../manifest/described-job.mjs", import.meta.url));
    const env = { ...process.env, SPEC: JSON.stringify(checkKubernetesJob(options).spec) };
    const printed = spawnSync(process.execPath, [cli, "job", "rbac", "--json", "--job", module], {
      encoding: "utf8",
      env,
    });
    const { rules } = JSON.parse(printed.stdout).items[0] as { rules: PolicyRule[] };
    const kubeconfig = await lab().user(namespace, rules as never);
    const job = makeJob({ ...options, kubeconfig });
    const { workers } = await job.state();
    const procs = workers.spawnProcs();
    const actors = procs.spawn("crew", crew.SteelWorker);
    const { pid } = await actors.where.callOne();

    const larger = await job.resize({ workers: 3 });
    expect(larger.workers.extent).toEqual({ hosts: 3 });
    const more = procs.resize({ hosts: 3 });
    const all = more.resizeActors(actors);
    expect([...(await all.env.call("VICEROY_JOB_RANK")).values()]).toEqual(["0", "1", "2"]);
    expect((await readJob(namespace)).spec).toMatchObject({ completions: 3, parallelism: 3 });

    await job.resize({ workers: 2 });
    expect(await ranksIn(namespace)).toBe("0,1");
    const fewer = more.resize({ hosts: 2 });
    expect([...(await fewer.resizeActors(all).where.call()).values()][0]).toMatchObject({ pid });

    // The next host of the rank has another secret, which nobody has used.
    await job.resize({ workers: 3 });
    const again = fewer.resize({ hosts: 3 }).spawn("again", crew.SteelWorker);
    expect([...(await again.env.call("VICEROY_JOB_RANK")).values()]).toEqual(["0", "1", "2"]);
    await expect(job.resize({ workers: 4 }).then(() => job.resize({ workers: 0 }))).rejects.toThrow(RangeError);
  });

  test("are the same for programs that resize at the same time, and a program that loses one is warned and told why", async () => {
    const namespace = await lab().namespace();
    const options = optionsIn(namespace);
    ends.push(() => new KubernetesJob(options).kill());
    const drivers = [drive(options, 3), drive(options, 3)];
    for (const driver of drivers) await steps(driver, 2);
    expect(drivers.map(stepsOf)).toEqual([
      ["0", "0,1,2"],
      ["0", "0,1,2"],
    ]);
    expect(await ranksIn(namespace)).toBe("0,1,2");
    expect((await readJob(namespace)).metadata!.annotations).toMatchObject({ "viceroy/hosts": "3" });
    expect((await readJob(namespace)).metadata!.annotations).not.toHaveProperty("viceroy/growths");
    expect(await viceroyJob(options, "state")).toMatchObject({
      stderr: "",
      stdout: expect.stringContaining("workers  3\n"),
    });
    const resized = await viceroyJob(options, "resize", "workers=2");
    expect(resized).toEqual({ status: 0, stdout: "workers has 2 hosts\n", stderr: "" });
    expect((await viceroyJob(options, "state", "--json")).stdout).toContain('"meshes":{"workers":2}');
    expect(await ranksIn(namespace)).toBe("0,1");
    for (const driver of drivers) {
      await until(() => driver.printed.some(({ event }) => event?.kind === "warned" && event.rank === 2));
      await until(() =>
        driver.complaints().includes('job.resize has given back the hosts of mesh "workers" from rank 2 on'),
      );
    }
    const refused = await viceroyJob(options, "resize", "workers=0");
    expect(refused.stderr).toBe(
      'cannot make a job: expected hosts of mesh "workers" as a whole number from 1 to 100000, got 0\n',
    );
  });

  test("are given back when one does not come up, with the words of Kubernetes", async () => {
    const namespace = await lab().namespace();
    const nodes = (await core().listNode()).items;
    const cpus = Math.min(...nodes.map(({ status }) => quantity(status!.allocatable!["cpu"]!)));
    // One host fits on each node.
    const compute = new Compute({ cpus: Math.floor(cpus * 6) / 10, image: lab().nodeImage });
    const options = optionsIn(namespace, { meshes: { workers: { hosts: 1, compute } } });
    const starter = makeJob(options);
    await starter.apply();
    await until(async () => (await readJob(namespace)).status?.ready === 1);
    // Both resizes wait for all of it. Nothing else has to happen within it than that Kubernetes says why there is no host.
    const hostTimeout = limitUnderLoad(5000, 15_000);
    const job = new KubernetesJob({ ...options, hostTimeout });
    await job.state();
    const messageOf = async (hosts: number) => {
      const error = await job.resize({ workers: hosts }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(JobResizeError);
      await until(async () => (await ranksIn(namespace)) === "0");
      expect((await readJob(namespace)).spec).toMatchObject({ completions: 1, parallelism: 1 });
      return (error as Error).message;
    };
    const late = `cannot resize job "viceroy": the hosts were not up within ${hostTimeout} ms (hostTimeout): `;
    const unschedulable = await messageOf(nodes.length + 1);
    expect(unschedulable.startsWith(late), unschedulable).toBe(true);
    expect(unschedulable).toMatch(/pod viceroy-workers-\d-\w+ has no node yet: 0\/\d+ nodes are available: /);
    const free = await limitPods(namespace, 1);
    const refused = await messageOf(2);
    expect(refused.slice(late.length)).toMatch(
      /^there is no pod for workers\[1\] yet; Job viceroy-workers cannot make a pod: .*exceeded quota: few-pods/,
    );
    expect(job.active).toBe(true);

    // A program that is killed meanwhile leaves what it has asked for to the next one.
    const killed = drive(options, 2);
    await until(async () => (await readJob(namespace)).spec!.completions === 2);
    killed.child.kill("SIGKILL");
    await killed.exited;
    await free();
    const next = drive(options, 2);
    await steps(next, 2);
    expect(stepsOf(next)).toEqual(["0", "0,1"]);
    expect(await ranksIn(namespace)).toBe("0,1");
  }, 180_000);

  test("come back when they have ended by themselves, because no program has used them", async () => {
    const namespace = await lab().namespace();
    const compute = new Compute({ image: lab().nodeImage, idle: limitUnderLoad(8000) });
    const options = optionsIn(namespace, { meshes: { workers: { hosts: 1, compute } } });
    const first = drive(options, 2);
    await steps(first, 2);
    const job = makeJob(options);
    await job.state();
    first.child.kill("SIGKILL");
    await first.exited;
    await until(async () => (await readJob(namespace)).status!.completedIndexes === "1");
    const { workers } = await job.resize({ workers: 2 });
    const words = await workers.spawnProcs().spawn("crew", crew.SteelWorker).env.call("VICEROY_JOB_RANK");
    expect([...words.values()]).toEqual(["0", "1"]);
  }, 180_000);
});
