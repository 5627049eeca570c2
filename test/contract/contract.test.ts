/**
 * Checks the contract as a user would: the command line compiles a separate project, and its programs run as real
 * processes. Each program prints a line for every promise that it checks.
 */
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { gone, until } from "../proc/until.js";

const project = fileURLToPath(new URL("./project/", import.meta.url));
const cli = fileURLToPath(new URL("../../dist/cli/viceroy.js", import.meta.url));

beforeAll(() => {
  // What is there already stays: other tests, which run meanwhile, import it.
  execFileSync(process.execPath, [cli, "compile"], { cwd: project, stdio: "inherit" });
});

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function program(name: string, ...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const child: ChildProcess = execFile(
      process.execPath,
      ["--import", "tsx", path.join(project, "programs", name), ...args],
      { cwd: project, maxBuffer: 1 << 26 },
      (_error, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

describe.each(["process", "thread", "inline"])("a program with meshes of isolation %s", (isolation) => {
  test("keeps every promise that it checks", async () => {
    const outcome = await program("meshes.ts", isolation);
    expect(outcome.stdout.split("\n").filter((l) => l.startsWith("not ok"))).toEqual([]);
    expect(outcome).toMatchObject({ code: 0, stdout: expect.stringMatching(/# all kept\n$/) });
  });
});

test("failures reach the code that can handle them", async () => {
  const outcome = await program("failures.ts");
  expect(outcome.stdout.split("\n").filter((l) => l.startsWith("not ok"))).toEqual([]);
  expect(outcome).toMatchObject({ code: 0, stdout: expect.stringMatching(/# all kept\n$/) });
});

test("an unhandled fault ends the program with code 1 and a report", async () => {
  const outcome = await program("root-fault.ts");
  expect(outcome.code).toBe(1);
  expect(outcome.stdout).toBe("up\n");
  expect(outcome.stderr).toContain("unhandled at the root");
  expect(outcome.stderr).toContain("probe");
});

test("a program without pending work ends by itself with code 0 and leaves no process behind", async () => {
  const outcome = await program("quiet-exit.ts");
  expect(outcome).toMatchObject({ code: 0, stderr: "" });
  const pids = outcome.stdout.trim().split(" ").map(Number);
  expect(pids).toHaveLength(2);
  await until(() => pids.every(gone));
});

test.each(["SIGKILL", "SIGINT", "SIGTERM"] as const)(
  "no process survives %s of the driver, including stopped processes and grandchildren",
  async (signal) => {
    const driver = spawn(process.execPath, ["--import", "tsx", path.join(project, "programs/hanging.ts")], {
      cwd: project,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(createInterface(driver.stdout), "line")) as [string];
    const pids = line.split(" ").map(Number);
    expect(pids.some(gone)).toBe(false);
    driver.kill(signal);
    await once(driver, "exit");
    await until(() => pids.every(gone));
  },
);
