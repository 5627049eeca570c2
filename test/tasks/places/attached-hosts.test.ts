/** Contexts on attached hosts, which are real daemons: what works there, and what happens when one of them is killed. */
import "../../contract/project/generated/registry.js";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { JobContext, ObjectLostError, TaskError, WorkerLostError } from "viceroy/tasks";
import { expect, test } from "vitest";
import { MemoryStore } from "../../contract/project/src/memory-store.js";
import * as chaos from "../../fixtures/tasks/chaos.js";
import * as plain from "../../fixtures/tasks/plain.js";
import { attachPatiently } from "../../host/attach-patiently.js";
import { startHost } from "../../host/start-host.js";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { gone, until } from "../../proc/until.js";

const faults = collectUnhandledFaults();

test("tasks, nested tasks, actors and errors are as on this machine, and closing leaves nothing", async () => {
  const daemons = await Promise.all([startHost(), startHost()]);
  await using hosts = attachPatiently(daemons.map(({ address }) => address));
  const context = await JobContext.open({ hosts, procs: 2 });
  expect(await context.get([context.run(plain.twice, 1), context.run(plain.depth, 4)])).toEqual([2, 5]);
  const { ref } = await context.get(context.run(plain.makeRef));
  expect(await context.get(ref)).toEqual([1, 2, 3]);
  const stores = await Promise.all([1, 2].map((n) => context.actor(MemoryStore, [n])));
  expect(await context.get(stores.map((store) => store.amounts.run()))).toEqual([1, 2]);
  const error = await context.get(context.run(plain.fail, "far away")).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TaskError);
  expect(error).toMatchObject({ message: "far away", remoteName: "ValueError" });
  const large = new Uint8Array(50 * 2 ** 20).fill(7);
  expect(Buffer.compare((await context.get(context.run(plain.identity, large))) as Uint8Array, large)).toBe(0);
  const pids = await context.get(Array.from({ length: 4 }, () => context.run(plain.processId)));
  await context.close();
  await until(() => pids.every(gone));
  await hosts.stop();
  await until(() => daemons.every((daemon) => daemon.drivers().length === 0));
});

test("a host that ends takes its tasks and actors with it, and nothing else: the program and other hosts go on", async () => {
  const [stays, ends] = await Promise.all([startHost(), startHost()]);
  await using hosts = attachPatiently([stays.address, ends.address]);
  await using context = await JobContext.open({ hosts, procs: 1 });
  const named = await Promise.all([0, 1].map((n) => context.actor(MemoryStore, [n], { name: `store ${n}` })));
  expect(await context.get(named.map((store) => store.amounts.run()))).toEqual([0, 1]);
  const file = join(mkdtempSync(join(tmpdir(), "runs-")), "runs");
  writeFileSync(file, "");
  // Both hosts run one of the first two tasks, and the host that is left the next two when these have ended.
  const once = [1, 2].map((n) => context.run(chaos.once, file, n, 20_000));
  const again = [3, 4].map((n) => context.run(chaos.again, n, 10));
  await until(() => readFileSync(file, "utf8").trim().split("\n").length === 2);
  ends.child.kill("SIGKILL");
  const outcomes = await Promise.allSettled(once.map((ref) => context.get(ref)));
  expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  const { reason } = outcomes.find((outcome) => outcome.status === "rejected") as PromiseRejectedResult;
  expect(reason).toBeInstanceOf(WorkerLostError);
  expect(reason.message).toContain(`host ${ends.address} is gone: `);
  expect(await context.get(again)).toEqual([3, 4]);
  expect(faults).toEqual([]);

  const calls = await Promise.allSettled(named.map(async (store) => context.get(store.amounts.run())));
  expect(calls.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  const lost = calls.findIndex(({ status }) => status === "rejected");
  expect(await context.getActor(MemoryStore, `store ${lost}`)).toBeUndefined();
  const other = await context.actor(MemoryStore, [5], { name: `store ${lost}` });
  expect(await context.get(other.amounts.run())).toBe(5);
  const group = await context.placementGroup([{ cpus: 1 }], { timeout: 60_000 });
  await group.remove();
  await expect(
    context.placementGroup([{ cpus: 1 }, { cpus: 1 }], { strategy: "strictSpread", timeout: 0 }),
  ).rejects.toThrow(/: host 0 has 1 cpu, host 1 has nothing$/);
});

test("a task that may run again does so on another host when its own has ended", async () => {
  const [stays, ends] = await Promise.all([startHost(), startHost()]);
  await using hosts = attachPatiently([stays.address, ends.address]);
  await using context = await JobContext.open({ hosts, procs: 1 });
  const refs = [1, 2].map((n) => context.run(chaos.again, n, 2000));
  await context.wait(refs, { timeout: 1000 });
  ends.child.kill("SIGKILL");
  expect(await context.get(refs)).toEqual([1, 2]);
});

test("tasks reject when no host is left", async () => {
  const host = await startHost();
  await using hosts = attachPatiently([host.address]);
  await using context = await JobContext.open({ hosts, procs: 1 });
  const { ref } = await context.get(context.run(plain.makeRef));
  const running = context.run(chaos.again, 1, 60_000);
  const waiting = context.run(chaos.again, 2, 60_000);
  await context.wait([running], { timeout: 300 });
  host.child.kill("SIGKILL");
  for (const one of [running, waiting, context.run(plain.twice, 1)]) {
    const error = await context.get(one).catch((thrown: unknown) => thrown);
    expect((error as Error).message).toMatch(/^cannot run (?:again|twice): no host of the context is left: /);
    expect((error as Error).message).toContain(`host ${host.address} is gone: `);
  }
  await expect(context.get(ref)).rejects.toThrow(ObjectLostError);
});
