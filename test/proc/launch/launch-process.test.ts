import { spawn } from "node:child_process";
import { existsSync, rmSync, statSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { inheritedEnv } from "../../../runtime/proc/launch/inherited-options.js";
import {
  checkCpuAffinity,
  type LaunchedProcess,
  type LaunchOptions,
  launchProcess,
} from "../../../runtime/proc/launch/launch-process.js";
import { OrphanReaper } from "../../../runtime/proc/launch/orphan-reaper.js";
import { makeRunDir, runDirOf } from "../../../runtime/proc/platform/run-directory.js";
import { gone, until } from "../until.js";

const watcher = new OrphanReaper();
const started: LaunchedProcess[] = [];

function run(code: string, options: Partial<LaunchOptions> = {}): LaunchedProcess {
  const launched = launchProcess({
    command: ["-e", code],
    execArgv: [],
    env: inheritedEnv({}),
    stdio: "ignore",
    label: "gpus=0",
    rank: 0,
    reaper: watcher,
    ...options,
  });
  started.push(launched);
  return launched;
}

afterEach(() => {
  for (const launched of started.splice(0)) launched.kill("SIGKILL");
});

const readLink = `const link = new (require("net").Socket)({ fd: 3, readable: true, writable: true });`;

describe("a launched process", () => {
  test("reads bytes that were written to its link before it ran, and answers", async () => {
    const { socket } = run(`${readLink} link.on("data", (d) => link.end("echo " + d));`);
    socket.write("early");
    const answer = await new Promise((resolve) => socket.once("data", resolve));
    expect(String(answer)).toBe("echo early");
  });

  test("ends with its exit code and the last lines of its standard error", async () => {
    const { outputEnded } = run(`console.error("one\\ntwo"); process.exit(3);`, { stdio: () => {} });
    expect(await outputEnded).toMatchObject({
      code: 3,
      signal: undefined,
      error: undefined,
      stderr: { lines: ["one", "two"] },
    });
  });

  test("ends with the signal that killed it", async () => {
    const launched = run("setInterval(() => {}, 1000)");
    launched.kill("SIGKILL");
    expect(await launched.exited).toMatchObject({ code: undefined, signal: "SIGKILL" });
  });

  test("ends together with its child processes", async () => {
    const lines: string[] = [];
    const { outputEnded, kill } = run(
      `const c = require("child_process").spawn("sleep", ["600"]); console.log(c.pid); setInterval(() => {}, 1000)`,
      { stdio: (line) => lines.push(line) },
    );
    await until(() => lines.length > 0);
    kill("SIGTERM");
    await outputEnded;
    await until(() => gone(Number(lines[0])));
  });

  test("that cannot be started reports the error", async () => {
    const { pid, exited } = run("0", { env: { PATH: "x".repeat(4_000_000) } });
    expect(pid).toBeUndefined();
    expect((await exited).error).toMatchObject({ code: "E2BIG" });
  });

  test("prints to a function, line by line, with the origin", async () => {
    const lines: unknown[] = [];
    const { outputEnded } = run(`process.stdout.write("a\\nb"); process.stderr.write("c")`, {
      stdio: (line, origin) => lines.push([line, origin.stream, origin.label, origin.rank]),
    });
    await outputEnded;
    expect(lines).toHaveLength(3);
    expect(lines).toContainEqual(["b", "stdout", "gpus=0", 0]);
    expect(lines).toContainEqual(["c", "stderr", "gpus=0", 0]);
  });

  test.skipIf(process.platform !== "linux")("runs on the given processors", async () => {
    const lines: string[] = [];
    const { outputEnded } = run(
      `console.log(/Cpus_allowed_list:\\s*(.*)/.exec(require("fs").readFileSync("/proc/self/status"))[1])`,
      {
        cpus: "0",
        stdio: (line) => lines.push(line),
      },
    );
    await outputEnded;
    expect(lines).toEqual(["0"]);
  });

  test("a malformed list of processors is refused", () => {
    expect(() => checkCpuAffinity("0;rm")).toThrow(
      'cannot bind a process to processors: expected a list like "0-3,8", got "0;rm"',
    );
  });
});

describe("no child outlives its parent", () => {
  // Each driver starts children with launchProcess(), prints their pids and that of the reaper, and is then killed.
  const driver = (children: readonly string[]) => `
    const { launchProcess } = await import(${JSON.stringify(new URL("../../../runtime/proc/launch/launch-process.ts", import.meta.url).href)});
    const { OrphanReaper } = await import(${JSON.stringify(new URL("../../../runtime/proc/launch/orphan-reaper.ts", import.meta.url).href)});
    const { makeRunDir, runDirOf } = await import(${JSON.stringify(new URL("../../../runtime/proc/platform/run-directory.ts", import.meta.url).href)});
    const reaper = new OrphanReaper();
    const dir = runDirOf(BigInt(process.pid));
    makeRunDir(dir);
    reaper.removeAtEnd(dir);
    const pids = ${JSON.stringify(children)}.map((code) =>
      launchProcess({ command: ["-e", code], execArgv: [], env: process.env, stdio: "ignore", label: "", rank: 0, reaper }).pid);
    while (reaper.pid === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
    setTimeout(() => process.kill(pids[0], "SIGSTOP"), 150);
    setTimeout(() => console.log(JSON.stringify({ pids: [...pids, reaper.pid], dir })), 200);
    setInterval(() => {}, 1000);`;

  test("neither an idle, busy or stopped child nor one that ignores signals, after SIGKILL of the parent", async () => {
    const idle = `${readLink} link.resume();`;
    const stubborn = `process.on("SIGTERM", () => {}); for (;;);`;
    const args = ["--import", "tsx", "--input-type=module", "-e", driver([idle, idle, "for (;;);", stubborn])];
    const main = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    main.stdout.on("data", (chunk) => {
      text += chunk;
    });
    await until(() => text.includes("\n"));
    const { pids, dir } = JSON.parse(text) as { pids: number[]; dir: string };
    expect(pids).toHaveLength(5);
    expect(existsSync(dir)).toBe(true);
    main.kill("SIGKILL");
    await until(() => pids.every(gone));
    expect(existsSync(dir)).toBe(false);
  });

  test("a killed watcher is replaced", async () => {
    const own = new OrphanReaper();
    const { pid, exited } = run("setInterval(() => {}, 1000)", { reaper: own });
    await until(() => own.pid !== undefined);
    const first = own.pid!;
    process.kill(first, "SIGKILL");
    await until(() => own.pid !== undefined && own.pid !== first);
    process.kill(pid!, "SIGKILL");
    await exited;
  });
});

describe("the run directory", () => {
  test("is private, and short enough for the address of a socket", () => {
    const directory = runDirOf(BigInt(process.pid) << 32n);
    makeRunDir(directory);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(() => makeRunDir(directory)).toThrow("EEXIST");
    rmSync(directory, { recursive: true });
    expect(runDirOf(1n, `/${"x".repeat(80)}`)).toBe("/tmp/viceroy-0000000000000001");
  });
});
