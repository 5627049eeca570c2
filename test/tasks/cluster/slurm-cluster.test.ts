/** Tests of the jobs of a cluster context on a real cluster of Slurm. Each call is a program of its own on the login machine. */
import { execFile } from "node:child_process";
import { mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { JobLogLine } from "viceroy/job";
import type { JobInfo, RuntimeEnvOptions } from "viceroy/tasks";
import { afterEach, describe, expect, test } from "vitest";
import { networks } from "../../faults/network.js";
import { type SlurmCluster, withCluster } from "../../job/lab/slurm-cluster.js";
import { findSlurm } from "../../job/lab/slurm-release.js";
import { permitted } from "../../permitted.js";
import { gone, until } from "../../proc/until.js";
import { makeLock } from "../environment/local-packages.js";

const release = findSlurm("22.05");
const slurm = permitted(
  "jobs of a cluster context on a cluster of Slurm",
  "Debian's packages slurmctld, slurmd and munge",
  release !== undefined,
);
let lab: SlurmCluster;
const program = fileURLToPath(new URL("cluster-program.mjs", import.meta.url));

const run = promisify(execFile);

/** A cluster context that other programs use, each for one call. */
class Cluster {
  readonly #options: string;

  constructor(options: object = {}) {
    const folder = mkdtempSync(join(tmpdir(), "vc-"));
    this.#options = JSON.stringify({ meshes: { workers: { hosts: 1 } }, ...options, folder });
  }

  async create(entrypoint: string | string[], environment: RuntimeEnvOptions = {}): Promise<string> {
    const [id] = await this.#call<string>("createJob", entrypoint, environment);
    return id!;
  }

  async info(id: string): Promise<JobInfo> {
    const [jobs] = await this.#call<JobInfo[]>("listJobs");
    return jobs!.find((job) => job.id === id)!;
  }

  /** Returns what the entry point has printed. */
  async output(id: string, follow = true): Promise<string[]> {
    const lines = await this.#call<JobLogLine>("jobLogs", id, { follow });
    // Slurm, and what signs the certificates of the hosts, print there, too.
    return lines.flatMap(({ mesh, line }) =>
      mesh === undefined && !/^(?:\w+ )?(?:srun|slurmstepd-\w+|viceroy \w+):/.test(line) ? [line] : [],
    );
  }

  async delete(id: string): Promise<void> {
    await this.#call("deleteJob", id);
  }

  async #call<T>(...[call, ...args]: readonly [string, ...unknown[]]): Promise<T[]> {
    const words = [...lab.login.through, process.execPath, program, this.#options, call];
    const [file, ...argv] = [...words, ...args.map((arg) => JSON.stringify(arg))];
    const { stdout } = await run(file!, argv, { env: lab.env });
    return stdout
      .trim()
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as T);
  }
}

function livingIds(): string[] {
  const ids = lab.run("squeue", "--noheader", "--format=%i").split("\n");
  return ids.filter((line) => line !== "");
}

describe.runIf(networks && slurm)("jobs of a cluster context on Slurm", () => {
  withCluster({ release, nodes: 2 }, (started) => {
    lab = started;
  });
  afterEach(async () => {
    lab.run("scancel", "--user=root");
    await until(() => livingIds().length === 0);
  });

  test("wait in the queue, run, and succeed; Slurm knows them by their ids", async () => {
    const cluster = new Cluster({ exclusive: true, meshes: { workers: { hosts: 2 } } });
    const first = await cluster.create("echo on $SLURMD_NODENAME; exec sleep 600");
    await until(async () => (await cluster.info(first)).status === "RUNNING");
    const second = await cluster.create("echo second >&2");
    expect(await cluster.info(second)).toEqual({ id: second, status: "PENDING", submissionTime: expect.any(Number) });
    expect(lab.run("squeue", "--noheader", "--format=%j").trim().split("\n").sort()).toEqual([first, second].sort());
    await cluster.delete(first);
    expect(await cluster.output(second)).toEqual(["second"]);
    const { status, exitCode, submissionTime, startTime, endTime } = await cluster.info(second);
    expect([status, exitCode]).toEqual(["SUCCEEDED", 0]);
    expect([submissionTime, startTime, endTime].sort()).toEqual([submissionTime, startTime, endTime]);
    expect(await cluster.info(first)).toMatchObject({ status: "STOPPED", endTime: expect.any(Number) });
    expect(await cluster.output(first, false)).toEqual(["on n1"]);
  });

  test("have the variables, the working directory, the packages and the resources of their environment", async () => {
    const workingDirectory = realpathSync(mkdtempSync(join(tmpdir(), "work-")));
    writeFileSync(join(workingDirectory, "main.mjs"), 'import { version } from "tidy-esm"; console.log(version);');
    const cluster = new Cluster({ exclusive: false });
    const id = await cluster.create("echo $WORD; pwd; node main.mjs; echo $SLURM_GPUS_ON_NODE", {
      env: { WORD: "it's here" },
      workingDirectory,
      packages: { lock: makeLock("1.0.0") },
      minimumResources: { gpus: 1 },
    });
    expect(await cluster.output(id)).toEqual(["it's here", workingDirectory, "esm 1.0.0 with cjs 1.0.0", "1"]);
    expect((await cluster.info(id)).status).toBe("SUCCEEDED");
  });

  test("have failed when their entry points have", async () => {
    const cluster = new Cluster();
    const script = await cluster.create("node missing.js");
    await cluster.output(script);
    expect(await cluster.info(script)).toMatchObject({ status: "FAILED", exitCode: 1, endTime: expect.any(Number) });
    const missing = await cluster.create(["no-such-program"]);
    await cluster.output(missing);
    expect(await cluster.info(missing)).toMatchObject({
      status: "FAILED",
      exitCode: 127,
      endTime: expect.any(Number),
      reason: expect.stringContaining('its command "no-such-program" could not be started'),
    });
  });

  test("end when they are deleted, with everything that they have started", async () => {
    const cluster = new Cluster();
    const id = await cluster.create(`setsid sh -c 'trap "" TERM; echo $$; sleep 600' & echo $$; sleep 600`);
    await until(async () => (await cluster.output(id, false)).length === 2);
    const pids = (await cluster.output(id, false)).map(Number);
    await cluster.delete(id);
    await until(() => pids.every(gone));
    expect(livingIds()).toEqual([]);
    expect((await cluster.info(id)).status).toBe("STOPPED");
  });

  test("have failed when somebody else cancels them", async () => {
    const cluster = new Cluster();
    const id = await cluster.create("exec sleep 600");
    await until(async () => (await cluster.info(id)).status === "RUNNING");
    lab.run("scancel", livingIds()[0]!);
    await until(async () => (await cluster.info(id)).exitCode === undefined && livingIds().length === 0);
    expect(await cluster.info(id)).toMatchObject({ status: "FAILED", reason: "it has ended without its entry point" });
  });
});
