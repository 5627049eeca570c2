/** Tests of jobs on a driver's machine with faults: full disks, foreign caches, and drivers that are killed at any time. */
import { execFileSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { JobCacheError, JobSubmitError, ProcessJob } from "viceroy/job";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { permitted } from "../permitted.js";
import { compileCrew } from "../proc/crew.js";
import { until } from "../proc/until.js";
import { newCache, processesOf, startProgram } from "./job-program.js";

const root = permitted("jobs on full disks", "root, which mounts file systems", process.getuid?.() === 0);
const mounted: string[] = [];

beforeAll(async () => {
  await compileCrew();
  // Other tests have jobs, too.
  vi.stubEnv("TMPDIR", mkdtempSync(join(tmpdir(), "vt-")));
});
afterEach(() => {
  for (const folder of mounted.splice(0)) execFileSync("umount", ["-l", folder]);
});

/** Returns a folder on a file system on which nothing more can be created after `files` further files and folders. */
function smallFolder(files: number, size = "1M"): string {
  const folder = mkdtempSync(join(tmpdir(), "vf-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size},nr_inodes=${files + 1}`, "tmpfs", folder]);
  mounted.push(folder);
  return folder;
}

const jobWith = (cache: string | null, hosts = 1) =>
  new ProcessJob({ meshes: { workers: { hosts } }, cache, progress: "silent" });

async function failureOf(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => {
      throw new Error("expected a rejection");
    },
    (error: Error) => error,
  );
}

/** Returns the directories of sockets that jobs have here. */
const directories = () => readdirSync(tmpdir()).filter((name) => name.startsWith("vj-"));

describe.runIf(root)("a full disk", () => {
  test.each([
    ["the lock", 0, /^cannot lock .*: ENOSPC: no space left on device, open '.*'$/],
    ["the cache", 1, /^ENOSPC: no space left on device, open '.*'$/],
  ])("without space for %s, a job is not started", async (_, files, reason) => {
    const cache = join(smallFolder(files), "job_state.json");
    const error = await failureOf(jobWith(cache).apply());
    expect(error).toBeInstanceOf(JobCacheError);
    expect(error.message.startsWith(`cannot use the job cache ${cache}: `)).toBe(true);
    expect(error.message.slice(`cannot use the job cache ${cache}: `.length)).toMatch(reason);
    expect(existsSync(cache)).toBe(false);
    expect(directories()).toEqual([]);
  });

  test.each([
    [2, /ENOSPC: no space left on device, mkdir '.*'$/],
    [6, /ENOSPC: no space left on device, open '.*keeper\.log'$/],
    [7, /its keeper could not start: ENOSPC: no space left on device, open '.*workers-0\.log'$/],
  ])("without space for the logs, nothing of the job is left (%i files)", async (files, reason) => {
    const folder = smallFolder(files);
    const error = await failureOf(jobWith(join(folder, "job_state.json")).apply());
    expect(error).toBeInstanceOf(JobSubmitError);
    expect(error.message).toMatch(reason);
    expect(readdirSync(folder).filter((name) => name === "job_state.json")).toEqual([]);
    expect(directories()).toEqual([]);
  });

  test("does not end a job that runs: what is printed is lost", async () => {
    const folder = smallFolder(100);
    const job = jobWith(join(folder, "job_state.json"));
    const { workers } = await job.state();
    try {
      writeFileSync(join(folder, "fill"), Buffer.alloc(2 ** 20));
    } catch {
      // The disk is full now.
    }
    await workers.spawnProcs({ gpus: 2 }).ready;
    const { applyId } = job;
    await job.kill();
    expect(processesOf(applyId!)).toEqual([]);
    expect(directories()).toEqual([]);
  });
});

test.runIf(root)("the cache of another user is an error, and stays as it is", async () => {
  const cache = newCache();
  const other = 65_534;
  writeFileSync(cache, "{}");
  chownSync(cache, other, other);
  const error = await failureOf(jobWith(cache).state());
  expect(error).toBeInstanceOf(JobCacheError);
  expect(error.message).toBe(
    `cannot use the job cache ${cache}: it belongs to another user (${other}); name another file with the option cache`,
  );
  expect(readFileSync(cache, "utf8")).toBe("{}");
});

test("a driver that is killed at any time of its submission leaves nothing that kill does not find", async () => {
  for (const delay of [0, 10, 20, 40, 80, 160, 320, 640]) {
    const cache = newCache();
    const program = startProgram(cache, "wait");
    // The record is written first.
    await until(() => existsSync(cache));
    await pause(delay);
    program.child.kill("SIGKILL");
    await program.exited;
    const { applyId } = JSON.parse(readFileSync(cache, "utf8"));
    await new ProcessJob({ meshes: { workers: { hosts: 2 }, loaders: { hosts: 1 } }, cache }).kill();
    expect(processesOf(applyId)).toEqual([]);
    expect(directories()).toEqual([]);
    expect(existsSync(cache)).toBe(false);
  }
});
