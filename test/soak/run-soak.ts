/**
 * The soak: daemons, a driver and its processes under load, with a fault every few seconds, for a given time. It checks
 * that no message is lost, repeated or reordered, that each failure is reported once, that every call ends, and at the
 * end that no process is left and memory has not grown. It is started by `npm run soak -- --minutes 30 [--seed 1]
 * [--every 5] [--snapshots FOLDER]`; see .ci/soak.mjs. With a folder for snapshots, it writes the heap of the driver
 * there at a third, at two thirds and at the end of the time, and `node test/soak/compare-heaps.mjs A B C` prints the
 * objects that have accumulated.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { seeded } from "../faults/load.js";
import { listening, type RunningHost, spawnHost } from "../host/host-process.js";
import { makeProxy } from "../host/make-proxy.js";
import { until } from "../proc/until.js";
import type { SoakOrder, SoakStatus } from "./driver.js";
import { type FaultKind, faultKinds, strike } from "./faults.js";
import { descriptorsOf, type GrowthBound, residentOf, UsageSeries } from "./usage.js";

const MiB = 1024 * 1024;
/** Minimum duration for a check of the memory, which grows at first. */
const tellsMemory = 120_000;
const bounds: Readonly<Record<"resident" | "heap" | "open files", GrowthBound>> = {
  resident: { times: 1.15, more: 24 * MiB },
  heap: { times: 1.1, more: 4 * MiB },
  "open files": { times: 1, more: 12 },
};

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    seed: { type: "string", default: "1" },
    every: { type: "string", default: "5" },
    snapshots: { type: "string" },
  },
});
const length = Number(values.minutes) * 60_000;
const every = Number(values.every) * 1000;
const seed = Number(values.seed);
const random = seeded(seed);
const began = performance.now();
const elapsed = () => performance.now() - began;
const mark = `VICEROY_SOAK=${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), "vs-"));
const env = { VICEROY_SOAK: String(process.pid) };

const violations: string[] = [];
function violation(text: string): void {
  violations.push(text);
  console.log(`[${stamp()}] VIOLATION ${text}`);
}
function stamp(): string {
  return `${(elapsed() / 1000).toFixed(0).padStart(5)} s`;
}

/** Returns the processes that this run has started, except the watchers. */
function ours(where = mark): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/environ`, "latin1").split("\0").includes(where);
      } catch {
        return false;
      }
    })
    .map(Number);
}

let daemons = 0;
function startDaemon(listen: string): Promise<RunningHost> {
  return listening(spawnHost(folder, ["--listen", listen], { ...env, VICEROY_SOAK_HOST: String(++daemons) }));
}

const steady = await startDaemon("tcp://127.0.0.1:0");
let shaky = await startDaemon("tcp://127.0.0.1:0");
const networks = await Promise.all([steady, shaky].map(({ address }) => makeProxy(address)));

const order: SoakOrder = { steady: networks[0]!.address, shaky: networks[1]!.address, seed };
const program = fileURLToPath(new URL("./driver.ts", import.meta.url));
const driver = spawn(process.execPath, ["--expose-gc", "--import", "tsx", program, JSON.stringify(order)], {
  cwd: fileURLToPath(new URL("../..", import.meta.url)),
  env: { ...process.env, ...env },
  stdio: ["pipe", "pipe", "inherit"],
});
const exited = new Promise<number | null>((resolve) => driver.once("exit", (code) => resolve(code)));
void exited.then((code) => {
  if (!status?.ended) violation(`the driver ended by itself with ${code}`);
});

