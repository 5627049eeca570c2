/** Tests of silent hosts and drivers, and of busy ones that must not count as dead. */
import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { SupervisionError } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew, project } from "../proc/crew.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { gone, until } from "../proc/until.js";
import { attachPatiently, lossSilence } from "./attach-patiently.js";
import { startProxy } from "./proxy.js";
import { startHost } from "./start-host.js";

let crew: Crew;
const faults = collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

/** Returns the limits of hosts and drivers that become silent. */
function lossLimits() {
  const silence = lossSilence();
  return { silence, keepAlive: silence };
}

const token = "a token of more than enough characters";

/** Starts a host behind a proxy, through which all its connections go. */
async function farHost(given?: string) {
  const host = await startHost(
    "tcp://127.0.0.1:0",
    ["--single-port"],
    given === undefined ? {} : { VICEROY_TOKEN: given },
  );
  const proxy = await startProxy(host.address);
  return { host, proxy };
}

/** Returns the pid of the process that watches the hosts of a driver. */
function watcherOf(pid: number): number {
  const list = execFileSync("ps", ["-eo", "pid=,ppid=,args="], { encoding: "utf8" });
  const line = list
    .split("\n")
    .find((text) => text.includes("watches hosts") && text.trim().split(/\s+/)[1] === String(pid));
  return Number(line?.trim().split(/\s+/)[0]);
}

