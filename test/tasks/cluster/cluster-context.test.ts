/** Tests of the jobs of a cluster context on this machine: real keepers, hosts and entry points. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { JobSubmitError, LocalJob, ProcessJob, SSHJob } from "viceroy/job";
import {
  ClusterContext,
  type ClusterOptions,
  type JobInfo,
  JobNotFoundError,
  type RuntimeEnvOptions,
} from "viceroy/tasks";
import { afterEach, describe, expect, test } from "vitest";
import { endMarkedProcesses, markedProcesses } from "../../../runtime/job/keeper/marked-processes.js";
import { gone, until } from "../../proc/until.js";
import { makeBrokenLock, makeLock, makePackages } from "../environment/local-packages.js";

const meshes = { workers: { hosts: 1 } };
const options = { meshes, progress: "silent" } as const;

const folders: string[] = [];
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "vc-"));
  folders.push(folder);
  return folder;
}

/** Returns the ids of the runs in the folder of a cluster: one for each job that was submitted. */
function runsIn(folder: string): string[] {
  return readdirSync(folder).flatMap((id) => {
    try {
      return readdirSync(join(folder, id, "jobs"));
    } catch {
      return [];
    }
  });
}

afterEach(async () => {
  for (const run of folders.splice(0).flatMap(runsIn)) {
    await endMarkedProcesses(run, "VICEROY_JOB_KEEPER");
    await endMarkedProcesses(run);
  }
});

const clusters = {
  process: (own: ClusterOptions = { folder: newFolder() }) => new ClusterContext(ProcessJob, options, own),
  local: (own: ClusterOptions = { folder: newFolder() }) => new ClusterContext(LocalJob, options, own),
};
type Cluster = ReturnType<(typeof clusters)["process"]> | ReturnType<(typeof clusters)["local"]>;

/** Returns what an entry point prints, when its job has ended. */
async function outputOf(cluster: Cluster, id: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const { mesh, line } of cluster.jobLogs(id, { follow: true })) if (mesh === undefined) lines.push(line);
  return lines;
}

async function infoOf(cluster: Cluster, id: string): Promise<JobInfo> {
  return (await cluster.listJobs()).find((job) => job.id === id)!;
}

/** Runs a command to its end. */
async function ended(cluster: Cluster, entrypoint: string | string[], environment: RuntimeEnvOptions = {}) {
  const id = await cluster.createJob(entrypoint, environment);
  const lines = await outputOf(cluster, id);
  return { id, lines, info: await infoOf(cluster, id) };
}