// All processes are killed at the end of this program.
process.once("exit", () => {
  for (const child of [driver, steady.child, shaky.child]) child.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

let status: SoakStatus | undefined;
let heard = elapsed();
const usage = new Map<string, UsageSeries>();
function measure(what: string, value: number): void {
  const series = usage.get(what) ?? new UsageSeries();
  usage.set(what, series);
  series.add(value);
}
function measureAll({ pids, heap, steadyHeaps }: SoakStatus): void {
  measure("heap of the driver", heap);
  for (const [i, bytes] of steadyHeaps.entries()) measure(`heap of process ${i}`, bytes);
  const measured = [
    ["the driver", driver.pid!],
    ["the daemon", steady.child.pid!],
  ] as const;
  const processes = pids.steady.map((pid, i) => [`process ${i}`, pid] as const);
  for (const [name, pid] of [...measured, ...processes]) {
    measure(`resident memory of ${name}`, residentOf(pid));
    measure(`open files of ${name}`, descriptorsOf(pid));
  }
}
createInterface(driver.stdout).on("line", (line) => {
  status = JSON.parse(line) as SoakStatus;
  heard = elapsed();
  for (const text of status.violations) violation(text);
  for (const text of status.late) violation(`has not ended: ${text}`);
  measureAll(status);
});

async function respawn(): Promise<void> {
  const { address, child, exited: gone } = shaky;
  const which = `VICEROY_SOAK_HOST=${daemons}`;
  child.kill("SIGKILL");
  await gone;
  try {
    await until(() => ours(which).length === 0, 10_000);
  } catch {
    violation(`processes outlive their daemon: ${ours(which).join(", ")}`);
  }
  shaky = await startDaemon(address);
}

function watcher(): number | undefined {
  const list = execFileSync("ps", ["-o", "pid=,args=", "--ppid", String(driver.pid)], { encoding: "utf8" });
  const line = list.split("\n").find((text) => text.includes("watches hosts"));
  return line === undefined ? undefined : Number.parseInt(line, 10);
}

const victims = {
  procs: () => status?.pids.shaky ?? [],
  stoppable: () => [...(status?.pids.shaky ?? []), ...(status?.pids.steady ?? []), steady.child.pid!, driver.pid!],
  watcher,
  networks,
  respawn,
  order: (text: string) => void driver.stdin.write(`${text}\n`),
};

const struck = new Map<FaultKind, number>();
function summary(): string {
  const { done = 0, refused = 0, meshes = 0, stays = 0 } = status ?? {};
  const faults = [...struck.values()].reduce((sum, n) => sum + n, 0);
  const memory = [driver.pid!, steady.child.pid!, ...(status?.pids.steady ?? [])];
  const megabytes = memory.map((pid) => Math.round(residentOf(pid) / MiB)).join("/");
  const files = memory.map(descriptorsOf).join("/");
  return (
    `${faults} faults, ${done} operations, ${refused} refused, ${meshes} meshes, ${stays} attachments, ` +
    `${violations.length} violations; ${megabytes} MiB, ${files} open files`
  );
}

const lines = setInterval(() => {
  console.log(`[${stamp()}] ${summary()}`);
  if (elapsed() - heard > 60_000) violation(`the driver has said nothing for ${Math.round(elapsed() - heard)} ms`);
}, 10_000);

let snapshots = 0;
function snapshot(): void {
  const file = join(values.snapshots!, `${seed}-${++snapshots}.heapsnapshot`);
  console.log(`[${stamp()}] ${file}`);
  driver.stdin.write(`heap ${file}\n`);
}

await until(() => status !== undefined || driver.exitCode !== null, 60_000);
while (elapsed() < length && driver.exitCode === null) {
  await new Promise((resolve) => setTimeout(resolve, every));
  const kind = faultKinds[Math.floor(random() * faultKinds.length)]!;
  struck.set(kind, (struck.get(kind) ?? 0) + 1);
  await strike(kind, victims, random);
  if (values.snapshots !== undefined && elapsed() > ((snapshots + 1) * length) / 3) snapshot();
}
// The hosts may recover before the final checks.
await new Promise((resolve) => setTimeout(resolve, 2000));
driver.stdin.write("end\n");
try {
  await until(() => driver.exitCode !== null, 90_000);
  if (driver.exitCode !== 0) violation(`the driver ended with ${driver.exitCode}`);
} catch {
  violation(`the driver did not end: ${status?.late.join(", ")}`);
  driver.kill("SIGKILL");
}
clearInterval(lines);
const expected = [steady.child.pid!, shaky.child.pid!];
try {
  await until(() => ours().every((pid) => expected.includes(pid)), 30_000);
  await until(() => steady.drivers().length === 0, 30_000);
} catch {
  violation(`processes are left: ${ours().filter((pid) => !expected.includes(pid))}, in ${steady.drivers()}`);
}
for (const host of [steady, shaky]) host.child.kill("SIGTERM");
for (const host of [steady, shaky])
  if ((await host.exited).code !== 0) violation(`a daemon failed: ${host.output.text}`);
for (const network of networks) network.close();
rmSync(folder, { recursive: true, force: true });

console.log(`\nfaults: ${[...struck].map(([kind, times]) => `${times} x ${kind}`).join(", ")}`);
for (const [what, series] of [...usage].toSorted(([a], [b]) => a.localeCompare(b))) {
  const isFiles = what.startsWith("open files");
  const bound = bounds[isFiles ? "open files" : what.startsWith("heap") ? "heap" : "resident"];
  const shown = series.thirds.map((value) => (isFiles ? value : `${(value / MiB).toFixed(1)} MiB`)).join(", ");
  console.log(`${what}, median of each third: ${shown}`);
  if (!series.isFlat(bound) && (isFiles || length >= tellsMemory)) violation(`${what} is not flat: ${shown}`);
}
if (length < tellsMemory) console.log("whether memory is flat is not told by less than two minutes");
console.log(`soak, seed ${seed}, ${(elapsed() / 60_000).toFixed(1)} minutes: ${summary().split(";")[0]}`);
process.exitCode = violations.length === 0 ? 0 : 1;
