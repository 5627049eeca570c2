/**
 * Tests of the ends of drivers, hosts and daemons: no process is left, the others are told, and other drivers are not
 * affected.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SupervisionError, thisHost } from "viceroy";
import { beforeAll, describe, expect, test } from "vitest";
import { type Crew, loadCrew, project } from "../proc/crew.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { gone, until } from "../proc/until.js";
import { attachPatiently } from "./attach-patiently.js";
import { startProxy } from "./proxy.js";
import { type RunningHost, startHost } from "./start-host.js";

let crew: Crew;
const faults = collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

interface Program {
  readonly child: ChildProcess;
  readonly pids: readonly number[];
  readonly exited: Promise<number | null>;
}

/** Starts a driver in a separate process. */
async function driver(how: string, ...hosts: RunningHost[]): Promise<Program> {
  const argv = ["--import", "tsx", join(project, "programs/on-hosts.ts"), how, ...hosts.map(({ address }) => address)];
  const child = spawn(process.execPath, argv, { cwd: project, stdio: ["ignore", "pipe", "ignore"] });
  const exited = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  await until(() => text.includes("\n"));
  return { child, exited, ...(JSON.parse(text.split("\n", 1)[0]!) as { pids: number[] }) };
}

async function nothingLeft({ pids }: Program, ...hosts: RunningHost[]): Promise<void> {
  expect(pids.length).toBeGreaterThan(4);
  await until(() => pids.every(gone));
  await until(() => hosts.every((host) => host.drivers().length === 0));
}

describe("neither busy nor stopped processes of a driver, nor grandchildren, are left on its hosts", () => {
  test.each(["SIGKILL", "SIGTERM"] as const)("when the driver gets %s", async (signal) => {
    const [one, two] = await Promise.all([startHost(), startHost("tcp://127.0.0.1:0")]);
    const program = await driver("wait", one, two);
    program.child.kill(signal);
    expect(await program.exited).toBe(signal === "SIGTERM" ? 143 : null);
    await nothingLeft(program, one, two);
    expect([one.child.exitCode, two.child.exitCode]).toEqual([null, null]);
  });

  test.each([
    ["throw", 1, undefined],
    ["exit", 5, undefined],
    ["quietly", 0, undefined],
    ["quietly", 0, "tcp://127.0.0.1:0"],
  ] as const)("when it ends by itself: %s", async (how, code, address) => {
    const host = await startHost(address);
    const program = await driver(how, host);
    expect(await program.exited).toBe(code);
    await nothingLeft(program, host);
  });
});

test("two drivers share a host, and the death of one does not affect the other", async () => {
  const host = await startHost();
  await using hosts = attachPatiently([host.address]);
  const workers = hosts.spawnProcs({ gpus: 2 }).spawn("workers", crew.SteelWorker);
  await workers.ready;
  const pending = workers.sleep.call(1500);
  const program = await driver("wait", host);
  expect(host.drivers().length).toBe(2);
  program.child.kill("SIGKILL");
  await until(() => program.pids.every(gone));
  await until(() => host.drivers().length === 1);
  expect([...(await pending).values()]).toEqual([1500, 1500]);
  expect([...(await workers.echo.call("still here")).values()]).toEqual(["still here", "still here"]);
  expect(faults).toEqual([]);
});

describe("a daemon that is killed", () => {
  test("each rank on its host fails once, calls reject, no process is left, and other hosts continue", async () => {
    const [one, two] = await Promise.all([startHost(), startHost()]);
    await using hosts = attachPatiently([one.address, two.address]);
    const procs = hosts.spawnProcs({ gpus: 2 });
    const workers = procs.spawn("workers", crew.SteelWorker);
    const pids = [...(await workers.where.call()).values()].map(({ pid }) => pid);
    await workers.slice({ hosts: 1, gpus: 1 }).spin.broadcast();
    const pending = workers
      .slice({ hosts: 1 })
      .sleep.call(60_000)
      .then(undefined, (error) => error);
    two.child.kill("SIGKILL");
    expect(await pending).toBeInstanceOf(SupervisionError);
    await until(() => faults.length === 2);
    expect(faults.map(({ mesh, ranks, kind }) => [mesh, ranks, kind])).toEqual([
      ["procs", [2], "process"],
      ["procs", [3], "process"],
    ]);
    expect(faults[0]!.cause.message).toContain(`host ${two.address} is gone: `);
    await expect(workers.slice({ hosts: 1, gpus: 0 }).echo.callOne("x")).rejects.toThrow(SupervisionError);
    expect([...(await workers.slice({ hosts: 0 }).echo.call("x")).values()]).toEqual(["x", "x"]);
    await until(() => pids.slice(2).every(gone));
    await until(() => two.drivers().length === 0);
    const later = hosts.slice({ hosts: 1 }).spawnProcs({}, { name: "later" });
    await expect(later.ready).rejects.toThrow(`host ${two.address} is gone: `);
    expect(gone(pids[0]!)).toBe(false);
  });
});

