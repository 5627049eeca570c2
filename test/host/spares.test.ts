/** Tests that a host uses processes that it has started before, only where that makes no difference, and ends them with itself. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew } from "../proc/crew.js";
import { hasLoaded, sparesOf as sparesOfProcess } from "../proc/spares-of.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { gone, until } from "../proc/until.js";
import { makeProgram } from "../sync/hosts/program.js";
import { attachPatiently } from "./attach-patiently.js";
import { listening, type RunningHost } from "./host-process.js";
import { runHost, startHost } from "./start-host.js";

const commandLine = fileURLToPath(new URL("../../dist/cli/viceroy.js", import.meta.url));
let crew: Crew;
const faults = collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

/** Returns the spares of a host that wait. */
const sparesOf = ({ child }: Pick<RunningHost, "child">) => sparesOfProcess(child.pid!);

/** The driver of this test has options of Node.js that its processes would inherit. */
const plain = { execArgv: [] };

async function hostWithSpares(count = 2, ...args: string[]) {
  const host = await startHost(undefined, ["--spares", String(count), ...args]);
  await until(() => sparesOf(host).length === count);
  return { host, spares: sparesOf(host) };
}

test("doctor shows the spares of hosts, with their memory", async () => {
  const { spares } = await hostWithSpares();
  await until(() => spares.every(hasLoaded));
  const { stdout } = spawnSync(process.execPath, [commandLine, "doctor"], { encoding: "utf8" });
  const [, text = ""] =
    /^ok {6}(\d+ spare processes wait to become one of a program, with \d+ MiB of memory: .*)$/m.exec(stdout) ?? [];
  for (const pid of spares) expect(text.split(/[ ,;]+/)).toContain(String(pid));
});

test("processes of a driver are spares while there are some, and started otherwise", async () => {
  const { host, spares } = await hostWithSpares();
  await until(() => spares.every(hasLoaded));
  await using hosts = attachPatiently([host.address]);
  const workers = hosts.spawnProcs({ gpus: 3 }, { ...plain, name: "workers" }).spawn("workers", crew.SteelWorker);
  const places = [...(await workers.where.call()).values()];
  const pids = places.map(({ pid }) => pid);
  expect(new Set(pids).size).toBe(3);
  expect(pids.filter((pid) => spares.includes(pid)).length).toBe(2);
  expect(places.map(({ rank, mainThread }) => [rank, mainThread])).toEqual([
    [0, true],
    [1, true],
    [2, true],
  ]);
  // A program sees no difference.
  expect(new Set([...(await workers.argv.call()).values()].map(String)).size).toBe(1);
  const titles = pids.map((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").filter(Boolean).at(-1));
  expect(new Set(titles).size).toBe(3);
  for (const title of titles) expect(title).toMatch(/^workers/);
  // Others take their place.
  await until(() => sparesOf(host).length === 2);
  expect(sparesOf(host).some((pid) => pids.includes(pid))).toBe(false);
});

test("a process whose environment, options or processors differ is started", async () => {
  const { host, spares } = await hostWithSpares();
  await using hosts = attachPatiently([host.address]);
  for (const options of [
    { ...plain, env: { OTHER: "yes" } },
    { ...plain, env: { TMPDIR: undefined } },
    { execArgv: ["--stack-trace-limit=50"] },
    { ...plain, cpus: () => "0" },
    { ...plain, inspect: true },
  ]) {
    const worker = hosts.spawnProcs({}, options as object).spawn("worker", crew.SteelWorker);
    expect(spares).not.toContain((await worker.where.callOne()).pid);
  }
  expect(sparesOf(host)).toEqual(spares);
  const worker = hosts.spawnProcs({}, { ...plain, env: { TMPDIR: host.folder } }).spawn("worker", crew.SteelWorker);
  expect(spares).toContain((await worker.where.callOne()).pid);
});

test("output, exit codes and signals of a spare are reported as those of other processes", async () => {
  const { host, spares } = await hostWithSpares(2, "--print");
  await using hosts = attachPatiently([host.address]);
  const procs = hosts.spawnProcs({ gpus: 2 }, { ...plain, name: "crew" });
  const workers = procs.spawn("workers", crew.SteelWorker);
  const pids = [...(await workers.where.call()).values()].map(({ pid }) => pid);
  expect([...pids].sort()).toEqual([...spares].sort());
  await workers.print.call("a line of a spare\n");
  await until(() => host.output.text.split("a line of a spare").length === 3);
  const failed = workers.slice({ gpus: 0 }).exit.callOne(7);
  await expect(failed).rejects.toThrow("exited with code 7");
  process.kill(pids[1]!, "SIGKILL");
  await expect(workers.slice({ gpus: 1 }).echo.callOne("x")).rejects.toThrow("SIGKILL");
  await until(() => faults.length > 0);
  faults.length = 0;
});

test("spares end with their host, however it ends", async () => {
  for (const signal of ["SIGKILL", "SIGTERM"] as const) {
    const { host, spares } = await hostWithSpares();
    host.child.kill(signal);
    await host.exited;
    await until(() => spares.every(gone));
  }
});

test("spares that are killed are replaced a few times, and processes are started without them", async () => {
  const { host } = await hostWithSpares(1);
  await using hosts = attachPatiently([host.address]);
  for (let i = 0; i < 3; i++) {
    await until(() => sparesOf(host).length === 1);
    for (const pid of sparesOf(host)) process.kill(pid, "SIGKILL");
    await until(() => sparesOf(host).length === 0);
  }
  const worker = hosts.spawnProcs({}, plain).spawn("worker", crew.SteelWorker).slice({ hosts: 0 });
  expect(await worker.echo.callOne("works")).toBe("works");
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(sparesOf(host)).toEqual([]);
});

test("a spare moves to the working directory of its process", async () => {
  const { host, spares } = await hostWithSpares();
  const program = await makeProgram([host.address], {});
  const { value } = await program.run(`
    await using hosts = attach();
    await hosts.sync();
    const sites = hosts.spawnProcs().spawn("sites", Here);
    print([...await values(sites.pid.call()), ...await values(sites.folder.call())]);
  `);
  const [pid, folder] = value as unknown as [number, string];
  expect(spares).toContain(pid);
  expect(folder).not.toBe(process.cwd());
});

test("there are none with 0, and another number is refused", async () => {
  const host = await startHost(undefined, ["--spares", "0"]);
  await using hosts = attachPatiently([host.address]);
  expect(
    await hosts.spawnProcs({}, plain).spawn("worker", crew.SteelWorker).slice({ hosts: 0 }).echo.callOne("x"),
  ).toBe("x");
  expect(sparesOf(host)).toEqual([]);
  for (const given of ["65", "-1", "two"]) {
    const refused = runHost(host.folder, ["--listen", `unix://${host.folder}/other.sock`, `--spares=${given}`]);
    await expect(listening(refused)).rejects.toThrow(
      `cannot start a host: expected --spares as a number from 0 to 64, got ${given}`,
    );
  }
});
