/**
 * Processes of contexts are killed at any moment while hundreds of tasks are in flight: each result settles once, nothing runs twice
 * that may not, resources are whole again, and nothing is left when the context is closed. VICEROY_SEED repeats the choices.
 */
import "../../contract/project/generated/registry.js";
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { JobContext } from "viceroy/tasks";
import { expect, test } from "vitest";
import { MemoryStore } from "../../contract/project/src/memory-store.js";
import { again } from "../../fixtures/tasks/chaos.js";
import { attachPatiently } from "../../host/attach-patiently.js";
import { startHost } from "../../host/start-host.js";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { until } from "../../proc/until.js";
import { timeLimit } from "../../profile.js";
import { type Random, withRandom } from "../../random.js";
import { descriptorsOf } from "../../soak/usage.js";
import { Load, type Stores } from "./load.js";
import { mark, processesWith, taskMark } from "./marked-processes.js";

const faults = collectUnhandledFaults();

/** A temporary directory of its own, because other tests run beside this one, and the test finds out which files are left. */
const temporary = mkdtempSync(join(tmpdir(), "c-"));
process.env["TMPDIR"] = temporary;

/** The number of tasks that are kept in flight. */
const inFlight = 200;
const duration = timeLimit(3000, 120_000);

/** What can be killed besides the processes of tasks and actors, once in a run. */
type Blow = () => void;

interface Site {
  readonly context: JobContext;
  readonly random: Random;
  /** The value of the variables by which the processes are found. */
  readonly id: string;
  readonly blows: readonly Blow[];
}

/** Kills processes, for a while, under load. */
async function storm({ context, random, id, blows }: Site): Promise<void> {
  const file = join(mkdtempSync(join(tmpdir(), "chaos-")), "runs");
  writeFileSync(file, "");
  const load = new Load(context, random, file);
  const stores: Stores = await Promise.all(
    [0, 1, 2].map((n) =>
      context.actor(MemoryStore, [3, 4], { name: `store ${n}`, restarts: Number.POSITIVE_INFINITY }),
    ),
  );
  const end = Date.now() + duration;
  const replaced: Promise<unknown>[] = [];
  for (let blow = 0, round = 1; Date.now() < end; round++) {
    while (load.size < inFlight) load.startOne(stores);
    await sleep(10 + random(40));
    if (random(4) === 0) load.cancelOne();
    if (random(6) === 0) {
      const victims = processesWith(taskMark, id);
      if (victims.length > 0) kill(victims[random(victims.length)]!);
    }
    if (blow < blows.length && Date.now() > end - duration + ((blow + 1) * duration) / (blows.length + 1))
      blows[blow++]!();
    if (round % 10 === 0) replaced.push(replace(context, stores, random(stores.length)));
  }
  await Promise.all(replaced);
  await until(() => load.size === 0).catch(() => {
    throw new Error(`never settled: ${load.pending}`);
  });
  expect(load.problems).toEqual([]);
  expect(faults).toEqual([]);
  load.checkRuns();
  await Promise.all(stores.map((store) => store?.stop({ drain: 0 })));
  expect(load.counts.done).toBeGreaterThan(100);
}

/** Stops an actor, and creates another one of its name. */
async function replace(context: JobContext, stores: Stores, at: number): Promise<void> {
  const before = stores[at];
  stores[at] = undefined;
  await before?.stop({ drain: 0 });
  const options = { name: `store ${at}`, getIfExists: true };
  // Its process may be killed while it is created.
  stores[at] = await context.actor(MemoryStore, [3, 4], options).catch((error: Error) => {
    expect(error.name).toBe("WorkerLostError");
    return undefined;
  });
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/** Checks that all resources of some hosts are free, by reserving them. */
async function expectFree(context: JobContext, bundles: Record<string, number>[]): Promise<void> {
  const group = await context.placementGroup(bundles, { strategy: "strictSpread", timeout: 60_000 });
  await group.remove();
}

/** Returns the temporary files, apart from the sockets of processes, whose folder is removed when the program ends. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => !/^(?:chaos-|tsx-|viceroy-[\da-f]{16}(?:\/[\da-f]{16}\.sock)?$)/.test(name));
}

test("on this machine, whose workers and actors are killed", async () => {
  await withRandom(async (random) => {
    const id = `${process.pid}-${random(1e9)}`;
    // What a process opens once, for all contexts.
    const first = await JobContext.open({ procs: 1 });
    await first.get(first.run(again, 1, 0));
    await first.close();
    const [descriptors, files, memory] = [descriptorsOf(process.pid), filesOf(temporary), readdirSync("/dev/shm")];
    const environment = { env: { [taskMark]: id } };
    const context = await JobContext.open({ procs: 3, resources: { cpus: 3 }, environment });
    await storm({ context, random, id, blows: [] });
    await expectFree(context, [{ cpus: 3 }]);
    await context.close();
    expect(processesWith(taskMark, id)).toEqual([]);
    expect(filesOf(temporary)).toEqual(files);
    const added = readdirSync("/dev/shm").filter((name) => !memory.includes(name));
    expect(added.filter((name) => name.includes("viceroy"))).toEqual([]);
    await until(() => descriptorsOf(process.pid) <= descriptors);
  });
});

test("on attached hosts, whose managers and daemons are killed, too", async () => {
  await withRandom(async (random) => {
    const id = `${process.pid}-${random(1e9)}`;
    const daemons = await Promise.all([0, 1, 2].map((n) => startHost(undefined, [], { [mark]: `${id}-${n}` })));
    const hosts = attachPatiently(daemons.map(({ address }) => address));
    const environment = { env: { [taskMark]: id } };
    const context = await JobContext.open({ hosts, procs: 2, resources: { cpus: 2 }, environment });
    const managers = daemons.map(({ child }, n) => managerOf(`${id}-${n}`, child.pid!));
    const [first, second] = random(2) === 0 ? [1, 2] : [2, 1];
    const blows = [
      () => kill(managers[first!]!),
      () => {
        daemons[second!]!.child.kill("SIGKILL");
      },
    ];
    await storm({ context, random, id, blows });
    await expectFree(context, [{ cpus: 2 }]);
    await context.close();
    await until(() => processesWith(taskMark, id).length === 0);
    await hosts.stop();
    for (const [n, daemon] of daemons.entries()) {
      const left = n === second ? [] : [daemon.child.pid];
      await until(() => processesWith(mark, `${id}-${n}`).join() === left.join());
      await until(() => daemon.drivers().length === 0);
    }
  });
});

/** Returns the process of the manager on a daemon. */
function managerOf(id: string, daemon: number): number {
  const [manager, ...others] = processesWith(mark, id).filter((pid) => pid !== daemon);
  expect(others).toEqual([]);
  return manager!;
}
