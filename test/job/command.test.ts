/** Tests of `viceroy job`, which runs on a module that exports jobs. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { project } from "../proc/crew.js";
import { newCache, processesOf } from "./job-program.js";

const cli = fileURLToPath(new URL("../../dist/cli/viceroy.js", import.meta.url));
const cache = newCache();

function viceroyJob(args: readonly string[], env: NodeJS.ProcessEnv = { ...process.env, JOB_CACHE: cache }) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, "job", ...args], {
    cwd: project,
    encoding: "utf8",
    env,
  });
  return { status, stdout, stderr };
}

const module = ["--job", "programs/jobs.ts"];

afterAll(() => {
  viceroyJob(["kill", ...module]);
});

test("a job is submitted, shown and killed from the command line", () => {
  const silent = { stderr: "" };
  expect(viceroyJob(["state", ...module])).toEqual({ ...silent, status: 1, stdout: 'job "viceroy" does not run\n' });

  const { applyId } = JSON.parse(viceroyJob(["apply", "--json", ...module]).stdout);
  expect(processesOf(applyId)).toHaveLength(2);
  const again = `job "viceroy" is submitted as ${applyId}\n`;
  expect(viceroyJob(["apply", ...module])).toEqual({ ...silent, status: 0, stdout: again });

  const { status, stdout } = viceroyJob(["state", ...module]);
  expect(status).toBe(0);
  expect(stdout.split("\n").map((line) => line.replace(/ {2}\S+Z$/, "  TIME"))).toEqual([
    `job "viceroy" of provider process runs as ${applyId}`,
    "submitted  TIME",
    "mesh     hosts",
    "workers  2",
    "",
  ]);
  expect(JSON.parse(viceroyJob(["state", "--json", ...module]).stdout)).toMatchObject({
    job: "viceroy",
    isRunning: true,
    applyId,
    provider: "process",
    meshes: { workers: 2 },
  });
  expect(viceroyJob(["logs", ...module]).stdout).toMatch(
    /^workers\[0\] viceroy host \S+, process \d+, listens at unix:/,
  );

  expect(viceroyJob(["kill", ...module])).toEqual({ ...silent, status: 0, stdout: 'job "viceroy" is killed\n' });
  expect(processesOf(applyId)).toEqual([]);
  expect(viceroyJob(["kill", ...module]).stdout).toBe('job "viceroy" did not run\n');
});

test("a job gets more and fewer hosts from the command line", () => {
  expect(viceroyJob(["resize", ...module, "workers=3"])).toEqual({
    status: 1,
    stdout: "",
    stderr: 'job "viceroy" does not run\n',
  });
  const { applyId } = JSON.parse(viceroyJob(["apply", "--json", ...module]).stdout);
  const resize = (...words: string[]) => viceroyJob(["resize", ...module, ...words]);
  const silent = { stderr: "", status: 0 };
  const sizes = () => JSON.parse(viceroyJob(["state", "--json", ...module]).stdout).meshes;
  expect(resize("workers=4")).toEqual({ ...silent, stdout: "workers has 4 hosts\n" });
  expect(processesOf(applyId)).toHaveLength(4);
  expect(sizes()).toEqual({ workers: 4 });
  expect(resize("workers=3", "--json")).toEqual({
    ...silent,
    stdout: `{"job":"viceroy","applyId":"${applyId}","meshes":{"workers":3}}\n`,
  });
  expect(processesOf(applyId)).toHaveLength(3);
  expect(sizes()).toEqual({ workers: 3 });
  expect(resize("workers=1").stderr).toBe(
    'cannot resize job "viceroy": a job keeps the first 2 hosts of mesh "workers", for which it was submitted; ' +
      "leave hosts with workers.resize({ hosts: 1 }), and they stay until the job ends\n",
  );
  expect(resize("workers").stderr).toBe(
    'cannot resize job "viceroy": expected meshes with their numbers of hosts, such as trainers=4, got "workers"\n',
  );
  expect(resize("trainers=2").status).toBe(3);
  viceroyJob(["kill", ...module]);
});

test("a module without the job that is asked for is an error that names its jobs", () => {
  const file = join(project, "programs/jobs.ts");
  expect(viceroyJob(["state", ...module, "--export", "nothing"])).toEqual({
    status: 3,
    stdout: "",
    stderr: `cannot use ${file}: it exports no job as "nothing"; name one of its jobs with --export: default, other\n`,
  });
  expect(viceroyJob(["state", "--job", "src/small-grain.ts"]).stderr).toBe(
    `cannot use ${join(project, "src/small-grain.ts")}: it exports no job as its default; ` +
      "write `export default new ProcessJob({ … })`, or export another job\n",
  );
  expect(viceroyJob(["state", "--job", "nope.ts"])).toEqual({
    status: 3,
    stdout: "",
    stderr: "cannot use nope.ts: no such file\n",
  });
});

test("a job without a cache cannot be left running by a command", () => {
  const { status, stderr } = viceroyJob(["apply", ...module], { ...process.env, JOB_CACHE: undefined });
  expect(status).toBe(3);
  expect(stderr).toBe('cannot apply job "viceroy": it has no cache, so it would end with this command\n');
});
