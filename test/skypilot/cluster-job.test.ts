/** Tests of jobs of SkyPilot on pods of a real Kubernetes cluster: `npm run test:skypilot -- --cluster`. Without one, they are skipped. */
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { SkyPilotJob } from "viceroy/job";
import { expect, onTestFinished, test } from "vitest";
import { userId } from "./lab/real-server.js";
import { clusterImage } from "./lab/skypilot-lab.js";

const url = process.env["VICEROY_SKYPILOT_URL"];
const kubectl = JSON.parse(process.env["VICEROY_SKYPILOT_KUBECTL"] ?? "[]") as string[];
const commandLine = fileURLToPath(new URL("../../dist/cli/viceroy.js", import.meta.url));
const module = fileURLToPath(new URL("lab/cluster-job.mjs", import.meta.url));
const run = promisify(execFile);

function options(meshes: Record<string, { hosts: number }>) {
  const folder = mkdtempSync(path.join(tmpdir(), "viceroy-skypilot-pods-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const machine = { cpus: 1, memory: "1GiB", image: `docker:${clusterImage}` };
  return {
    name: "pods",
    meshes: Object.fromEntries(Object.entries(meshes).map(([name, mesh]) => [name, { ...mesh, ...machine }])),
    infra: "kubernetes",
    endpoint: url!,
    cache: path.join(folder, "job.json"),
    hostTimeout: { start: "5m", lost: "5m" } as const,
    progress: "silent" as const,
    // The processors of the machine also run SkyPilot and the cluster.
    attach: { silence: 30_000, timeout: 30_000 },
  };
}

async function viceroy(given: object, ...args: string[]): Promise<string> {
  const env = { ...process.env, SKYPILOT_USER_ID: userId, VICEROY_SKYPILOT_JOB: JSON.stringify(given) };
  const [command, ...rest] = args;
  const { stdout } = await run(process.execPath, [commandLine, "job", command!, "--job", module, ...rest], { env });
  return stdout;
}

function pods(): string[] {
  const [program, ...args] = kubectl;
  const text = execFileSync(program!, [...args, "get", "pods", "-o", "name"], { encoding: "utf8" });
  return text.split("\n").filter((name) => name !== "");
}

test.skipIf(url === undefined)(
  "pods are the hosts of two meshes, a pod that is killed is replaced at its rank, and nothing is left after the end",
  async () => {
    process.env["SKYPILOT_USER_ID"] = userId;
    const given = options({ trainers: { hosts: 1 }, loaders: { hosts: 1 } });
    const job = new SkyPilotJob(given);
    onTestFinished(() => job.kill());
    const events: string[] = [];
    void (async () => {
      for await (const { kind, mesh, reason } of job.watch()) events.push(`${kind} ${mesh ?? ""}: ${reason}`);
    })();
    await job.state();
    const [name] = pods().map((pod) => pod.replace(/^pod\/(pods-[0-9a-f]{8})-.*$/, "$1"));
    expect(pods().length).toBe(2);
    expect(await viceroy(given, "state")).toContain(`cluster ${name} is UP on Kubernetes (lab), $0.00 until now`);
    const [head, worker] = pods();
    const hostname = (pod: string) => pod.replace("pod/", "");
    const hosts = await viceroy(given, "exec", "--", "hostname");
    expect(hosts.trim().split("\n").sort()).toEqual([
      `loaders[0] ${hostname(worker!)}`,
      `trainers[0] ${hostname(head!)}`,
    ]);
    execFileSync(kubectl[0]!, [...kubectl.slice(1), "delete", "--now", worker!]);
    await expect
      .poll(() => events.filter((event) => event.startsWith("host-replaced")), { timeout: 400_000 })
      .toContainEqual(expect.stringMatching(/^host-replaced loaders: it listens at tls:/));
    expect(events).toContainEqual(
      expect.stringMatching(
        /is launched again to replace loaders\[0\]: Cluster is abnormal because one or more nodes terminated/,
      ),
    );
    const after = await viceroy(given, "exec", "--", "hostname");
    expect(after.trim().split("\n").length).toBe(2);
    await expect(job.stop()).rejects.toThrow(
      /^cannot stop job "pods": .*Stopping is currently not supported for kubernetes/s,
    );
    await job.kill();
    expect(pods()).toEqual([]);
    expect(await viceroy(given, "logs")).toContain("viceroy host: attached: ");
    expect(events.at(-1)).toMatch(/^ended /);
  },
  900_000,
);
