/** Tests of `viceroy repl --job`: the prompt of a running job, and scripts that are piped into it. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { ProcessJob } from "viceroy/job";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadProject, project, startOrdered } from "../host/publish/programs.js";
import { limitUnderLoad, until } from "../proc/until.js";
import { cli } from "./batch-driver.js";
import { newCache } from "./job-program.js";

const options = { meshes: { workers: { hosts: 2 } }, cache: newCache(), progress: "silent" as const };
const job = new ProcessJob(options);
const repl = ["repl", "--job", "programs/job-of-options.ts"];
const timeout = limitUnderLoad(60_000, 240_000);

beforeAll(async () => {
  await loadProject();
  const owner = await startOrdered(project, [process.execPath], "job-owner.ts", [JSON.stringify(options)]);
  await owner.order("state");
  await owner.order("spawn", "shelves", "workers");
  await owner.order("actors", "index", "shelves");
  await owner.order("publish", "index", "index");
  await owner.order("detach");
  owner.child.kill("SIGKILL");
  await owner.exited;
});
afterAll(() => job.kill());

function start(command: readonly string[], further: NodeJS.ProcessEnv = {}) {
  const [file, ...args] = command;
  const env = { ...process.env, OPTIONS: JSON.stringify(options), NODE_OPTIONS: "", ...further };
  return spawn(file!, args, { cwd: project, env, stdio: ["pipe", "pipe", "pipe"] });
}

/** Pipes a script into the command. */
async function pipe(lines: readonly string[], further: NodeJS.ProcessEnv = {}, args: readonly string[] = []) {
  const child = start([process.execPath, cli, ...repl, ...args], further);
  child.stdin.end(lines.map((line) => `${line}\n`).join(""));
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { out, err, code };
}

test("a script that is piped in finds a published mesh by its name, and prints results alone", {
  timeout,
}, async () => {
  const { out, err, code } = await pipe([
    'await (await lookup("index")).add.call("tea")',
    "const two = [",
    "  1,",
    "  2,",
    "]",
    "two",
    "hosts.workers",
    "await published()",
    "await detachedActors()",
    "index.IndexActor.name",
    'console.log("said")',
    "job.active",
  ]);
  expect(err).toMatch(
    /^job "viceroy" of provider process runs as [0-9a-f-]{36}\nhosts {6}workers \(2\)\npublished {2}"index"\nnames {6}job, hosts, published, detachedActors, lookup, all of viceroy\ngenerated {2}index\n\.exit or Ctrl-D leaves the job running\n$/,
  );
  const table = [
    "ValueMesh {'hosts': 2, 'shards': 1}",
    "rank  hosts  shards  value",
    "0     0      0       1",
    "1     1      0       1",
  ];
  const rest = ["[ 1, 2 ]", 'HostMesh workers{"hosts":2}', "[ 'index' ]", "[]", "'IndexActor'", "said", "true", ""];
  expect(out).toBe([...table, ...rest].join("\n"));
  expect(code).toBe(0);
  expect(await job.find()).toBeDefined();
});

test("a prompt that only looks sees the hosts, and its calls are refused by them", { timeout }, async () => {
  const { out, err, code } = await pipe(
    [
      "(await hosts.workers.describe()).map(({ drivers }) => drivers.filter(({ readOnly }) => readOnly).length)",
      "await published()",
      'await (await lookup("index")).add.call("tea")',
    ],
    {},
    ["--read-only"],
  );
  expect(out).toBe("[ 1, 1 ]\n[ 'index' ]\n");
  expect(err).toContain(", attached read-only\n");
  expect(err).toContain(
    "cannot call a published mesh: this driver is read-only, because it has attached this host with readOnly",
  );
  expect(code).toBe(1);
  const wrong = start([process.execPath, cli, "repl", "--read-only"]);
  expect(await text(wrong.stderr)).toContain("cannot start: --read-only needs --job");
});

