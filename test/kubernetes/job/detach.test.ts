/** Tests of drivers that reach the API server alone and detach: their meshes go on in the pods, and another such driver finds them. */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { KubernetesJob } from "viceroy/job";
import { afterEach, beforeAll, expect, test } from "vitest";
import { loadProject, project, startOrdered } from "../../host/publish/programs.js";
import { areConnected } from "../../host/tcp-connections.js";
import { newCache } from "../../job/job-program.js";
import { until } from "../../proc/until.js";
import { daemonOf } from "../lab/daemon-of.js";
import { JobsOfTests } from "../lab/jobs-of-tests.js";
import { backend, onKubernetes } from "../lab/on-kubernetes.js";

const cli = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));
const module = fileURLToPath(new URL("job-of-options.mjs", import.meta.url));

beforeAll(async () => {
  await loadProject();
});

/** Returns what has been printed in the pods. */
async function logsOf(job: KubernetesJob<string>): Promise<string> {
  let said = "";
  for await (const { line } of job.logs()) said += `${line}\n`;
  return said;
}

onKubernetes("meshes of drivers outside of the cluster that detach", (lab) => {
  const jobs = new JobsOfTests(lab);
  afterEach(() => jobs.killAll());

  async function makeOptions() {
    const { kubeconfig, nodeImage: image } = lab();
    const namespace = await lab().namespace();
    const meshes = { trainers: { hosts: 2, image } };
    const cache = newCache();
    return { namespace, meshes, kubeconfig, cache, reach: "api-server", progress: "silent" } as const;
  }

  /** Starts a driver on the laptop. */
  function startDriver(options: object) {
    const through = [...(lab().laptop ?? []), process.execPath];
    return startOrdered(project, through, "job-owner.ts", [JSON.stringify({ kind: "kubernetes", ...options })]);
  }

  test("go on in the pods, and another driver finds them with the logs and the failures of the meantime", async () => {
    const options = await makeOptions();
    const job = jobs.make(options);
    const owner = await startDriver(options);
    await owner.order("state");
    await owner.order("spawn", "shelves", "trainers", "1");
    await owner.order("actors", "index", "shelves");
    await owner.order("publish", "index", "index");
    expect(await owner.order("add", "index", "x")).toEqual([1, 1]);
    const pids = (await owner.order("where", "index")) as number[];
    const file = `/tmp/vk-${randomUUID()}`;
    await owner.order("failAt", "index", "1", file);
    // Pods of the cluster have process ids of their own.
    const daemons = backend === "cluster" ? [] : pids.map(daemonOf);
    const touched = new Set<number>();
    let isOver = false;
    const detached = owner.order("detach").finally(() => {
      isOver = true;
    });
    while (!isOver) {
      for (const daemon of daemons) if (areConnected(owner.child.pid!, daemon)) touched.add(daemon);
      await delay(5);
    }
    await detached;
    expect([...touched]).toEqual([]);
    owner.child.kill("SIGKILL");
    await owner.exited;

    const env = { ...process.env, OPTIONS: JSON.stringify(options) };
    const exec = [cli, "job", "exec", "--job", module, "--rank", "1", "--", "touch", file];
    await promisify(execFile)(process.execPath, exec, { env });
    await until(async () => (await logsOf(job)).includes(`RangeError: found ${file}`));

    const next = await startDriver(options);
    await next.order("attach");
    await next.order("lookup", "index");
    const [living, failed] = (await next.order("outcomes", "index")) as [unknown, unknown];
    expect(living).toBe(2);
    expect(failed).toContain(`RangeError: found ${file}`);
    expect(await logsOf(job)).toContain(`there is ${file}`);
    if (backend === "cluster") return;
    const [, controller] = /controller (\d+) has taken over/.exec(await logsOf(job))!;
    expect(daemons.map((daemon) => areConnected(Number(controller), daemon))).toEqual([true, true]);
    expect(daemons.some((daemon) => areConnected(next.child.pid!, daemon))).toBe(false);
  });
});
