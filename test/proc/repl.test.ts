/** Tests of the prompt of `viceroy repl`: failures are reported, and the prompt continues. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, expect, test } from "vitest";
import { compileCrew, project } from "./crew.js";
import { gone, until } from "./until.js";

const cli = fileURLToPath(new URL("../../dist/cli/viceroy.js", import.meta.url));
const prompt = "viceroy> ";

let child: ChildProcess;
let shown = "";

beforeAll(compileCrew);
afterEach(() => child.kill("SIGKILL"));

async function start(): Promise<void> {
  shown = "";
  // One pipe for both outputs, as in a terminal: two pipes would not say whether a report came before the prompt.
  const program = [process.execPath, cli, "repl"];
  child = spawn("sh", ["-c", 'exec "$@" 2>&1', "sh", ...program], { cwd: project, stdio: "pipe" });
  child.stdout!.on("data", (chunk) => {
    shown += chunk;
  });
  await prompted();
}

/** Waits for the prompt, or the end of the program. */
async function prompted(): Promise<void> {
  await until(() => shown.endsWith(prompt) || child.exitCode !== null);
  expect(child.exitCode).toBe(null);
}

/** Types a line. @returns the output until the next prompt */
async function type(line: string): Promise<string> {
  const before = shown.length;
  child.stdin!.write(`${line}\n`);
  await until(() => shown.length > before);
  await prompted();
  return shown.slice(before, -prompt.length).trim();
}

/** Waits for an output and the next prompt. */
async function shows(text: string): Promise<void> {
  await until(() => shown.includes(text) || child.exitCode !== null);
  await prompted();
}

async function hire(): Promise<void> {
  await start();
  await type('const { SteelWorker } = await import(process.cwd() + "/src/steel-worker.ts")');
  await type("const procs = thisHost().spawnProcs({ gpus: 2 })");
  await type('const workers = procs.spawn("workers", SteelWorker)');
  expect(await type('[...(await workers.echo.call("hello")).values()].join()')).toBe("'hello,hello'");
}

test("a failed broadcast is reported, and the prompt continues with the other actors", async () => {
  await hire();
  await type('void workers.slice({ gpus: 0 }).fail.broadcast("what a pity")');
  await shows('unhandled fault: mesh "workers" failed at rank 0: what a pity');
  expect(await type('await workers.slice({ gpus: 1 }).echo.callOne("still here")')).toBe("'still here'");
  await type('void workers.slice({ gpus: 1 }).fail.callOne("nobody waits")');
  await shows("nobody waits");
  expect(await type('await workers.slice({ gpus: 1 }).echo.callOne("here too")')).toBe("'here too'");
  expect(await type('await workers.slice({ gpus: 0 }).echo.callOne("x")')).toContain("SupervisionError");
});

test("a killed worker is reported, and the prompt continues and ends in order", async () => {
  await hire();
  const pids = (await type("[...(await workers.where.call()).values()].map(({ pid }) => pid).join()"))
    .slice(1, -1)
    .split(",")
    .map(Number);
  process.kill(pids[1]!, "SIGKILL");
  await shows('unhandled fault: mesh "procs" failed at rank 1');
  expect(shown).toContain(`process ${pids[1]} was killed by SIGKILL`);
  expect(await type('await workers.slice({ gpus: 0 }).echo.callOne("still here")')).toBe("'still here'");
  child.stdin!.end(".exit\n");
  await until(() => child.exitCode !== null);
  expect(child.exitCode).toBe(0);
  await until(() => pids.every(gone));
});

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s ends the prompt and all processes that it has started",
  async (signal) => {
    await hire();
    const pids = (await type("[...(await workers.where.call()).values()].map(({ pid }) => pid).join()"))
      .slice(1, -1)
      .split(",")
      .map(Number);
    child.stdin!.write("await workers.sleep.call(1_000_000)\n");
    child.kill(signal);
    await until(() => child.exitCode !== null || child.signalCode !== null);
    expect(child.exitCode).toBe(signal === "SIGINT" ? 130 : 143);
    await until(() => pids.every(gone));
  },
);