test("the first error of a script is printed, and ends it with exit code 1", { timeout }, async () => {
  const thrown = await pipe(["1 + 1", 'throw new RangeError("wrong")', "2 + 2"]);
  expect([thrown.code, thrown.out]).toEqual([1, "2\n"]);
  expect(thrown.err).toContain("Uncaught RangeError: wrong\n    at script:1:7");
  const missing = await pipe(['await lookup("indices")', "1"]);
  expect([missing.code, missing.out]).toEqual([1, ""]);
  expect(missing.err).toMatch(/cannot look up "indices": no program has published .*; published are "index"/);
  const unfinished = await pipe(["[1,", "2"]);
  expect([unfinished.code, unfinished.out]).toEqual([1, ""]);
  expect(unfinished.err).toContain("SyntaxError");
  const late = await pipe(['void setTimeout(() => { throw new Error("late") }, 1)', "await new Promise(() => {})"]);
  expect([late.code, late.out]).toEqual([1, ""]);
  expect(late.err).toContain("Error: late");
  expect(await pipe([".exit", "1"])).toMatchObject({ code: 0, out: "" });
});

test("meshes that a script spawns go on when it detaches, and end with it otherwise", { timeout }, async () => {
  const spawned = [
    'const { WordIndex } = await import("./src/word-index.ts")',
    "const procs = hosts.workers.spawnProcs({ shards: 1 })",
    'const words = procs.spawn("words", WordIndex)',
    'void await publish("words", words)',
  ];
  expect(await pipe(spawned)).toMatchObject({ code: 0, out: "" });
  const after = await pipe(["await published()"]);
  expect(after.out).toBe("[ 'index' ]\n");
  const detached = await pipe([...spawned, "await job.detach()", "job.active"]);
  expect(detached).toMatchObject({ code: 0, out: "false\n" });
  const counted = await pipe(['[...(await (await lookup("words")).add.call("tea")).values()]']);
  expect(counted.out).toBe("[ 1, 1 ]\n");
});

test("a job that does not run is not submitted, and the error names the command that does", { timeout }, async () => {
  const cache = newCache();
  const { out, err, code } = await pipe(["1"], { OPTIONS: JSON.stringify({ ...options, cache }) });
  expect({ out, err, code }).toEqual({
    out: "",
    err: 'cannot attach job "viceroy": nothing of it runs; submit it by "viceroy job apply --job programs/job-of-options.ts"\n',
    code: 1,
  });
  expect(existsSync(cache)).toBe(false);
});

test("modules that do not exist and exports that are no jobs are refused", { timeout }, async () => {
  const run = async (...args: readonly string[]) => {
    const child = start([process.execPath, cli, "repl", ...args]);
    const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
    return { err: await text(child.stderr), code: await exited };
  };
  expect(await run("--job", "nothing.ts")).toEqual({ err: "cannot use nothing.ts: no such file\n", code: 3 });
  const { err, code } = await run("--job", "programs/job-of-options.ts", "--export", "other");
  expect(err).toMatch(/^cannot use \S+: it exports no job as "other"; name one of its jobs with --export: default\n$/);
  expect(code).toBe(3);
});

test.runIf(existsSync("/usr/bin/script"))(
  "a prompt at a terminal keeps its history in a file of the user, and leaves the job running",
  {
    timeout,
  },
  async () => {
    const home = mkdtempSync(join(tmpdir(), "vc-"));
    const command = [process.execPath, cli, ...repl].join(" ");
    const child = start(["/usr/bin/script", "-qec", command, "/dev/null"], { XDG_CACHE_HOME: home, TERM: "dumb" });
    let printed = "";
    child.stdout.on("data", (chunk) => {
      printed += chunk;
    });
    const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
    await until(() => printed.includes("viceroy> "), timeout);
    expect(printed).toContain('published  "index"');
    child.stdin.write("await published()\n");
    await until(() => printed.includes("'index'"), timeout);
    // Ctrl-D
    child.stdin.write("\u0004");
    expect(await exited).toBe(0);
    const file = join(home, "viceroy/repl-history");
    expect(readFileSync(file, "utf8")).toContain("await published()");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await job.find()).toBeDefined();
  },
);
