/**
 * `node --expose-gc --import tsx bench/jobs/watch-pods.js [pods]`: what it costs a driver to watch the pods of a job, here 1,000, on a real API
 * server with stand-ins of the kubelet. A process loads the jobs, and then watches: it prints its memory before and after, and how many requests it
 * has sent in a minute in which nothing changes. The programs of Kubernetes must be there (`npm run test:kubernetes -- --prepare`).
 */
import { execFileSync } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { programsFolder } from "../../.ci/kubernetes/programs.mjs";
import { repository, runJson, startAnswering } from "../harness/index.js";

const [, self, count = "1000", kubeconfig] = process.argv;
const namespace = "bench";
/** Time in ms in which nothing changes. */
const quietMs = 60_000;

if (kubeconfig !== undefined) await watchPods();
else await measure();

async function measure() {
  if (!existsSync(programsFolder())) throw new Error("cannot measure: run npm run test:kubernetes -- --prepare first");
  const main = path.join(repository, "test/kubernetes/lab/main.ts");
  const lab = await startAnswering([process.execPath, "--import", "tsx", main, "control-plane", programsFolder()]);
  try {
    const { kubeconfig: config, kubectl: program, idleImage } = JSON.parse(readFileSync(lab.first.description, "utf8"));
    const kubectl = (args, input) =>
      execFileSync(program, ["--kubeconfig", config, ...args], { input, encoding: "utf8" }).trim();
    kubectl(["create", "namespace", namespace]);
    const pods = Number(count);
    kubectl(["apply", "-f", "-"], JSON.stringify(jobOf(pods, idleImage)));
    const ready = ["-n", namespace, "get", "job", "idle", "-o", "jsonpath={.status.ready}"];
    while (kubectl(ready) !== String(pods)) await pause(1000);
    const flags = ["--expose-gc", "--import", "tsx"];
    const options = { timeout: 300_000, cwd: repository };
    const { before, after, requests } = await runJson(
      [process.execPath, ...flags, fileURLToPath(import.meta.url), count, config],
      options,
    );
    const mebibytes = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
    console.log(
      `${count} pods: ${mebibytes(after.rss - before.rss)} of memory are added to ${mebibytes(before.rss)} (heap ` +
        `${mebibytes(before.heap)} -> ${mebibytes(after.heap)}); ${requests} requests in ${quietMs / 1000} s without a change`,
    );
  } finally {
    await lab.stop();
  }
}

function jobOf(pods, image) {
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "idle", namespace },
    spec: {
      completionMode: "Indexed",
      completions: pods,
      parallelism: pods,
      template: {
        metadata: { labels: { app: "idle" } },
        spec: { restartPolicy: "Never", containers: [{ name: "host", image }] },
      },
    },
  };
}

/** Watches the pods as a job does, and prints one line of JSON. */
async function watchPods() {
  const { KubernetesProvider } = await import("../../runtime/job/kubernetes/kubernetes-provider.js");
  const { checkKubernetesJob } = await import("../../runtime/job/kubernetes/kubernetes-spec.js");
  let requests = 0;
  subscribe("http.client.request.start", () => requests++);
  const meshes = { idle: { hosts: Number(count), selector: "app=idle", rank: "job" } };
  const { spec } = checkKubernetesJob({ namespace, kubeconfig, meshes });
  const provider = new KubernetesProvider(spec);
  const before = memory();
  const allocation = { applyId: "bench", owner: null, folder: path.dirname(self) };
  const signal = AbortSignal.timeout(2 ** 30);
  provider.watch(allocation, () => {}, signal).catch(() => {});
  // The first list has been read.
  await pause(15_000);
  requests = 0;
  await pause(quietMs);
  const after = memory();
  process.stdout.write(`${JSON.stringify({ before, after, requests })}\n`);
  process.exit(0);
}

function memory() {
  globalThis.gc();
  const { rss, heapUsed: heap } = process.memoryUsage();
  return { rss, heap };
}
