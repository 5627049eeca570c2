/** Tests of jobs that are submitted on one machine and used on others, which have neither its files nor its rights. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { renameSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { CoreV1Api, PatchStrategy, setHeaderOptions, type V1PolicyRule } from "@kubernetes/client-node";
import { lookup, onUnhandledFault, publish } from "viceroy";
import { attach, KubernetesJob, type KubernetesJobOptions } from "viceroy/job";
import { afterEach, beforeAll, expect, test } from "vitest";
import { startJobDriver } from "../../job/job-driver.js";
import { newCache } from "../../job/job-program.js";
import { type Crew, loadCrew } from "../../proc/crew.js";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { makeUser } from "../lab/access.js";
import { broughtCode, JobsOfTests } from "../lab/jobs-of-tests.js";
import { onKubernetes } from "../lab/on-kubernetes.js";

const cli = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));
const module = fileURLToPath(new URL("job-of-options.mjs", import.meta.url));

type Options = KubernetesJobOptions<"trainers">;

let crew: Crew;
// The processes of a pod that is deleted are lost.
collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

/** Runs `viceroy job` for a job with these options. The stand-in of the API server is in this process. */
async function viceroyJob(options: object, ...args: readonly string[]) {
  const env = { ...process.env, OPTIONS: JSON.stringify(options) };
  const child = spawn(process.execPath, [cli, "job", ...args, "--job", module], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [code, out, err] = await Promise.all([once(child, "close"), text(child.stdout), text(child.stderr)]);
  return { code: code[0], out, err };
}

/** Returns the rules of a Role that `viceroy job rbac` prints. */
async function printedRules(options: object, role: string): Promise<V1PolicyRule[]> {
  const { out, err } = await viceroyJob(options, "rbac", "--json");
  if (err !== "") throw new Error(err);
  const { items } = JSON.parse(out) as { items: { metadata: { name: string }; rules: V1PolicyRule[] }[] };
  return items.find(({ metadata }) => metadata.name === role)!.rules;
}

onKubernetes("jobs that are shared", (lab) => {
  const jobs = new JobsOfTests(lab);
  const hidden: string[] = [];
  afterEach(() => {
    for (const files of hidden.splice(0)) renameSync(`${files}.hidden`, files);
    return jobs.killAll();
  });

  async function newOptions(own: Partial<Options> = {}) {
    const namespace = await lab().namespace();
    const meshes = { trainers: { hosts: 2, image: lab().nodeImage } };
    return {
      namespace,
      meshes,
      share: true,
      progress: "silent",
      sync: broughtCode,
      kubeconfig: lab().kubeconfig,
      ...own,
    } as const;
  }

  /** Returns the options with which a user without the rights of a driver attaches the job on a machine without its files. */
  async function elsewhere(options: Awaited<ReturnType<typeof newOptions>>, role = "viceroy-attach") {
    const kubeconfig = await makeUser(lab(), options.namespace, await printedRules(options, role));
    return { ...options, kubeconfig, cache: newCache() };
  }

  /**
   * Submits a job in a program that leaves it running, and hides its files, as if the tests ran on another machine.
   * @returns the processes of its crew
   */
  async function submit(options: Awaited<ReturnType<typeof newOptions>>): Promise<readonly number[]> {
    const cache = newCache();
    jobs.make({ ...options, cache });
    const driver = startJobDriver([], "on-kubernetes.ts", { ...options, cache }, "leave", process.env);
    const { pids } = await driver.outcome();
    await driver.exited;
    const files = path.dirname(cache);
    renameSync(files, `${files}.hidden`);
    hidden.push(files);
    return pids!;
  }

  test.each([{ tls: {} }, { tls: false }] as const)(
    "a program with the right to read its Secret attaches the job on another machine, and uses its hosts: %j",
    async (own) => {
      const options = await newOptions(own);
      await submit(options);
      const there = await elsewhere(options);
      const { trainers } = await attach(new KubernetesJob<"trainers">(there));
      const workers = trainers.spawnProcs().spawn("crew", crew.SteelWorker);
      expect([...(await workers.env.call("VICEROY_JOB_RANK")).values()]).toEqual(["0", "1"]);
      await trainers.stop();
      const state = await viceroyJob(there, "state");
      expect(state.code).toBe(0);
      expect(state.out).toContain('job "viceroy" of provider kubernetes runs as ');
      expect((await viceroyJob(there, "logs")).out).toContain("listens at ");
    },
  );

  test("a program with the right to read the Secret for viewers looks at the job on another machine, and is no driver there", async () => {
    const options = await newOptions();
    await submit(options);
    const there = await elsewhere(options, "viceroy-view");
    const { trainers } = await attach(new KubernetesJob<"trainers">(there), { readOnly: true });
    const described = await trainers.describe();
    expect(described.map(({ drivers }) => drivers.map(({ readOnly }) => readOnly))).toEqual([[true], [true]]);
    expect(described[0]!.drivers[0]!.description).toMatch(/, as viceroy:\/\/[0-9a-f-]+\/viewer, /);
    expect(() => trainers.spawnProcs()).toThrow("cannot spawn procs: this program has attached mesh");
    await trainers.stop();
    const state = await viceroyJob(there, "state", "--read-only");
    expect(state.out).toMatch(/^ {2}viewer, attached .+ as viceroy:\/\/.+\/viewer, /m);
    expect((await viceroyJob(there, "logs", "--read-only")).out).toContain("attached read-only: ");
    const refused = /may not get secrets .*"viceroy-driver"|may not get secrets in namespace/;
    await expect(attach(new KubernetesJob({ ...there, cache: newCache() }))).rejects.toThrow(refused);
  });

  test("a program on another machine detaches its meshes, and one on a third machine finds them", async () => {
    const options = await newOptions();
    await submit(options);
    const second = new KubernetesJob<"trainers">(await elsewhere(options));
    const { trainers } = await attach(second);
    const workers = trainers.spawnProcs().spawn("crew", crew.SteelWorker);
    const pids = [...(await workers.where.call()).values()].map(({ pid }) => pid);
    await publish("crew", workers);
    // The hook of the tests cannot be handed over.
    onUnhandledFault(undefined);
    await second.detach();
    await attach(new KubernetesJob<"trainers">(await elsewhere(options)));
    const found = await lookup("crew", crew.SteelWorker);
    expect([...(await found.where.call()).values()].map(({ pid }) => pid)).toEqual(pids);
  });

  test("a job that is not shared, options that differ, and a Secret that cannot be used are errors that say so", async () => {
    const options = await newOptions();
    const alone = await newOptions({ share: false });
    await jobs.make(alone).apply();
    const nothing = 'job "viceroy" is gone: nothing of it runs; submit it by apply or state';
    await expect(attach(new KubernetesJob({ ...alone, cache: newCache() }))).rejects.toThrow(nothing);
    await expect(attach(new KubernetesJob({ ...options, cache: newCache() }))).rejects.toThrow(nothing);
    const job = jobs.make(options);
    await job.apply();
    const meshes = { trainers: { hosts: 3, image: lab().nodeImage } };
    await expect(attach(new KubernetesJob({ ...options, meshes, cache: newCache() }))).rejects.toThrow(
      `what runs as ${job.applyId} was submitted with other options`,
    );
    const kubeconfig = await makeUser(lab(), options.namespace, []);
    await expect(attach(new KubernetesJob({ ...options, kubeconfig, cache: newCache() }))).rejects.toThrow(
      /may not get secrets in namespace .*; "viceroy job rbac" prints the Role that it needs/,
    );
    const core = lab().config.makeApiClient(CoreV1Api);
    const merging = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);
    const spoilt = async (data: object) => {
      await core.patchNamespacedSecret(
        { namespace: options.namespace, name: "viceroy-driver", body: { data } },
        merging,
      );
      return attach(new KubernetesJob({ ...options, cache: newCache() })).catch(({ message }: Error) => message);
    };
    const unusable = `the Secret "viceroy-driver" in namespace "${options.namespace}" cannot be used: `;
    expect(await spoilt({ "driver.key": null })).toBe(
      `${unusable}expected driver.key as text, got undefined; kill the job where it was submitted, and submit it again`,
    );
    expect(await spoilt({ "record.json": Buffer.from("{").toString("base64") })).toMatch(
      new RegExp(`^${unusable.replace(/[()]/g, "\\$&")}it is not JSON`),
    );
  });

  test("a shared job is not resized on another machine, and is killed there by a program that may", async () => {
    const options = await newOptions();
    const pids = await submit(options);
    const there = { ...options, cache: newCache() };
    const job = new KubernetesJob<"trainers">(there);
    await attach(job);
    await expect(job.resize({ trainers: 3 })).rejects.toThrow(
      "it was submitted on another machine, which signs for its hosts; call job.resize in a program there",
    );
    expect(pids).toHaveLength(2);
    await job.kill();
    expect(await jobs.pods(options.namespace)).toEqual([]);
    expect(await viceroyJob(there, "state")).toMatchObject({ code: 1, out: 'job "viceroy" does not run\n' });
  });
});

test("options that cannot be shared are refused", () => {
  const options = { namespace: "n", meshes: { trainers: { hosts: 1, image: "node:22" } } };
  expect(() => new KubernetesJob({ ...options, share: "yes" as never })).toThrow(
    'cannot make a job: expected share as true or false, got "yes"',
  );
  const found = { trainers: { hosts: 1, selector: "app=x" } };
  expect(() => new KubernetesJob({ ...options, meshes: found, share: true })).toThrow(
    'cannot make a job with share: it takes pods of mesh "trainers" that are there, which any program finds by the same options; leave share out',
  );
});
