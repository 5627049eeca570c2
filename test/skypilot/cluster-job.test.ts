/** Tests of jobs of SkyPilot on pods of a real Kubernetes cluster: `npm run test:skypilot -- --cluster`. Without one, they are skipped. */
import { execFile, execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { SkyPilotJob } from "viceroy/job";
import { expect, onTestFinished, test, vi } from "vitest";
import { peer } from "../peers.js";
import { userId } from "./lab/real-server.js";
import { clusterImage } from "./lab/skypilot-lab.js";

const url = process.env["VICEROY_SKYPILOT_URL"];
const kubectl = JSON.parse(process.env["VICEROY_SKYPILOT_KUBECTL"] ?? "[]") as string[];
/** The Python that has SkyPilot's own command line. */
const client = process.env["VICEROY_SKYPILOT_CLIENT"];
const commandLine = fileURLToPath(new URL("../../dist/cli/viceroy.js", import.meta.url));
const module = fileURLToPath(new URL("lab/cluster-job.mjs", import.meta.url));
const run = promisify(execFile);

function testFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "viceroy-skypilot-pods-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

function options(meshes: Record<string, { hosts: number }>) {
  const folder = testFolder();
  const machine = { cpus: 1, memory: "1GiB", image: `docker:${clusterImage}` };
  return {
    name: "pods",
    meshes: Object.fromEntries(Object.entries(meshes).map(([name, mesh]) => [name, { ...mesh, ...machine }])),
    infra: "kubernetes",
    endpoint: url!,
    cache: path.join(folder, "job.json"),
    // SkyPilot and the cluster share the processors with the hosts: a launch can take many minutes.
    hostTimeout: { start: "20m", lost: "20m" } as const,
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

/** Returns the pods of the jobs of these tests: other tests have clusters of their own. */
function pods(): string[] {
  const [program, ...args] = kubectl;
  const text = execFileSync(program!, [...args, "get", "pods", "-o", "name"], { encoding: "utf8" });
  return text.split("\n").filter((name) => name.startsWith("pod/pods-"));
}

/** Returns the name of the cluster of a pod. */
function clusterOf(pod: string): string {
  return pod.replace(/^pod\/(pods-[0-9a-f]{8})-.*$/, "$1");
}

test.skipIf(url === undefined)(
  "pods are the hosts of two meshes, a pod that is killed is replaced at its rank, and nothing is left after the end",
  async () => {
    process.env["SKYPILOT_USER_ID"] = userId;
    const given = options({ trainers: { hosts: 1 }, loaders: { hosts: 1 } });
    const job = new SkyPilotJob(given);
    onTestFinished(() => job.kill());
    const events: string[] = [];
    const watch = async () => {
      for await (const { kind, mesh, reason } of job.watch()) events.push(`${kind} ${mesh ?? ""}: ${reason}`);
    };
    const watching = watch();
    await job.state();
    const name = clusterOf(pods()[0]!);
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
      .poll(() => events.filter((event) => event.startsWith("host-replaced")), { timeout: 1_200_000 })
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
    // The program has left the job before, and watches it again.
    await watching;
    const watchingAgain = watch();
    await job.kill();
    await watchingAgain;
    expect(pods()).toEqual([]);
    expect(await viceroy(given, "logs")).toContain("viceroy host: attached: ");
    expect(events.at(-1)).toMatch(/^ended /);
  },
  3_600_000,
);

/**
 * Makes `ssh` read what SkyPilot's own client writes into a home of the test.
 * @returns the file with the arguments of each `ssh`, and a function that runs the client
 */
function skyPilotClient() {
  const home = testFolder();
  const [used, config, wrapper] = ["used", "config", "ssh"].map((name) => path.join(home, name)) as [
    string,
    string,
    string,
  ];
  const script = [
    "#!/bin/sh",
    `echo "$@" >> '${used}'`,
    // For ssh, "~" is the home of the user, whatever HOME says.
    `sed 's#~/#${home}/#g' '${home}/.sky/generated/ssh/'* > '${config}' 2> /dev/null`,
    `exec '${peer("ssh")}' -F '${config}' "$@"`,
  ];
  writeFileSync(wrapper, `${script.join("\n")}\n`);
  chmodSync(wrapper, 0o755);
  vi.stubEnv("PATH", `${home}:${process.env["PATH"]}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const env = {
    ...process.env,
    HOME: home,
    SKYPILOT_USER_ID: userId,
    SKYPILOT_API_SERVER_ENDPOINT: url,
    SKYPILOT_DISABLE_USAGE_COLLECTION: "1",
  };
  const sky = (...args: string[]) =>
    run(client!, ["-c", "from sky.cli import cli; cli()", ...args], { env, cwd: home });
  return { used, sky };
}

test.skipIf(url === undefined)(
  "a program that does not reach the pods itself goes through the first one, by the name that SkyPilot makes known to ssh",
  async () => {
    process.env["SKYPILOT_USER_ID"] = userId;
    const { used, sky } = skyPilotClient();
    const job = new SkyPilotJob({ ...options({ trainers: { hosts: 2 } }), reach: "ssh" });
    onTestFinished(() => job.kill());
    const attached = job.state();
    attached.catch(() => {});
    await expect.poll(pods, { timeout: 1_200_000 }).toHaveLength(2);
    const name = clusterOf(pods()[0]!);
    // A user runs it once the cluster is up.
    await expect.poll(async () => (await sky("status")).stdout, { timeout: 1_200_000, interval: 2000 }).toMatch(/ UP /);
    expect((await attached)["trainers"]!.extent).toEqual({ hosts: 2 });
    const forwards = readFileSync(used, "utf8")
      .split("\n")
      .filter((line) => line.includes("BatchMode=yes") && line.includes("-W"));
    expect(new Set(forwards.map((line) => line.split(" ").at(-1)))).toEqual(new Set([name]));
    await job.kill();
    expect(pods()).toEqual([]);
  },
  3_600_000,
);