test("inline procs here and on a host learn of a lost host, and continue", async () => {
  const [one, two] = await Promise.all([startHost(), startHost()]);
  await using hosts = attachPatiently([one.address, two.address]);
  const workers = hosts.spawnProcs().spawn("workers", crew.SteelWorker);
  const inline = { isolation: "inline", name: "cells" } as const;
  await using cells = thisHost().spawnProcs({ cells: 4 }, inline);
  const here = cells.spawn("here", crew.SteelWorker);
  const there = await workers.slice({ hosts: 0 }).hireInline.callOne(4);
  expect([...(await there.echo.call("x")).values()]).toEqual(["x", "x", "x", "x"]);
  expect([...(await here.order.call(workers.slice({ hosts: 1 }), "x")).values()]).toEqual(Array(4).fill(["x"]));
  const gone = await workers.slice({ hosts: 1 }).hireInline.callOne(4);
  two.child.kill("SIGKILL");
  await until(() => faults.length === 1);
  await expect(gone.echo.call("never")).rejects.toThrow(`host ${two.address} is gone: `);
  for (const crowd of [here, there]) {
    expect([...(await crowd.echo.call("still here")).values()]).toEqual(Array(4).fill("still here"));
    const refused = await crowd.order.callSettled(workers.slice({ hosts: 1 }), "never");
    expect([...refused.values()].map(({ status }) => status)).toEqual(Array(4).fill("rejected"));
  }
});

describe("a daemon that is told to end", () => {
  test("by a signal ends its processes, tells drivers the reason, and exits with code 0", async () => {
    const host = await startHost();
    await using hosts = attachPatiently([host.address]);
    const workers = hosts.spawnProcs({ gpus: 2 }).spawn("workers", crew.SteelWorker);
    const pids = [...(await workers.where.call()).values()].map(({ pid }) => pid);
    host.child.kill("SIGTERM");
    expect(await host.exited).toEqual({ code: 0, signal: null });
    expect(pids.every(gone)).toBe(true);
    await until(() => faults.length === 2);
    expect(faults[0]!.cause.message).toBe(`host ${host.address} is gone: the host was ended by SIGTERM`);
    expect(host.output.text).toContain("ended: the host was ended by SIGTERM");
    await expect(workers.echo.call("x")).rejects.toThrow("the host was ended by SIGTERM");
  });
});

describe("stop", () => {
  test("ends the procs of this driver and leaves; the host can be attached again", async () => {
    const host = await startHost();
    const hosts = attachPatiently([host.address]);
    const procs = hosts.spawnProcs({ gpus: 2 });
    const workers = procs.spawn("workers", crew.SteelWorker);
    const pids = [...(await workers.where.call()).values()].map(({ pid }) => pid);
    await Promise.all([hosts.stop({ reason: "enough" }), hosts.stop()]);
    await until(() => pids.every(gone));
    await until(() => host.drivers().length === 0);
    expect(faults).toEqual([]);
    expect(() => workers.echo.call("x")).toThrow('mesh "workers" was stopped: enough');
    expect(() => hosts.spawnProcs()).toThrow('cannot spawn procs: mesh "hosts" of hosts was stopped: enough');
    await using again = attachPatiently([host.address]);
    expect(await again.spawnProcs().spawn("workers", crew.SteelWorker).slice({ hosts: 0 }).echo.callOne("x")).toBe("x");
  });

  test("before the host has accepted the driver leaves no process", async () => {
    const host = await startHost("tcp://127.0.0.1:0");
    const proxy = await startProxy(host.address);
    proxy.freeze();
    const hosts = attachPatiently([proxy.address]);
    const procs = hosts.spawnProcs({ gpus: 2 });
    const workers = procs.spawn("workers", crew.SteelWorker);
    const stopped = procs.stop({ drain: 0 });
    await new Promise((resolve) => setTimeout(resolve, 500));
    proxy.thaw();
    await stopped;
    await hosts.ready;
    expect(() => workers.echo.call("x")).toThrow('mesh "workers" was stopped');
    await hosts.stop();
    await until(() => host.drivers().length === 0);
    expect(faults).toEqual([]);
  });

  test("handles queued messages first, and runs cleanups", async () => {
    const host = await startHost();
    const hosts = attachPatiently([host.address]);
    const worker = hosts.slice({ hosts: 0 }).spawnProcs().spawn("workers", crew.SteelWorker);
    const log = join(host.folder, "cleanups");
    await worker.cleanupInto.callOne(log, 5);
    const slept = worker.sleep.callOne(200);
    const behind = worker.echo.callOne("behind it");
    await hosts.stop({ drain: 60_000 });
    expect([await slept, await behind]).toEqual([200, "behind it"]);
    expect(readFileSync(log, "utf8")).toBe("workers in order\n");
  });
});

test("shutdown ends the daemon and the processes of other drivers", async () => {
  const host = await startHost();
  const program = await driver("wait", host);
  const hosts = attachPatiently([host.address]);
  const workers = hosts.spawnProcs({ gpus: 2 }).spawn("workers", crew.SteelWorker);
  const pids = [...(await workers.where.call()).values()].map(({ pid }) => pid);
  await hosts.shutdown({ reason: "maintenance" });
  expect(await host.exited).toEqual({ code: 0, signal: null });
  expect(pids.every(gone)).toBe(true);
  await nothingLeft(program, host);
  // Without a hook, the loss of its processes ends the other driver.
  expect(await program.exited).toBe(1);
  expect(faults).toEqual([]);
});
