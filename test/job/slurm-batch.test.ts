/** Tests of jobs that run a command in an allocation of a real cluster of Slurm. `viceroy job run` runs on the login machine. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { networks } from "../faults/network.js";
import { permitted } from "../permitted.js";
import { compileCrew } from "../proc/crew.js";
import { gone, until } from "../proc/until.js";
import {
  client,
  clientAt,
  clientLines,
  type JobPlace,
  startViceroyJob,
  talk,
  talkLines,
  viceroyJob,
} from "./batch-driver.js";
import { newCache } from "./job-program.js";
import { type SlurmCluster, withCluster } from "./lab/slurm-cluster.js";
import { findSlurm } from "./lab/slurm-release.js";

const release = findSlurm("22.05");
const slurm = permitted(
  "batch jobs on a cluster of Slurm",
  "Debian's packages slurmctld, slurmd and munge",
  release !== undefined,
);

let cluster: SlurmCluster;

function newPlace(options: object = {}): JobPlace {
  const { env, login } = cluster;
  return { job: "slurm", cache: newCache(), options, env, through: login.through };
}

/** Returns the id of the only job that has not ended. */
function livingIds(): string[] {
  return cluster
    .run("squeue", "--noheader", "--format=%i")
    .split("\n")
    .filter((line) => line !== "");
}

/** Returns what Slurm says about a job, such as `JobState=FAILED Reason=NonZeroExitCode ExitCode=3:0`. */
function shown(id: string): Record<string, string> {
  const words = cluster.run("scontrol", "show", "job", "--oneliner", id).split(" ");
  return Object.fromEntries(words.map((word) => word.split(/=(.*)/s).slice(0, 2) as [string, string]));
}

/** Returns the output file of Slurm in the folder of the run. */
function slurmLog(folder: string): string {
  return join(folder, readdirSync(folder).find((name) => /^slurm-\d+\.log$/.test(name))!);
}

const outputOf = ({ cache }: JobPlace) => {
  const jobs = join(dirname(cache), "jobs");
  return readFileSync(slurmLog(join(jobs, readdirSync(jobs)[0]!)), "utf8");
};

