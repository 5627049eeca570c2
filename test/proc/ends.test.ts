/** Tests that nothing of a program is left after its end, with real programs that end in different ways. */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { compileCrew, project } from "./crew.js";
import { gone, until } from "./until.js";

beforeAll(compileCrew);

interface Running {
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
}

/**
 * The temporary directory of the programs, which run one after another, so that any run directory there belongs to the
 * program that is running. They share what tsx has compiled, which it keeps there, too.
 */
const temporary = mkdtempSync(join(tmpdir(), "v-"));
const env = { ...process.env, TMPDIR: temporary };

function start(program: string, ...args: string[]): Running {
  return startWith(env, program, ...args);
}

function startWith(env: NodeJS.ProcessEnv, program: string, ...args: string[]): Running {
  const argv = ["--import", "tsx", join(project, "programs", program), ...args];
  return watched(spawn(process.execPath, argv, { cwd: project, stdio: ["ignore", "pipe", "pipe"], env }));
}

const children: ChildProcess[] = [];
afterEach(async () => {
  // A program that fails to end is killed.
  for (const child of children.splice(0)) child.kill("SIGKILL");
  const runDirectories = () => readdirSync(temporary).filter((name) => name.startsWith("viceroy-"));
  await until(() => runDirectories().length === 0);
});

function watched(child: ChildProcess): Running {
  children.push(child);
  const output = { stdout: "", stderr: "" };
  child.stdout!.on("data", (chunk) => {
    output.stdout += chunk;
  });
  child.stderr!.on("data", (chunk) => {
    output.stderr += chunk;
  });
  const exited = new Promise<Awaited<Running["exited"]>>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  return { child, output, exited };
}

async function crewOf({ output }: Running): Promise<{ pids: number[]; dirs: string[] }> {
  await until(() => output.stdout.includes("\n"));
  return JSON.parse(output.stdout.split("\n", 1)[0]!) as { pids: number[]; dirs: string[] };
}

async function nothingLeft({ pids, dirs }: { pids: number[]; dirs: string[] }): Promise<void> {
  expect([pids.length, dirs.length]).toEqual([6, 1]);
  await until(() => pids.every(gone));
  await until(() => !dirs.some(existsSync));
}

describe("neither busy nor stopped processes, nor grandchildren, nor the run directory are left", () => {
  test.each(["SIGKILL", "SIGTERM", "SIGHUP", "SIGINT"] as const)("when the program gets %s", async (signal) => {
    const program = start("ends.ts", "wait");
    const crew = await crewOf(program);
    program.child.kill(signal);
    const codes = { SIGKILL: null, SIGTERM: 143, SIGHUP: 129, SIGINT: 130 };
    expect(await program.exited).toEqual({ code: codes[signal], signal: signal === "SIGKILL" ? signal : null });
    await nothingLeft(crew);
  });

  test("when Ctrl-C is pressed twice, at once", async () => {
    const program = start("ends.ts", "wait");
    const crew = await crewOf(program);
    program.child.kill("SIGINT");
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(program.child.exitCode).toBeNull();
    program.child.kill("SIGINT");
    expect(await program.exited).toEqual({ code: 130, signal: null });
    await nothingLeft(crew);
  });

  test("when the program throws", async () => {
    const program = start("ends.ts", "throw");
    const crew = await crewOf(program);
    expect(await program.exited).toEqual({ code: 1, signal: null });
    expect(program.output.stderr).toContain("a mistake of the program");
    await nothingLeft(crew);
  });

  test("when the program calls process.exit", async () => {
    const program = start("ends.ts", "exit");
    const crew = await crewOf(program);
    expect(await program.exited).toEqual({ code: 5, signal: null });
    await nothingLeft(crew);
  });

  test("when the program has nothing more to do", async () => {
    const program = start("ends.ts", "quietly");
    const crew = await crewOf(program);
    expect(await program.exited).toEqual({ code: 0, signal: null });
    expect(crew.pids.every(gone)).toBe(true);
    await nothingLeft(crew);
  });
});

