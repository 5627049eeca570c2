/**
 * Tests of the Role that `viceroy job rbac` prints: a job works with it, and without any single verb of it the error or the event names the verb, the
 * resource, the namespace and the user, and what to do.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { CoreV1Api, PatchStrategy, setHeaderOptions, type V1PolicyRule } from "@kubernetes/client-node";
import type { HostMesh } from "viceroy";
import { Compute, type KubernetesJob } from "viceroy/job";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { checkKubernetesJob } from "../../../runtime/job/kubernetes/kubernetes-spec.js";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { until } from "../../proc/until.js";
import { type Account, makeAccount, setRules } from "../lab/access.js";
import { EventsOfJob, JobsOfTests, replacementMs } from "../lab/jobs-of-tests.js";
import { backend, onKubernetes } from "../lab/on-kubernetes.js";

// The processes of a pod that ends are lost.
collectUnhandledFaults();

const cli = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));
const described = fileURLToPath(new URL("../manifest/described-job.mjs", import.meta.url));

/** Returns the rules of the Role that the command prints for a job. */
function printedRules(namespace: string, reach: "direct" | "api-server"): V1PolicyRule[] {
  const { spec } = checkKubernetesJob({ namespace, meshes: { trainers: { hosts: 1 } } });
  const args = [cli, "job", "rbac", "--json", "--job", described];
  const env = { ...process.env, SPEC: JSON.stringify(spec), REACH: reach };
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", env });
  if (stderr !== "") throw new Error(stderr);
  return JSON.parse(stdout).items[0].rules;
}

/** Returns rules without a verb for a resource. */
function without(rules: readonly V1PolicyRule[], verb: string, resource: string): V1PolicyRule[] {
  return rules.flatMap((rule) => {
    if (!rule.resources?.includes(resource)) return [rule];
    const others = rule.resources.filter((other) => other !== resource);
    const verbs = rule.verbs.filter((other) => other !== verb);
    return [
      ...(others.length === 0 ? [] : [{ ...rule, resources: others }]),
      ...(verbs.length === 0 ? [] : [{ ...rule, resources: [resource], verbs }]),
    ];
  });
}

