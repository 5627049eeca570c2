/**
 * The program of a soak. It uses all features of two hosts until it is told to end, and prints its state every second,
 * as a line of JSON. The host `steady` keeps its processes, and the host `shaky` does not. It reads orders from
 * standard input, one in each line: `fail` and `exit` (of an actor or a process of `shaky`), `heap FILE` (writes a heap
 * snapshot), `end`.
 */
import { readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { writeHeapSnapshot } from "node:v8";
import { type MeshFailure, onUnhandledFault, SupervisionError, thisHost } from "viceroy";
import "../fixtures/crew/generated/registry.js";
import { seeded } from "../faults/load.js";
import { HonestTally } from "../fixtures/crew/src/honest-tally.js";
import { SoakSite } from "./site.js";

export interface SoakOrder {
  readonly steady: string;
  readonly shaky: string;
  readonly seed: number;
}

export interface SoakStatus {
  readonly done: number;
  readonly refused: number;
  readonly violations: readonly string[];
  /** Operations that run for too long. */
  readonly late: readonly string[];
  /** Number of meshes that were spawned and stopped, and of attachments of hosts. */
  readonly meshes: number;
  readonly stays: number;
  readonly pids: { readonly steady: readonly number[]; readonly shaky: readonly number[] };
  /** The size of the heap in bytes. */
  readonly heap: number;
  readonly steadyHeaps: readonly number[];
  readonly descriptors: number;
  /** Whether this is the last report. */
  readonly ended: boolean;
}

/** Time limit in ms of each operation. */
const patience = 60_000;

const { steady: steadyAt, shaky: shakyAt, seed } = JSON.parse(process.argv[2]!) as SoakOrder;
const random = seeded(seed);
const violations: string[] = [];
const told = new Map<string, number>();
let meshes = 0;
let ending = false;

function print(line: string): void {
  if (line.startsWith("VIOLATION ")) violations.push(line.slice("VIOLATION ".length));
  else process.stderr.write(`${line}\n`);
}

// Messages to ended processes are returned all the time.
process.removeAllListeners("warning");
process.on("warning", ({ name, message }) => {
  if (name !== "ViceroyUndeliverable") process.stderr.write(`${name}: ${message}\n`);
});

const common = { gpus: 2, print };
const steady = new SoakSite({ ...common, name: "steady", address: steadyAt, seed });
const shaky = new SoakSite({ ...common, name: "shaky", address: shakyAt, seed: seed + 1000 });
const sites = [steady, shaky];

onUnhandledFault((failure: MeshFailure) => {
  for (const lost of [failure, ...failure.affected]) {
    for (const rank of lost.ranks) {
      const key = `${lost.mesh}[${rank}]`;
      const times = (told.get(key) ?? 0) + 1;
      told.set(key, times);
      if (times > 1) violations.push(`told ${times} times of ${key}`);
    }
  }
  for (const site of sites) site.failed(failure);
});

/** Spawns and stops meshes here and on hosts, which are called while they start, also by other actors. */
async function churn(): Promise<void> {
  while (!ending) {
    const name = `churn${++meshes}`;
    const hosts = random() < 0.5 ? thisHost() : (sites[Math.floor(random() * 2)]!.hosts ?? thisHost());
    try {
      const procs = (hosts as ReturnType<typeof thisHost>).spawnProcs({ gpus: 1 + Math.floor(random() * 2) }, { name });
      const tallies = procs.spawn(`${name} tallies`, HonestTally);
      await tallies.sleep.callSettled(1);
      if (random() < 0.5) await tallies.stop({ drain: 100 });
      await procs.stop({ drain: 100 });
      await steady.tallies?.errand.callSettled(1);
    } catch (error) {
      if (!(error instanceof SupervisionError) && !/^cannot spawn|was stopped/.test(String((error as Error).message))) {
        violations.push(`${name} ended with ${String(error)}`);
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 2000 * random()));
  }
}

function say(ended: boolean): void {
  const own: string[] = [];
  for (const site of sites) own.push(...site.violations.splice(0));
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  const status: SoakStatus = {
    done: steady.done + shaky.done,
    refused: steady.refused + shaky.refused,
    violations: [...violations.splice(0), ...own],
    late: sites.flatMap((site) => site.pending).filter((text) => Number(/\((\d+) ms\)$/.exec(text)?.[1]) > patience),
    meshes,
    stays: steady.stays + shaky.stays,
    pids: { steady: steady.reports.map(({ pid }) => pid), shaky: shaky.reports.map(({ pid }) => pid) },
    heap: heapUsed + external,
    steadyHeaps: steady.reports.map(({ heap }) => heap),
    descriptors: readdirSync("/proc/self/fd").length,
    ended,
  };
  process.stdout.write(`${JSON.stringify(status)}\n`);
}

async function watch(): Promise<void> {
  while (!ending) {
    await Promise.all(sites.map((site) => site.look()));
    say(false);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

await Promise.all(sites.map((site) => site.begin()));
const loops = [churn(), watch()];
for await (const order of createInterface(process.stdin)) {
  const one = shaky.tallies && [...shaky.tallies][Math.floor(random() * 2)]?.[1];
  if (order === "fail") one?.fail.broadcast();
  else if (order === "exit") one?.exit.broadcast(3);
  else if (order.startsWith("heap ")) writeHeapSnapshot(order.slice("heap ".length));
  else if (order === "end") break;
}
ending = true;
await Promise.all(loops);
await Promise.all(sites.map((site) => site.end()));
say(true);
// Anything that is left keeps the program alive, which is a violation.
process.stdin.destroy();