describe.each(["process", "local"] as const)("jobs of a cluster context over jobs of provider %s", (provider) => {
  test("are listed when they have been submitted, and have succeeded when their entry points have", async () => {
    await using cluster = clusters[provider]();
    expect(await cluster.listJobs()).toEqual([]);
    const ids = [
      await cluster.createJob("echo one; echo and a complaint >&2"),
      await cluster.createJob(["echo", "$two"]),
    ];
    expect(ids.map((id) => /^job-[0-9a-f]{8}$/.test(id))).toEqual([true, true]);
    for (const { id, status } of await cluster.listJobs()) {
      expect(ids).toContain(id);
      expect(["PENDING", "RUNNING", "SUCCEEDED"]).toContain(status);
    }
    // Both streams are read, and no shell reads the words of a list.
    expect((await outputOf(cluster, ids[0]!)).sort()).toEqual(["and a complaint", "one"]);
    expect(await outputOf(cluster, ids[1]!)).toEqual(["$two"]);
    const jobs = await cluster.listJobs();
    expect(jobs.map(({ id, status, exitCode }) => [id, status, exitCode])).toEqual(
      ids.map((id) => [id, "SUCCEEDED", 0]),
    );
    for (const { submissionTime, startTime, endTime } of jobs) {
      expect([submissionTime, startTime, endTime].sort()).toEqual([submissionTime, startTime, endTime]);
    }
  });

  test("have the time at which the entry point has ended, and not that of a question", async () => {
    await using cluster = clusters[provider]();
    const id = await cluster.createJob(["node", "-p", "Date.now()"]);
    const [printed] = await outputOf(cluster, id);
    const before = Date.now();
    await until(() => Date.now() > before);
    const { endTime } = await infoOf(cluster, id);
    expect(endTime).toBeGreaterThanOrEqual(Number(printed));
    expect(endTime).toBeLessThanOrEqual(before);
  });

  test("end when they are deleted, with everything that they have started, and their logs stay", async () => {
    await using cluster = clusters[provider]();
    const stubborn = "trap '' TERM; echo $$; while true; do sleep 1; done";
    const id = await cluster.createJob(`setsid sh -c "${stubborn.replaceAll("$", "\\$")}" & ${stubborn}`);
    const pids: number[] = [];
    for await (const { mesh, line } of cluster.jobLogs(id, { follow: true })) {
      if (mesh === undefined && pids.push(Number(line)) === 2) break;
    }
    expect((await infoOf(cluster, id)).status).toBe("RUNNING");
    await cluster.deleteJob(id);
    expect(pids.map(gone)).toEqual([true, true]);
    expect(runsIn(cluster.folder).flatMap((run) => markedProcesses(run))).toEqual([]);
    const info = await infoOf(cluster, id);
    expect(info).toMatchObject({ id, status: "STOPPED", endTime: expect.any(Number) });
    // A shell whose `sleep` is killed before it says so.
    const printed = (await outputOf(cluster, id)).filter((line) => line !== "Killed");
    expect(printed.map(Number).sort()).toEqual(pids.sort());
    // It has no effect on a job that has ended.
    await cluster.deleteJob(id);
    expect(await infoOf(cluster, id)).toEqual(info);
  });

  test("have failed when their entry points have, with the exit code and the reason", async () => {
    await using cluster = clusters[provider]();
    const script = await ended(cluster, "node missing.js");
    expect(script.info).toMatchObject({
      status: "FAILED",
      exitCode: 1,
      reason: "its entry point has ended with exit code 1",
      endTime: expect.any(Number),
    });
    expect(script.lines.join("\n")).toContain("Cannot find module");
    const program = await ended(cluster, ["no-such-program"]);
    expect(program.info).toMatchObject({
      status: "FAILED",
      exitCode: 127,
      reason: `its command "no-such-program" could not be started: spawn no-such-program ENOENT in ${process.cwd()}`,
      endTime: expect.any(Number),
    });
  });

  test("have the environment variables, the working directory and the packages of their environment", async () => {
    await using cluster = clusters[provider]();
    const workingDirectory = realpathSync(newFolder());
    writeFileSync(join(workingDirectory, "main.mjs"), 'import { version } from "tidy-esm"; console.log(version);');
    const { lines, info } = await ended(cluster, 'echo "$CONFIG_PATH" && pwd && node main.mjs && tidy', {
      env: { CONFIG_PATH: 'it\'s $HOME\n"here"' },
      workingDirectory,
      packages: { lock: makeLock("1.0.0") },
      packageRequirements: [makePackages("3.0.0").cjs],
      minimumResources: { cpus: 2 },
    });
    expect(lines).toEqual(["it's $HOME", '"here"', workingDirectory, "esm 1.0.0 with cjs 3.0.0", "command 3.0.0"]);
    expect(info.status).toBe("SUCCEEDED");
  });

  test("succeed only with the environment variable that they ask for", async () => {
    await using cluster = clusters[provider]();
    const script = ["node", "-e", "process.exit(process.env.TEST_ENV_VAR === 'expected' ? 0 : 1)"];
    expect((await ended(cluster, script, { env: { TEST_ENV_VAR: "expected" } })).info.status).toBe("SUCCEEDED");
    expect((await ended(cluster, script, { env: { TEST_ENV_VAR: "other" } })).info.status).toBe("FAILED");
  });

  test("have failed when their packages cannot be installed, and their logs say why", async () => {
    await using cluster = clusters[provider]();
    const failed = await ended(cluster, "echo never", { packages: { lock: makeBrokenLock() } });
    expect([failed.info.status, failed.info.exitCode]).toEqual(["FAILED", 126]);
    expect(failed.lines.join("\n")).toMatch(/^viceroy: cannot install packages in .*ENOENT/s);
  });

  test("that nobody knows are an error that names the folder", async () => {
    await using cluster = clusters[provider]();
    const where = `there is no such job in ${cluster.folder}; listJobs returns those that are there`;
    const deletion = cluster.deleteJob("job-1234");
    await expect(deletion).rejects.toThrow(JobNotFoundError);
    await expect(deletion).rejects.toMatchObject({ id: "job-1234", message: `cannot delete job "job-1234": ${where}` });
    await expect(cluster.deleteJob("../job")).rejects.toThrow(`cannot delete job "../job": ${where}`);
    await expect(outputOf(cluster, "..")).rejects.toThrow(`cannot read the logs of job "..": ${where}`);
  });

  test("go on when the program that has created them is killed, or ends, and other programs find them", async () => {
    await using cluster = clusters[provider]();
    const { folder } = cluster;
    const names = { process: "ProcessJob", local: "LocalJob" };
    const [job, tasks] = ["job", "tasks"].map((name) => new URL(`../../../dist/${name}.js`, import.meta.url).href);
    const driver = (then: string) => `
      import { ${names[provider]} } from "${job}";
      import { ClusterContext } from "${tasks}";
      const cluster = new ClusterContext(${names[provider]}, ${JSON.stringify(options)}, { folder: ${JSON.stringify(folder)} });
      await cluster.createJob("echo $$; exec sleep 600");
      ${then}`;
    const argv = (then: string) => ["--input-type=module", "--eval", driver(then)];
    const ends = spawn(process.execPath, argv(""), { stdio: "inherit" });
    await new Promise((resolve) => ends.once("exit", resolve));
    expect(ends.exitCode).toBe(0);
    const killed = spawn(process.execPath, argv("setInterval(() => {}, 1000);"), { stdio: "inherit" });
    await until(async () => (await cluster.listJobs()).filter(({ status }) => status === "RUNNING").length === 2);
    killed.kill("SIGKILL");
    await until(() => gone(killed.pid!));
    const jobs = await cluster.listJobs();
    expect(jobs.map(({ status }) => status)).toEqual(["RUNNING", "RUNNING"]);
    for (const { id } of jobs) await cluster.deleteJob(id);
    expect((await cluster.listJobs()).map(({ status }) => status)).toEqual(["STOPPED", "STOPPED"]);
    expect(runsIn(folder).flatMap((run) => markedProcesses(run))).toEqual([]);
  });

  test("have failed when they were killed from outside, and deleting them ends what is left", async () => {
    await using cluster = clusters[provider]();
    const id = await cluster.createJob("exec sleep 600");
    await until(async () => (await infoOf(cluster, id)).status === "RUNNING");
    const [run] = runsIn(cluster.folder);
    // SIGKILL at once. Some of the processes may have ended by themselves meanwhile.
    await endMarkedProcesses(run!, "VICEROY_JOB_KEEPER", () => false, 0);
    await until(async () => (await infoOf(cluster, id)).status === "FAILED");
    const info = await infoOf(cluster, id);
    expect(info.reason).toBe("it has ended without its entry point");
    expect(info.endTime).toBe(undefined);
    await cluster.deleteJob(id);
    expect(markedProcesses(run!)).toEqual([]);
    expect(await infoOf(cluster, id)).toEqual(info);
  });
});