test("cut connections are restored, and every call is handled once and in order", async () => {
  const { proxy } = await farHost();
  await using hosts = attachPatiently([proxy.address]);
  const worker = hosts.spawnProcs().spawn("workers", crew.SteelWorker).slice({ hosts: 0 });
  await worker.keep.callOne(new Uint8Array([0]));
  const answers: Promise<number>[] = [];
  for (let i = 1; i <= 200; i++) {
    answers.push(Promise.resolve(worker.keep.callOne(new Uint8Array([i]))));
    if (i % 50 === 0) proxy.cut();
    if (i % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(await Promise.all(answers)).toEqual(Array.from({ length: 200 }, (_, i) => i));
  expect(faults).toEqual([]);
});

test("the ranks of an unreachable host fail once, calls reject, and the host ends its processes", async () => {
  const { proxy } = await farHost();
  const limits = lossLimits();
  await using hosts = attachPatiently([proxy.address], limits);
  const procs = hosts.spawnProcs({ gpus: 2 });
  const workers = procs.spawn("workers", crew.SteelWorker);
  const pids = [...(await workers.where.call()).values()].map(({ pid }) => pid);
  await until(() => proxy.connections > 1);
  const pending = workers.sleep.call(60_000).then(undefined, (error) => error);
  proxy.freeze();
  expect(await pending).toBeInstanceOf(SupervisionError);
  await until(() => faults.length === 2);
  expect(faults.map(({ ranks, kind }) => [ranks, kind])).toEqual([
    [[0], "process"],
    [[1], "process"],
  ]);
  const [, address, limit] =
    /^host (\S+) is gone: it has not answered for (\d+) ms: /.exec(faults[0]!.cause.message) ?? [];
  expect(address).toBe(proxy.address);
  // The limit is longer while the host is slow.
  expect(Number(limit)).toBeGreaterThanOrEqual(limits.silence);
  await until(() => pids.every(gone));
  proxy.thaw();
  expect(faults.length).toBe(2);
  // The same program can attach the host again.
  await hosts.stop();
  await using again = attachPatiently([proxy.address]);
  const worker = again.spawnProcs().spawn("workers again", crew.SteelWorker).slice({ hosts: 0 });
  expect(await worker.echo.callOne("back")).toBe("back");
});

test("processes of different hosts use direct links, and learn of a lost host together with the driver", async () => {
  const [one, { proxy }] = await Promise.all([
    startHost("tcp://127.0.0.1:0", [], { VICEROY_TOKEN: token }),
    farHost(token),
  ]);
  const limits = lossLimits();
  await using hosts = attachPatiently([one.address, proxy.address], { ...limits, token });
  const workers = hosts.spawnProcs().spawn("workers", crew.SteelWorker);
  await workers.ready;
  await until(() => proxy.connections === 2);
  const [asker, far] = [workers.slice({ hosts: 0 }), workers.slice({ hosts: 1 })];
  expect(await asker.order.callOne(far, "hello")).toEqual(["hello"]);
  expect(proxy.connections).toBe(3);
  proxy.cut();
  expect(await asker.order.callOne(far, "once more")).toEqual(["once more"]);
  proxy.freeze();
  const asked = asker.order.callOne(far, "never").then(undefined, (error: Error) => error.message);
  expect(await asked).toMatch(/^cannot call workers\.echo on rank 0( \(workers\[\d\]\))?: /);
  await until(() => faults.length === 1);
});

test("a host with a stopped daemon counts as gone, and ends its processes when it continues", async () => {
  const host = await startHost("tcp://127.0.0.1:0");
  const limits = lossLimits();
  await using hosts = attachPatiently([host.address], limits);
  const workers = hosts.spawnProcs().spawn("workers", crew.SteelWorker);
  const [pid] = [...(await workers.where.call()).values()].map((place) => place.pid);
  host.child.kill("SIGSTOP");
  await until(() => faults.length === 1);
  await expect(workers.echo.call("x")).rejects.toThrow(`host ${host.address} is gone: `);
  host.child.kill("SIGCONT");
  await until(() => gone(pid!));
  await until(() => host.drivers().length === 0);
});

test("a killed daemon that is started again at the same address counts as another host", async () => {
  const host = await startHost("tcp://127.0.0.1:0");
  const limits = lossLimits();
  await using hosts = attachPatiently([host.address], { silence: limits.silence });
  const workers = hosts.spawnProcs().spawn("workers", crew.SteelWorker);
  await workers.ready;
  host.child.kill("SIGKILL");
  await host.exited;
  const next = await startHost(host.address);
  await until(() => faults.length === 1);
  expect(faults[0]!.cause.message).toContain(`host ${host.address} is gone: `);
  expect(next.drivers()).toEqual([]);
});

test("a stopped or busy process counts as alive, and so does its host", async () => {
  const host = await startHost("tcp://127.0.0.1:0");
  const limits = lossLimits();
  await using hosts = attachPatiently([host.address], limits);
  const workers = hosts.spawnProcs({ gpus: 2 }).spawn("workers", crew.SteelWorker);
  const pids = [...(await workers.where.call()).values()].map(({ pid }) => pid);
  process.kill(pids[0]!, "SIGSTOP");
  const waiting = workers.echo.call("later");
  await new Promise((resolve) => setTimeout(resolve, 2 * limits.silence));
  expect(faults).toEqual([]);
  process.kill(pids[0]!, "SIGCONT");
  expect([...(await waiting).values()]).toEqual(["later", "later"]);
});

test("a stopped driver counts as alive, and its processes wait", async () => {
  const host = await startHost("tcp://127.0.0.1:0");
  const limits = lossLimits();
  const argv = ["--import", "tsx", join(project, "programs/patient.ts"), host.address, String(limits.silence)];
  const program = spawn(process.execPath, argv, { cwd: project, stdio: ["pipe", "pipe", "inherit"] });
  let text = "";
  program.stdout.on("data", (chunk) => {
    text += chunk;
  });
  await until(() => text.includes("ready"));
  program.kill("SIGSTOP");
  await new Promise((resolve) => setTimeout(resolve, 2 * limits.silence));
  expect(host.drivers().length).toBe(1);
  program.kill("SIGCONT");
  program.stdin.write("go on\n");
  await until(() => text.includes("still there"));
  program.kill("SIGKILL");
  await until(() => host.drivers().length === 0);
});

test("hosts are watched after they were attached and left repeatedly", async () => {
  const { proxy } = await farHost();
  const limits = lossLimits();
  for (let i = 0; i < 10; i++) {
    await using hosts = attachPatiently([proxy.address], limits);
    await hosts.ready;
    await until(() => watcherOf(process.pid) > 0);
  }
  await until(() => !(watcherOf(process.pid) > 0));
});

test("the process that watches hosts is restarted when it is killed, and ends with the last host", async () => {
  const { proxy } = await farHost();
  const limits = lossLimits();
  const hosts = attachPatiently([proxy.address], limits);
  const workers = hosts.spawnProcs().spawn("workers", crew.SteelWorker);
  await workers.ready;
  await until(() => watcherOf(process.pid) > 0);
  const first = watcherOf(process.pid);
  process.kill(first, "SIGKILL");
  await until(() => watcherOf(process.pid) > 0 && watcherOf(process.pid) !== first);
  const second = watcherOf(process.pid);
  await new Promise((resolve) => setTimeout(resolve, 2 * limits.silence));
  expect([...(await workers.echo.call("x")).values()]).toEqual(["x"]);
  proxy.freeze();
  await until(() => faults.length === 1);
  await until(() => gone(second));
  await hosts.stop();
});