describe.runIf(networks && slurm)("a command of a job of Slurm", () => {
  withCluster({ release }, (started) => {
    cluster = started;
  });
  beforeAll(async () => {
    await compileCrew();
  });
  afterEach(async () => {
    cluster.run("scancel", "--user=root");
    await until(() => livingIds().length === 0);
  });

  test("runs on the first node with the hosts of its allocation, and Slurm has its exit code", async () => {
    const place = newPlace();
    const started = startViceroyJob(place, "run", ...client("3"));
    await until(() => livingIds().length === 1);
    const [id] = livingIds();
    const { code, out } = await started.ended;
    const [where, left] = clientLines(out);
    expect(where).toMatchObject({ node: "n1" });
    expect(where!.pids).toHaveLength(4);
    expect(left).toEqual({ active: false });
    expect(code).toBe(3);
    expect(shown(id!)).toMatchObject({ JobState: "FAILED", ExitCode: "3:0" });
    expect((await viceroyJob(place, "state")).out).toBe(
      `job "viceroy" does not run; its last command has ended with exit code 3; Slurm has ended job ${id}: FAILED\n`,
    );
    // The output is where users of Slurm look, with that of the hosts.
    expect(clientLines(outputOf(place))).toEqual([where, left]);
    expect(outputOf(place)).toMatch(/^workers 1: viceroy host /m);
    const logs = (await viceroyJob(place, "logs")).out;
    expect(clientLines(logs)).toEqual([where, left]);
    expect(logs).toMatch(/^workers\[1\] viceroy host /m);
  });

  test("prints next to its crew, in Slurm's file and in folded logs", async () => {
    const place = newPlace();
    await viceroyJob(place, "run", ...talk);
    expect(outputOf(place)).toMatch(/^workers 1: \[hosts=1 gpus=1\] all ranks print this$/m);
    expect(talkLines((await viceroyJob(place, "logs", "--follow")).out).sort()).toEqual([
      "the command prints this",
      "workers[0-1] [4 processes] all ranks print this",
      "workers[0] [hosts=0 gpus=1] one rank prints this",
    ]);
  });

  test("leaves the nodes to `viceroy job exec`, which runs commands there", async () => {
    const place = newPlace();
    await viceroyJob(place, "run", "--detach", ...client("wait"));
    await clientAt(place, slurmLog);
    const { code, out } = await viceroyJob(
      place,
      "exec",
      "--",
      "sh",
      "-c",
      "echo $SLURMD_NODENAME; exit $SLURM_PROCID",
    );
    expect(out.split("\n").sort()).toEqual(["", "workers[0] n1", "workers[1] n2"]);
    expect(code).toBe(1);
  });

  test("that succeeds is a job that has succeeded", async () => {
    const started = startViceroyJob(newPlace(), "run", "--", "true");
    await until(() => livingIds().length === 1);
    const [id] = livingIds();
    expect((await started.ended).code).toBe(0);
    expect(shown(id!)).toMatchObject({ JobState: "COMPLETED", ExitCode: "0:0" });
  });

  test("waits in the queue, and the user sees why", async () => {
    const holder = newPlace({ exclusive: true });
    await viceroyJob(holder, "run", "--detach", ...client("wait"));
    await clientAt(holder, slurmLog);
    const started = startViceroyJob(newPlace({ exclusive: true }), "run", "--", "true");
    await until(() => livingIds().length === 2);
    await viceroyJob(holder, "kill");
    const { code, err } = await started.ended;
    expect(err).toMatch(/^viceroy job viceroy: waiting: job \d+ is PENDING(: \w+)?$/m);
    expect(code).toBe(0);
  });

  test("goes on when the program that has started it is killed, and is found again", async () => {
    const place = newPlace();
    const started = startViceroyJob(place, "run", ...client("wait"));
    const { pid, applyId, pids } = await clientAt(place, slurmLog);
    started.kill();
    await started.ended;
    expect((await viceroyJob(place, "state")).out).toContain(`runs as ${applyId}\n`);
    expect([pid!, ...pids!].filter(gone)).toEqual([]);
    expect((await viceroyJob(place, "kill")).code).toBe(0);
    expect(livingIds()).toEqual([]);
    // It has got SIGTERM while its hosts were still there.
    expect(clientLines(outputOf(place)).slice(1)).toEqual([{ answers: pids!.length }, { active: false }]);
    await until(() => [pid!, ...pids!].every(gone));
  });

  test("gets SIGTERM before the time limit, while its hosts are still there", async () => {
    const place = newPlace({ timeLimit: "1m" });
    const { code, out } = await viceroyJob(place, "run", ...client("wait"));
    const [{ pids }, ...rest] = clientLines(out) as [{ pids: number[] }, ...object[]];
    expect(rest).toEqual([{ answers: pids.length }, { active: false }]);
    expect(code).toBe(7);
  });

  test("that somebody cancels is an error of the job", async () => {
    const place = newPlace();
    const started = startViceroyJob(place, "run", ...client("wait"));
    await clientAt(place, slurmLog);
    const [id] = livingIds();
    cluster.run("scancel", id!);
    const { code, err } = await started.ended;
    const said = err.split("\n").filter((line) => !line.includes(": waiting: "));
    expect([code, said.slice(1)]).toEqual([
      1,
      [`job "viceroy" is gone: it has ended without its command: Slurm has ended job ${id}: CANCELLED`, ""],
    ]);
  });

  test("that a node does not have is an error that names it", async () => {
    const { code, err } = await viceroyJob(newPlace(), "run", "--", "no-such-program");
    expect(code).toBe(127);
    expect(err).toContain(
      'cannot start job "viceroy": its command "no-such-program" could not be started: there is no such program on the node',
    );
  });

  test("ends with a host of the job that does not come back", async () => {
    const place = newPlace({ hostTimeout: { lost: 0 } });
    const started = startViceroyJob(place, "run", "--", "sleep", "600");
    const listens = /^workers 1: viceroy host \S+, process (\d+)/m;
    await until(() => listens.test(readIfThere(place)));
    const [, pid] = listens.exec(outputOf(place))!;
    process.kill(Number(pid), "SIGKILL");
    expect((await started.ended).code).toBe(143);
  });

  test("needs all meshes in one job", async () => {
    const { code, err } = await viceroyJob(newPlace({ allocation: "each" }), "run", "--", "true");
    expect([code, err]).toEqual([
      3,
      'cannot submit job "viceroy": a command needs all meshes in one job of Slurm; use the option allocation: "one"\n',
    ]);
    expect(livingIds()).toEqual([]);
  });
});

function readIfThere(place: JobPlace): string {
  try {
    return outputOf(place);
  } catch {
    return "";
  }
}