describe("a cluster context", () => {
  test("refuses what is malformed", async () => {
    const make =
      (...args: unknown[]) =>
      () =>
        new (ClusterContext as new (...all: unknown[]) => unknown)(...args);
    expect(make(ProcessJob, { ...options, cache: "a.json" })).toThrow(
      new TypeError(
        "cannot make a ClusterContext: expected options of jobs without cache, because each job has its own; use the option folder of the context",
      ),
    );
    expect(make(ProcessJob, options, { folder: "" })).toThrow(
      new TypeError('cannot make a ClusterContext: expected folder as a path, got ""'),
    );
    expect(make(ProcessJob, options, { directory: "a" })).toThrow(
      new TypeError('cannot make a ClusterContext: expected the option folder, got "directory"'),
    );
    expect(make(ProcessJob, { meshes: { workers: { hosts: 0 } } })).toThrow(/expected hosts of mesh "workers"/);
    await using cluster = clusters.process();
    for (const entrypoint of ["", " ", [], [""], [1], 1]) {
      await expect(cluster.createJob(entrypoint as string)).rejects.toThrow(
        "cannot create a job: expected entrypoint as a command line or a list of the program and its arguments, got ",
      );
    }
    await expect(cluster.createJob("true", { env: { A: 1 } } as never)).rejects.toThrow("env values must be strings");
    await expect(cluster.createJob("true", { minimumResources: { tpus: 4 } })).rejects.toThrow(
      "cannot create a job: expected minimumResources of cpus, gpus, memory, which hosts of jobs have, got tpus",
    );
    expect(await cluster.listJobs()).toEqual([]);
  });

  test("has ids that begin with the name of its jobs", async () => {
    await using cluster = new ClusterContext(LocalJob, { ...options, name: "night" }, { folder: newFolder() });
    expect((await ended(cluster, "true")).id).toMatch(/^night-[0-9a-f]{8}$/);
  });

  test("leaves nothing of a job that the provider refuses", async () => {
    const folder = newFolder();
    const cluster = new ClusterContext(SSHJob, { meshes: { workers: { hosts: ["n1"] } } }, { folder });
    await expect(cluster.createJob("true")).rejects.toThrow(JobSubmitError);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("says when the jobs of a folder are of another class", async () => {
    const cluster = clusters.local();
    const { id } = await ended(cluster, "true");
    const other = clusters.process({ folder: cluster.folder });
    await until(async () => (await infoOf(cluster, id)).status === "SUCCEEDED");
    // Nobody asks the provider about a job that has ended.
    expect((await other.listJobs()).map(({ status }) => status)).toEqual(["SUCCEEDED"]);
    const running = await cluster.createJob("sleep 600");
    await expect(other.listJobs()).rejects.toThrow(
      `cannot ask about job "${running}" in ${cluster.folder}: its provider is "local", and this ClusterContext has ` +
        "another class of jobs; name another folder with the option folder",
    );
    await cluster.deleteJob(running);
  });

  test("waits a while for the record of a job that another program submits", async () => {
    await using cluster = clusters.process();
    const note = (id: string, submissionTime: number) => {
      mkdirSync(join(cluster.folder, id));
      writeFileSync(join(cluster.folder, id, "note.json"), JSON.stringify({ id, submissionTime }));
    };
    note("job-old", Date.now() - 3_600_000);
    note("job-new", Date.now());
    expect((await cluster.listJobs()).map(({ id, status, reason }) => [id, status, reason])).toEqual([
      ["job-old", "FAILED", "its submission was interrupted"],
      ["job-new", "PENDING", undefined],
    ]);
    await cluster.deleteJob("job-new");
    expect((await infoOf(cluster, "job-new")).status).toBe("STOPPED");
  });

  test("keeps the newest 100 jobs that have ended", async () => {
    await using cluster = clusters.local();
    for (let number = 0; number < 103; number++) {
      const id = `job-${number}`;
      mkdirSync(join(cluster.folder, id));
      const end = { status: "SUCCEEDED", exitCode: 0 };
      writeFileSync(join(cluster.folder, id, "note.json"), JSON.stringify({ id, submissionTime: number, end }));
    }
    const { id } = await ended(cluster, "true");
    const ids = (await cluster.listJobs()).map((job) => job.id);
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([101, "job-3", id]);
  });

  test("ends what this program follows when it is closed, and its jobs go on", async () => {
    const cluster = clusters.local();
    const id = await cluster.createJob("echo here; exec sleep 600");
    const following = (async () => {
      for await (const _ of cluster.jobLogs(id, { follow: true })) await cluster.close();
    })();
    await following;
    for (const call of [cluster.listJobs(), cluster.createJob("true"), cluster.deleteJob(id), outputOf(cluster, id)]) {
      await expect(call).rejects.toThrow(
        /^cannot (list jobs|(create|delete|read the logs of) a job): this ClusterContext is closed$/,
      );
    }
    await using next = clusters.local({ folder: cluster.folder });
    expect((await infoOf(next, id)).status).toBe("RUNNING");
    await next.deleteJob(id);
  });
});
