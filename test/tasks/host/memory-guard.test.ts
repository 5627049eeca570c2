/**
 * Tests of limits of memory, on real processes: by control groups where this process may create some, and by the watch on the use
 * of memory. `memory-machine.test.ts` runs this file in a virtual machine with control groups of version 2.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { processStat } from "../../../runtime/process-table.js";
import { openControlGroups } from "../../../runtime/tasks/host/control-groups.js";
import { makeMemoryGuard } from "../../../runtime/tasks/host/make-memory-guard.js";
import { MemoryGroups } from "../../../runtime/tasks/host/memory-groups.js";
import type { MemoryGuard } from "../../../runtime/tasks/host/memory-guard.js";
import { MemoryWatch } from "../../../runtime/tasks/host/memory-watch.js";
import { until } from "../../proc/until.js";

const mebibyte = 2 ** 20;

/** A program that is told by lines what to do: `use 64` uses 64 MiB more, `child 64` starts a process that does, too. */
const program = `
  const kept = [];
  const use = (mebibytes) => {
    for (let i = 0; i < mebibytes; i += 4) kept.push(Buffer.alloc(4 << 20, 1));
  };
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const [order, mebibytes] = line.split(" ");
    if (order === "use") use(Number(mebibytes));
    else {
      const code = "const kept = []; for (let i = 0; i < " + mebibytes + "; i += 4) kept.push(Buffer.alloc(4 << 20, 1)); setInterval(() => {}, 1000);";
      const child = require("node:child_process").spawn(process.execPath, ["-e", code], { detached: true, stdio: "ignore" });
      console.log("child " + child.pid);
      return;
    }
    console.log("done");
  });
  console.log("done");
`;

const children: ChildProcess[] = [];
/** The processes that the children have started. They do not end with them, because each is in a session of its own. */
const grandchildren: number[] = [];
const guards: MemoryGuard[] = [];

afterEach(async () => {
  for (const pid of grandchildren.splice(0)) if (isRunning(pid)) process.kill(pid, "SIGKILL");
  const pids = children.splice(0).map(({ pid }) => String(pid));
  for (const pid of pids) if (isRunning(Number(pid))) process.kill(Number(pid), "SIGKILL");
  for (const guard of guards.splice(0)) {
    guard.close();
    for (const pid of pids) await until(() => guard.groups === undefined || !existsSync(join(guard.groups, pid)));
  }
});

interface Guarded {
  readonly pid: number;
  /** Sends an order. Resolves with the answer, or with how the process has ended. */
  order(line: string): Promise<string>;
  readonly ended: Promise<string>;
}

/** Starts a process under a guard. */
async function start(guard: MemoryGuard): Promise<Guarded> {
  const child = spawn(process.execPath, ["-e", program], { stdio: ["pipe", "pipe", "inherit"] });
  const pid = child.pid!;
  guard.started(pid);
  children.push(child);
  const ended = new Promise<string>((resolve) =>
    child.once("exit", (code, signal) => resolve(signal ?? `code ${code}`)),
  );
  const next = () =>
    Promise.race([
      new Promise<string>((resolve) => child.stdout!.once("data", (data) => resolve(`${data}`.trim()))),
      ended,
    ]);
  await next();
  const order = (line: string) => {
    const answer = next();
    child.stdin!.write(`${line}\n`);
    return answer;
  };
  return { pid, order, ended };
}

function opened<G extends MemoryGuard>(guard: G): G {
  guards.push(guard);
  return guard;
}

const isRunning = (pid: number) => processStat(pid) !== undefined;

describe("the watch on the use of memory", () => {
  test("tells when a process and what it has started use more than the limit, with their use", async () => {
    const guard = opened(new MemoryWatch());
    const { pid, order } = await start(guard);
    const used = new Promise<number | undefined>((resolve) => guard.limit(pid, 256 * mebibyte, resolve));
    expect(await order("use 64")).toBe("done");
    const [, child] = (await order("child 320")).split(" ");
    grandchildren.push(Number(child));
    expect(await used).toBeGreaterThan(256 * mebibyte);
    expect(isRunning(pid)).toBe(true);
    expect(guard.ended(pid)).toBe(false);
  });
});

const control = openControlGroups();
control?.close();

// This system lets processes of other users, or none at all, create control groups that limit memory.
describe.skipIf(control === undefined)("control groups (if this process may create some)", () => {
  function openGroups(): MemoryGroups {
    const guard = makeMemoryGuard();
    expect(guard).toBeInstanceOf(MemoryGroups);
    return opened(guard as MemoryGroups);
  }
  const noCall = () => expect.fail("the process has not exceeded its limit");

  test("end a process that uses more than its limit, and no other one", async () => {
    const guard = openGroups();
    const [greedy, neighbour] = [await start(guard), await start(guard)];
    // The guard may find out before the process is known to have ended.
    guard.limit(greedy.pid, 128 * mebibyte, (used) => expect(used).toBeUndefined());
    guard.limit(neighbour.pid, 512 * mebibyte, noCall);
    expect(await greedy.order("use 512")).toBe("SIGKILL");
    expect(guard.ended(greedy.pid)).toBe(true);
    expect(await neighbour.order("use 128")).toBe("done");
    process.kill(neighbour.pid, "SIGKILL");
    await neighbour.ended;
    expect(guard.ended(neighbour.pid)).toBe(false);
  });

  test("limit a process and what it has started together, and tell when the system has killed any of them", async () => {
    const guard = openGroups();
    const { pid, order } = await start(guard);
    let told = false;
    guard.limit(pid, 192 * mebibyte, (used) => {
      expect(used).toBeUndefined();
      told = true;
    });
    await order("child 320");
    await until(() => told || (!isRunning(pid) && guard.ended(pid)));
  });

  test("have no limit any more when it was lifted", async () => {
    const guard = openGroups();
    const { pid, order } = await start(guard);
    guard.limit(pid, 192 * mebibyte, noCall);
    guard.limit(pid, undefined, noCall);
    expect(await order("use 320")).toBe("done");
  });

  test("are removed when their process has ended, which takes what it has started with it", async () => {
    const guard = openGroups();
    const { pid, order, ended } = await start(guard);
    const [, child] = (await order("child 4")).split(" ");
    const group = join(guard.groups, String(pid));
    expect(existsSync(group)).toBe(true);
    process.kill(pid, "SIGKILL");
    await ended;
    expect(isRunning(Number(child))).toBe(true);
    guard.ended(pid);
    await until(() => !isRunning(Number(child)) && !existsSync(group));
  });

  test("that a killed program has left are removed by the next one", () => {
    const first = openGroups();
    const parent = dirname(first.groups);
    const gone = join(parent, "viceroy-4194305-7");
    mkdirSync(join(gone, "12"), { recursive: true });
    const mine = readdirSync(parent).filter((name) => name.startsWith(`viceroy-${process.pid}-`));
    openGroups();
    expect(existsSync(gone)).toBe(false);
    expect(readdirSync(parent).filter((name) => name.startsWith(`viceroy-${process.pid}-`))).toEqual(mine);
  });
});