describe("a program with actors in threads, one of which has started a process, ends", () => {
  async function ended(...args: string[]) {
    const program = start("threads.ts", ...args);
    const { code, signal } = await program.exited;
    const { stdout, stderr } = program.output;
    // The lines of a thread and of the program are in no fixed order.
    return { code, signal, lines: stdout.split("\n").filter(Boolean).sort(), stderr };
  }

  test.each([
    ["stop", 0, ["[gpus=1] printed", "done"]],
    ["exit", 5, []],
    ["quietly", 0, ["[gpus=1] printed", "done"]],
    ["idle", 0, ["done"]],
    ["at once", 0, ["done"]],
  ])("by: %s", async (how, code, lines) => {
    expect(await ended(how)).toEqual({ code, signal: null, lines, stderr: "" });
  });

  test.each([
    ["inherit", ["done", "printed"]],
    ["ignore", ["done"]],
    ["function", ["done", "printed"]],
  ])("when their output goes to: %s", async (stdio, lines) => {
    expect(await ended("quietly", stdio)).toEqual({ code: 0, signal: null, lines, stderr: "" });
  });
});

describe.each(["SIGINT", "SIGTERM"] as const)(
  "%s ends a program in order, without output and with the exit code of the signal",
  (signal) => {
    const awaited = "call callOne choose stream ready procs recv disposed caught again timer".split(" ");
    test.each(awaited)("while it waits: %s", async (what) => {
      const program = start("waits.ts", what);
      const { pids, dirs } = await crewOf(program);
      program.child.kill(signal);
      expect(await program.exited).toEqual({ code: signal === "SIGINT" ? 130 : 143, signal: null });
      expect(program.output.stderr).toBe("");
      expect(pids.length).toBe(2);
      await until(() => pids.every(gone) && !dirs.some(existsSync));
    });
  },
);

test("Ctrl-C ends the program of `viceroy run`, although both processes get the signal", async () => {
  const cli = fileURLToPath(new URL("../../dist/cli/viceroy.js", import.meta.url));
  // The command has its own process group, as in a terminal.
  const stdio: StdioOptions = ["ignore", "pipe", "pipe"];
  const command = [cli, "run", "programs/waits.ts", "call"];
  const program = watched(spawn(process.execPath, command, { cwd: project, stdio, env, detached: true }));
  const { pids, dirs } = await crewOf(program);
  process.kill(-program.child.pid!, "SIGINT");
  expect(await program.exited).toEqual({ code: 130, signal: null });
  expect(program.output.stderr).toBe("");
  await until(() => pids.every(gone) && !dirs.some(existsSync));
});

test.each(["wait", "throw", "exit", "quietly"])("cleanup runs also when the program ends with: %s", async (how) => {
  const log = join(mkdtempSync(join(tmpdir(), "viceroy-ends-")), "log");
  const program = start("ends.ts", how, log);
  await crewOf(program);
  if (how === "wait") program.child.kill("SIGKILL");
  await program.exited;
  await until(() => existsSync(log) && readFileSync(log, "utf8") !== "");
  expect(readFileSync(log, "utf8")).toBe("workers in order\n");
});

describe("a program that spawns actors which its own main module exports does not run again in each process", () => {
  test("when the module spawns while it is being loaded", async () => {
    const program = start("own-actor.ts");
    await program.exited;
    expect(program.output.stdout).toContain(
      "refused: cannot call loner.answer on rank 0: the actor loner[0] has failed: Error: cannot spawn procs while an " +
        "actor module is being loaded: every process that loads it would spawn again; move the actor class to a module " +
        "of its own, or the spawning into an actor",
    );
  });

  test("when the module spawns later", async () => {
    const program = startWith({ ...process.env, CREW_LATE: "yes" }, "own-actor.ts");
    await program.exited;
    const lines = program.output.stdout.split("\n");
    expect(lines.filter((line) => line.startsWith("[procs]"))).toEqual([]);
    expect(lines[0]).toMatch(/^(?:answered 42|refused: .* process \d+ exited with code 1)$/);
  });
});
