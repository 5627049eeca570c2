/** Tests of `viceroy job list` and `viceroy job exec` with real jobs on this machine. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { gone, until } from "../proc/until.js";
import { type JobPlace, startViceroyJob, viceroyJob } from "./batch-driver.js";
import { newCache, processesOf } from "./job-program.js";

const cli = fileURLToPath(new URL("../../dist/cli/viceroy.js", import.meta.url));
const places: JobPlace[] = [];
afterEach(async () => {
  await Promise.all(places.splice(0).map((place) => viceroyJob(place, "kill")));
});

function newPlace(job: JobPlace["job"], cache = newCache()): JobPlace {
  const place = { job, cache };
  places.push(place);
  return place;
}

function list(folder: string, ...args: readonly string[]): string {
  return spawnSync(process.execPath, [cli, "job", "list", ...args], { cwd: folder, encoding: "utf8" }).stdout;
}

describe("viceroy job list", () => {
  test("shows what runs and what has ended last, without any module", async () => {
    const folder = mkdtempSync(join(tmpdir(), "vl-"));
    expect(list(folder)).toBe(`there are no jobs under ${folder}\n`);
    const running = newPlace("process", join(folder, "one/.viceroy/job_state.json"));
    const { applyId } = JSON.parse((await viceroyJob(running, "apply", "--json")).out);
    const ended = newPlace("local", join(folder, "two/state.json"));
    await viceroyJob(ended, "run", "--", "true");
    await viceroyJob(ended, "run", "--", "sh", "-c", "exit 4");

    const jobs = list(folder, "--json")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(jobs).toMatchObject([
      { job: "viceroy", provider: "local", state: "ended", exitCode: 4, hosts: 1 },
      { job: "viceroy", provider: "process", state: "running", hosts: 2, applyId },
    ]);
    const [{ submittedAt, applyId: endedId }, { submittedAt: runningSince }] = jobs;
    const times = [submittedAt, runningSince].map((time) => new Date(time).toISOString());
    expect(list(folder).split("\n")).toEqual([
      `job      provider  state      submitted                 hosts  id${" ".repeat(36)}folder of the cache`,
      `viceroy  local     ended (4)  ${times[0]}  1      ${endedId}  ${folder}/two`,
      `viceroy  process   running    ${times[1]}  2      ${applyId}  ${folder}/one/.viceroy`,
      "",
    ]);
    await viceroyJob(running, "kill");
    expect(list(join(folder, "one"))).toContain("ended");
  });
});

describe("the folders of runs", () => {
  test("are kept for the newest runs, and for those that still run", async () => {
    const folder = mkdtempSync(join(tmpdir(), "vl-"));
    const running = newPlace("process", join(folder, "running.json"));
    const { applyId } = JSON.parse((await viceroyJob(running, "apply", "--json")).out);
    const ended = newPlace("local", join(folder, "ended.json"));
    await viceroyJob(ended, "run", "--", "true");
    const jobs = join(folder, "jobs");
    const [first] = readdirSync(jobs).filter((name) => name !== applyId) as [string];
    const record = JSON.parse(readFileSync(join(jobs, first, "job.json"), "utf8"));
    // Further runs that have ended, a millisecond after each other.
    const copies = Array.from({ length: 20 }, (_, i) => `${first.slice(0, -2)}${10 + i}`).filter((id) => id !== first);
    for (const [i, id] of copies.entries()) {
      cpSync(join(jobs, first), join(jobs, id), { recursive: true });
      const copy = { ...record, applyId: id, folder: join(jobs, id), submittedAt: record.submittedAt + 1 + i };
      writeFileSync(join(jobs, id, "job.json"), JSON.stringify(copy));
    }
    await viceroyJob(ended, "run", "--", "true");
    // The first two are older than the twenty that are kept. One of them still runs.
    await until(() => !existsSync(join(jobs, first)));
    expect(readdirSync(jobs)).toEqual(expect.arrayContaining([applyId, ...copies.slice(1)]));
  });
});

describe("viceroy job exec", () => {
  test("runs a command on all hosts of a job, and exits with the worst exit code", async () => {
    const place = newPlace("process");
    const script =
      'echo "on $VICEROY_JOB_MESH"; echo "failed on $VICEROY_JOB_RANK" >&2; exit $((3 * VICEROY_JOB_RANK))';
    expect(await viceroyJob(place, "exec", "--", "sh", "-c", script)).toEqual({
      code: 1,
      out: "",
      err: 'job "viceroy" does not run\n',
    });
    await viceroyJob(place, "apply");
    const { code, out, err } = await viceroyJob(place, "exec", "--", "sh", "-c", script);
    expect(code).toBe(3);
    expect(out.split("\n").sort()).toEqual(["", "workers[0] on workers", "workers[1] on workers"]);
    expect(err.split("\n").sort()).toEqual(["", "workers[0] failed on 0", "workers[1] failed on 1"]);
  });

  test("runs it on one host, also with JSON, and names what does not exist", async () => {
    const place = newPlace("process");
    await viceroyJob(place, "apply");
    const one = await viceroyJob(place, "exec", "--json", "--mesh", "workers", "--rank", "1", "--", "echo", "a b");
    expect(
      one.out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { mesh: "workers", rank: 1, stream: "stdout", line: "a b" },
      { mesh: "workers", rank: 1, exitCode: 0 },
    ]);
    const missing = await viceroyJob(place, "exec", "--rank", "0", "--", "no-such-program");
    expect(missing).toEqual({
      code: 127,
      out: "",
      err: 'workers[0] cannot run "no-such-program": spawn no-such-program ENOENT\n',
    });
    expect(await viceroyJob(place, "exec", "--mesh", "trainers", "--", "true")).toEqual({
      code: 3,
      out: "",
      err: 'job "viceroy" has no mesh "trainers"; it has "workers"\n',
    });
    expect((await viceroyJob(place, "exec", "--rank", "2", "--", "true")).err).toBe(
      'cannot run a command in job "viceroy": expected a rank from 0 to 1, got 2\n',
    );
    const word = await viceroyJob(place, "exec", "--rank", "two", "--", "true");
    expect([word.code, word.err]).toEqual([3, 'cannot run a command: expected --rank as a whole number, got "two"\n']);
  });

  test.each(["SIGINT", "SIGKILL"] as const)("ends the command and its children with itself, at %s", async (signal) => {
    const place = newPlace("process");
    await viceroyJob(place, "apply");
    const { applyId } = JSON.parse(readFileSync(place.cache, "utf8"));
    const daemons = processesOf(applyId).length;
    const { child, ended } = startViceroyJob(
      place,
      "exec",
      "--",
      "sh",
      "-c",
      'trap "" TERM; sleep 600 & wait; sleep 600',
    );
    await until(() => processesOf(applyId).length >= daemons + 4);
    const all = processesOf(applyId);
    process.kill(-child.pid!, signal);
    const { code } = await ended;
    expect(code).toBe(signal === "SIGINT" ? 130 : null);
    await until(() => processesOf(applyId).length === daemons);
    // The environment of a process that has ended cannot be read, which may be before it is gone.
    await until(() => all.filter((pid) => !gone(pid)).length === daemons);
  });

  test("passes on much output", async () => {
    const place = newPlace("local");
    const { applyId } = JSON.parse((await viceroyJob(place, "run", "--detach", "--json", "--", "sleep", "600")).out);
    const { code, out } = await viceroyJob(place, "exec", "--", "seq", "200000");
    expect(code).toBe(0);
    expect(out.split("\n").filter((line) => line !== "")).toHaveLength(200_000);
    expect(out.endsWith("workers[0] 200000\n")).toBe(true);
    expect(processesOf(applyId).length).toBeGreaterThan(0);
  });

  test("passes on much output of several hosts", async () => {
    const place = newPlace("process");
    await viceroyJob(place, "apply");
    const { out } = await viceroyJob(place, "exec", "--", "seq", "100000");
    expect(out.split("\n").filter((line) => line.startsWith("workers[1] "))).toHaveLength(100_000);
  });
});
