/**
 * Tests of jobs that run a command on this machine: real keepers, hosts and commands. `viceroy job run` starts them, and is
 * killed.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { JobLostError, JobStartError, JobSubmitError, LocalJob, ProcessJob, SSHJob } from "viceroy/job";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Crew, loadCrew, project } from "../proc/crew.js";
import { gone, until } from "../proc/until.js";
import {
  cli,
  client,
  clientAt,
  clientLines,
  type JobPlace,
  startViceroyJob,
  talk,
  talkLines,
  viceroyJob,
} from "./batch-driver.js";
import { newCache, processesOf } from "./job-program.js";

let crew: Crew;
beforeAll(async () => {
  crew = await loadCrew();
});

const places: JobPlace[] = [];
afterEach(async () => {
  await Promise.all(places.splice(0).map((place) => viceroyJob(place, "kill")));
});

function newPlace(job: JobPlace["job"], further: Partial<JobPlace> = {}): JobPlace {
  const place = { job, cache: newCache(), ...further };
  places.push(place);
  return place;
}

const commandLog = (folder: string) => join(folder, "logs/command.log");

describe.each(["process", "local"] as const)("a command of a job of provider %s", (job) => {
  test("gets the hosts of its own allocation, and its exit code is that of the job", async () => {
    const place = newPlace(job, { env: { ...process.env, WORD: "given" } });
    const { code, out, err } = await viceroyJob(place, "run", ...client("3"));
    const [where, left] = clientLines(out) as [{ applyId: string; pids: number[] }, object];
    expect(where).toMatchObject({ cwd: project.replace(/\/$/, ""), word: "given" });
    expect(where.pids).toHaveLength(job === "process" ? 4 : 2);
    // `kill` in the command ends its own processes, and leaves the job to the command.
    expect(left).toEqual({ active: false });
    expect(code).toBe(3);
    expect(err).toBe(
      `job "viceroy" runs ${process.execPath} --import tsx programs/batch-client.ts 3 as ${where.applyId}\n`,
    );
    expect(processesOf(where.applyId)).toEqual([]);

    const state = await viceroyJob(place, "state");
    const said = 'job "viceroy" does not run; its last command has ended with exit code 3\n';
    expect(state).toEqual({ code: 1, out: said, err: "" });
    const json = JSON.parse((await viceroyJob(place, "state", "--json")).out);
    expect(json).toMatchObject({ isRunning: false, exitCode: 3 });
    // Its output is still there.
    expect(clientLines((await viceroyJob(place, "logs")).out)).toEqual([where, left]);
  });

  test("goes on when the program that has started it is killed, and ends in order when the job is killed", async () => {
    const place = newPlace(job);
    const started = startViceroyJob(place, "run", ...client("wait"));
    const { pid, applyId, own, pids } = await clientAt(place, commandLog);
    expect(own).toBe(applyId);
    started.kill();
    expect((await started.ended).code).toBe(null);
    expect([pid!, ...pids!].filter(gone)).toEqual([]);

    const state = await viceroyJob(place, "state");
    expect(state.out).toContain(`job "viceroy" of provider ${job} runs as ${applyId}\n`);
    expect(state.out).toContain(`command    ${process.execPath} --import tsx programs/batch-client.ts wait\n`);

    expect((await viceroyJob(place, "kill")).code).toBe(0);
    expect(processesOf(applyId!)).toEqual([]);
    // It has got SIGTERM while its hosts were still there.
    const lines = clientLines((await viceroyJob(place, "logs")).out);
    expect(lines.slice(1)).toEqual([{ answers: pids!.length }, { active: false }]);
    expect((await viceroyJob(place, "state")).out).toContain("its last command has ended with exit code 7");
  });

  test("that could not be started is an error that names it", async () => {
    const place = newPlace(job);
    const { code, err } = await viceroyJob(place, "run", "--", "no-such-program", "x");
    expect(code).toBe(127);
    expect(err.split("\n").slice(1)).toEqual([
      'cannot start job "viceroy": its command "no-such-program" could not be started: spawn no-such-program ENOENT ' +
        `in ${project.replace(/\/$/, "")}`,
      "",
    ]);
  });

  test("is detached on request, and only one runs at a time", async () => {
    const place = newPlace(job);
    const { code, out } = await viceroyJob(place, "run", "--detach", "--json", ...client("wait"));
    const { applyId } = JSON.parse(out);
    expect(code).toBe(0);
    const second = await viceroyJob(place, "run", "--", "true");
    expect(second).toEqual({
      code: 3,
      out: "",
      err:
        `cannot submit job "viceroy": the command "${process.execPath}" "--import" "tsx" "programs/batch-client.ts" ` +
        `"wait" of the cache ${place.cache} runs as ${applyId}; wait for its end, kill it, or name another file with ` +
        "the option cache\n",
    });
    const { pid } = await clientAt(place, commandLog);
    expect(gone(pid!)).toBe(false);
  });
});

test("a command cannot kill the job in which it runs", async () => {
  const place = newPlace("process");
  const words = [process.execPath, cli, "job", "kill", "--job", "programs/batch-jobs.ts"];
  const { code, out } = await viceroyJob(place, "run", "--", ...words);
  expect([code, out.split("\n").find((line) => line.startsWith("cannot"))]).toEqual([
    3,
    'cannot kill job "viceroy": this command runs inside it',
  ]);
});

test("equal lines of several ranks are printed as one, now and after the end", async () => {
  const place = newPlace("process");
  const { out } = await viceroyJob(place, "run", ...talk);
  const folded = [
    "workers[0-1] [4 processes] all ranks print this",
    "workers[0] [hosts=0 gpus=1] one rank prints this",
  ];
  // Only lines that arrive within a moment are printed as one, and a busy machine may take longer.
  const printed = talkLines(out);
  const ofAll = printed.filter((line) => line.endsWith("all ranks print this"));
  // A line of one process on each host names the hosts alone.
  const processes = ofAll.map((line) => {
    const several = /\[(\d+) processes\]/.exec(line)?.[1];
    return Number(several ?? (line.startsWith("workers[0-1] ") ? 2 : 1));
  });
  expect(processes.reduce((sum, count) => sum + count)).toBe(4);
  expect(printed.filter((line) => !ofAll.includes(line)).sort()).toEqual(["the command prints this", folded[1]]);
  const later = await viceroyJob(place, "logs");
  expect(talkLines(later.out)).toEqual(["the command prints this", ...folded]);
  const json = await viceroyJob(place, "logs", "--json", "--follow");
  const lines = json.out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines).toContainEqual({ mesh: "workers", rank: 1, line: "[hosts=1 gpus=1] all ranks print this" });
  expect(lines).toContainEqual({ line: "the command prints this" });
  expect(lines.filter(({ line }) => line.includes("all ranks"))).toHaveLength(4);
});

describe("a program that runs a command in a job", () => {
  const meshes = { workers: { hosts: 1 } };

  test("reads its exit code and its output", async () => {
    const job = new ProcessJob({ meshes, cache: newCache(), progress: "silent", setup: "export PREPARED=yes" });
    const script = 'echo "$GIVEN $PREPARED $PWD"; test -f "$VICEROY_BATCH_JOB"; exit 5';
    const run = await job.run(["/bin/sh", "-c", script], { env: { GIVEN: "here" }, cwd: "/usr" });
    expect([job.active, job.applyId, run.applyId]).toEqual([true, run.applyId, job.applyId]);
    expect(await run.exited()).toBe(5);
    const lines: string[] = [];
    for await (const { mesh, line } of run.logs()) if (mesh === undefined) lines.push(line);
    expect(lines).toEqual(["here yes /usr"]);
    expect(job.active).toBe(false);
  });

  test("can use the hosts next to the command, which a job that asks for something else does not end", async () => {
    const cache = newCache();
    const job = new ProcessJob({ meshes, cache, progress: "silent" });
    const run = await job.run(["sleep", "600"]);
    const { workers } = await job.state();
    expect(await workers.spawnProcs().spawn("workers", crew.SteelWorker).slice({ hosts: 0 }).echo.callOne("x")).toBe(
      "x",
    );
    const other = new ProcessJob({ meshes: { others: { hosts: 1 } }, cache, progress: "silent" });
    await expect(other.apply()).rejects.toThrow(
      `cannot submit job "viceroy": the command "sleep" "600" of the cache ${cache} runs as ${run.applyId}; ` +
        "wait for its end, kill it, or name another file with the option cache",
    );
    await expect(job.run(["true"])).rejects.toThrow(JobSubmitError);
    const exited = run.exited();
    await run.kill();
    expect(await exited).toBe(143);
    expect(processesOf(run.applyId)).toEqual([]);
  });

  test("learns that the job has ended without an exit code", async () => {
    const job = new LocalJob({ meshes, cache: newCache(), progress: "silent" });
    const run = await job.run(["sleep", "600"]);
    const exited = run.exited();
    const keeper = readFileSync(`/proc/${processesOf(run.applyId)[0]}/stat`, "utf8").split(" ")[3];
    process.kill(Number(keeper), "SIGKILL");
    await expect(exited).rejects.toThrow(JobLostError);
    // The command ends, too, though nobody kills the job.
    await until(() => processesOf(run.applyId).length === 0);
  });

  test("is told why a command cannot run", async () => {
    const cache = newCache();
    const failures: [() => Promise<unknown>, string][] = [
      [
        () => new SSHJob({ meshes: { workers: { hosts: ["n1"] } }, cache }).run(["true"]),
        'cannot submit job "viceroy": its hosts are held by this machine through ssh, so a command on one of them would ' +
          'not survive the end of this machine; run it here, as in "nohup node dist/train.js", or use a job of a ' +
          "scheduler, such as SlurmJob",
      ],
      [
        () => new ProcessJob({ meshes, cache: null }).run(["true"]),
        'cannot submit job "viceroy": it has no cache, by which a command could be found again',
      ],
      [
        () => new ProcessJob({ meshes, cache }).run([]),
        "cannot run a command in a job: expected a list of the program and its arguments, got an array of 0",
      ],
      [
        () => new ProcessJob({ meshes, cache }).run(["true"], { env: { "A B": "x" } }),
        "cannot run a command in a job: expected env as an object of text, got an object",
      ],
    ];
    for (const [run, message] of failures) await expect(run()).rejects.toThrow(message);
    const run = await new ProcessJob({ meshes, cache, progress: "silent" }).run(["./nothing"], { cwd: "/usr" });
    await expect(run.exited()).rejects.toThrow(JobStartError);
  });
});

describe("a job of this machine", () => {
  test("gives its meshes at once, and stops their processes when it is killed", async () => {
    const job = new LocalJob({ meshes: { trainers: { hosts: 1 }, loaders: { hosts: 1 } }, cache: null });
    const { trainers, loaders } = await job.state();
    expect([trainers.name, trainers.extent, loaders.name]).toEqual(["trainers", { hosts: 1 }, "loaders"]);
    const procs = trainers.spawnProcs({ gpus: 2 });
    expect(procs.extent).toEqual({ hosts: 1, gpus: 2 });
    const places = await procs.spawn("workers", crew.SteelWorker).where.call();
    const pids = [...places.values()].map(({ pid }) => pid);
    await job.kill();
    await until(() => pids.every(gone));
    expect(job.active).toBe(false);
    expect(() => trainers.spawnProcs()).toThrow('cannot spawn procs: mesh "trainers" of hosts was stopped');
    const again = await job.state();
    expect((await again.trainers.spawnProcs().spawn("workers", crew.SteelWorker).where.call()).size).toBe(1);
    await job.kill();
  });

  test("has one host only", () => {
    expect(() => new LocalJob({ meshes: { trainers: { hosts: 2 } } })).toThrow(
      'cannot make a job: expected hosts of mesh "trainers" as 1, because a LocalJob has this machine only, got 2; a ' +
        "ProcessJob has several hosts on this machine",
    );
  });
});