onKubernetes("the Role of drivers", (lab) => {
  const jobs = new JobsOfTests(lab);
  let namespace: string;
  let account: Account;
  let rules: V1PolicyRule[];
  const tried = new Set<string>();

  beforeAll(async () => {
    namespace = await lab().namespace();
    rules = printedRules(namespace, "direct");
    account = await makeAccount(lab(), namespace, rules);
  });
  beforeEach(() => setRules(lab(), account, rules));
  afterAll(() => jobs.killAll());

  const core = () => lab().config.makeApiClient(CoreV1Api);
  const merging = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);

  async function take(verb: string, resource: string): Promise<void> {
    tried.add(`${verb} ${resource}`);
    await setRules(lab(), account, without(rules, verb, resource));
  }

  /** Makes a job whose pods have no node, so that nothing runs. */
  function waitingJob(): KubernetesJob<"trainers"> {
    const compute = new Compute({ image: lab().nodeImage, nodeSelector: { "viceroy.test/none": "yes" } });
    const { kubeconfig } = account;
    return jobs.make({ namespace, kubeconfig, meshes: { trainers: { hosts: 1, compute } }, cache: null });
  }

  /** Returns what a message about a verb contains. */
  function denial(verb: string, resource: string): RegExp {
    const [plural] = resource.split("/");
    return new RegExp(
      `user "user" of context "lab" may not ${verb} ${resource} in namespace "${namespace}": ${plural}\\b.* is forbidden\\b.*; ` +
        '"viceroy job rbac" prints the Role that it needs',
    );
  }

  test.each([
    ...["configmaps", "services", "secrets", "networkpolicies", "jobs"].flatMap((resource) => [
      ["create", resource] as const,
      ["patch", resource] as const,
    ]),
    ["get", "configmaps"] as const,
  ])("without %s of %s, nothing is submitted", async (verb, resource) => {
    await take(verb, resource);
    const error = await waitingJob()
      .apply()
      .then(String, (thrown: Error) => thrown.message);
    expect(error).toMatch(/^cannot submit job "viceroy": /);
    expect(error).toMatch(denial(verb, resource));
    expect(await jobs.pods(namespace)).toEqual([]);
  });

  test("without get of pods/portforward, a driver that reaches the API server alone does not start the job", async () => {
    const forwarding = printedRules(namespace, "api-server");
    expect(forwarding).toContainEqual({ apiGroups: [""], resources: ["pods/portforward"], verbs: ["create", "get"] });
    await setRules(lab(), account, without(forwarding, "get", "pods/portforward"));
    const { kubeconfig } = account;
    const meshes = { trainers: { hosts: 1, image: lab().nodeImage } };
    const attach = { timeout: 2000 };
    const options = { namespace, kubeconfig, meshes, cache: null, reach: "api-server", tls: false, attach } as const;
    expect((await jobs.errorOf(jobs.make(options))).message).toMatch(denial("get", "pods/portforward"));
    await jobs.killAll();
    await setRules(lab(), account, forwarding);
    await jobs.make({ ...options, tls: {}, attach: {} }).state();
    await jobs.killAll();
  });

  test.each([
    ["list", "pods"],
    ["watch", "pods"],
    ["list", "jobs"],
    ["watch", "jobs"],
  ])("without %s of %s, the job does not start, and nothing is left", async (verb, resource) => {
    await take(verb, resource);
    const job = waitingJob();
    const { message } = await jobs.errorOf(job);
    expect(message).toMatch(denial(verb, resource));
    await setRules(lab(), account, rules);
    await job.kill();
    await until(async () => (await jobs.pods(namespace)).length === 0);
  });

  test.each([
    ["list", "events"],
    ["watch", "events"],
  ])("without %s of %s, a job that waits says that it cannot read why", async (verb, resource) => {
    await core().createNamespacedResourceQuota({
      namespace,
      body: { metadata: { name: "none" }, spec: { hard: { pods: "0" } } },
    });
    await take(verb, resource);
    try {
      await until(async () => {
        const { status } = await core().readNamespacedResourceQuota({ namespace, name: "none" });
        return backend === "stand-in" || status?.hard?.["pods"] === "0";
      });
      const job = waitingJob();
      await job.apply();
      const events = new EventsOfJob(job);
      const failing = jobs.errorOf(job);
      await events.saw(
        "pending",
        new RegExp(`^there is no pod for trainers\\[0\\] yet, and why is not known: ${denial(verb, resource).source}`),
      );
      await job.kill();
      await failing;
    } finally {
      await core().deleteNamespacedResourceQuota({ namespace, name: "none" });
    }
  });

  test("without delete of configmaps, the job that cannot be killed says so, and can be killed later", async () => {
    const job = waitingJob();
    await job.apply();
    await take("delete", "configmaps");
    await expect(job.kill()).rejects.toThrow(denial("delete", "configmaps"));
    await setRules(lab(), account, rules);
    await job.kill();
  });

  test("what was made of a job that is refused, and cannot be removed, is in the error", async () => {
    await setRules(lab(), account, without(without(rules, "patch", "services"), "delete", "configmaps"));
    const error = await waitingJob()
      .apply()
      .then(String, (thrown: Error) => thrown.message);
    expect(error).toMatch(denial("patch", "services"));
    expect(error).toMatch(
      /; what was made is left, because it cannot be deleted: user "user" of context "lab" may not delete configmaps /,
    );
    await setRules(lab(), account, rules);
    const next = waitingJob();
    await next.apply();
    await next.kill();
  });

  let job: KubernetesJob<"trainers">;
  let trainers: HostMesh<"hosts">;
  test("with all of them, a job runs", async () => {
    const { kubeconfig } = account;
    const meshes = { trainers: { hosts: 1, image: lab().nodeImage } };
    job = jobs.make({ namespace, kubeconfig, meshes, hostTimeout: { lost: replacementMs } });
    ({ trainers } = await job.state());
    expect(trainers.size).toBe(1);
  });

  test("without get of pods/log, the logs are refused", async () => {
    await take("get", "pods/log");
    const read = async () => {
      for await (const _ of job.logs());
    };
    await expect(read()).rejects.toThrow(denial("get", "pods/log"));
  });

  test("without get of jobs, a mesh is not resized", async () => {
    await take("get", "jobs");
    await expect(job.resize({ trainers: 2 })).rejects.toThrow(denial("get", "jobs"));
    await setRules(lab(), account, rules);
  });

  test.skipIf(backend === "cluster")(
    "without patch of pods, a lost host is replaced after the delay of its Job, and an event says why",
    async () => {
      await take("patch", "pods");
      const events = new EventsOfJob(job);
      const { metadata } = await jobs.podOf(namespace, "trainers", 0);
      await lab().exceedMemory(namespace, metadata!.name!);
      await events.saw(
        "pending",
        new RegExp(
          `^the pod after ${metadata!.name} of trainers\\[0\\] is made after a delay of 10 s or more: ${denial("patch", "pods").source}`,
        ),
      );
      await until(() => events.reasons("host-replaced").length > 0, replacementMs);
    },
  );

  test("without delete of pods, a job that is killed says so, and can be killed later", async () => {
    const { metadata } = await jobs.podOf(namespace, "trainers", 0);
    const hold = (finalizers: string[]) =>
      core().patchNamespacedPod({ namespace, name: metadata!.name!, body: { metadata: { finalizers } } }, merging);
    // The pod is there until the job is killed again.
    const { finalizers = [] } = metadata!;
    await hold([...finalizers, "viceroy.test/hold"]);
    await take("delete", "pods");
    await expect(job.kill()).rejects.toThrow(denial("delete", "pods"));
    await setRules(lab(), account, rules);
    await hold([]);
    await job.kill();
    await until(async () => (await jobs.pods(namespace)).length === 0);
  });

  test("each verb of the Role was tried", () => {
    const printed = rules.flatMap(({ verbs, resources = [] }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
    );
    const untried = [...new Set(printed)].filter((each) => !tried.has(each));
    expect(backend === "cluster" ? untried.filter((each) => each !== "patch pods") : untried).toEqual([]);
  });
});
