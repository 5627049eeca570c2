/** Tests with real processes that `stop({ drain })` handles messages to actors that are being created. */
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { thisHost, thisProc } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew } from "./crew.js";

let crew: Crew;
beforeAll(async () => {
  crew = await loadCrew();
});

/** Time limit in ms. */
const drain = 120_000;

function newLog(): string {
  return join(mkdtempSync(join(tmpdir(), "v-")), "log");
}

function wordsOf(log: string): string[] {
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => line.split(" ")[0]!);
}

test.each(["init pauses", "ok"])("processes are stopped as soon as an actor was spawned there: %s", async (mode) => {
  const procs = thisHost().spawnProcs({ gpus: 2 });
  const log = newLog();
  const workers = procs.spawn("workers", crew.SteelWorker, mode);
  workers.log.broadcast(log, "first");
  await procs.stop({ drain });
  expect(wordsOf(log)).toEqual(["first", "first"]);
});

test.each(["init pauses", "ok"])(
  "processes that are ready are stopped as soon as an actor was spawned there: %s",
  async (mode) => {
    const procs = thisHost().spawnProcs({ gpus: 2 });
    await procs.ready;
    await procs.spawn("before", crew.SteelWorker).ready;
    const log = newLog();
    const workers = procs.spawn("workers", crew.SteelWorker, mode);
    workers.log.broadcast(log, "first");
    await procs.stop({ drain });
    expect(wordsOf(log)).toEqual(["first", "first"]);
  },
);

test.each(["process", "inline"] as const)("actors are stopped before their init has ended: %s", async (isolation) => {
  await using procs = thisHost().spawnProcs({}, { isolation });
  const log = newLog();
  const worker = procs.spawn("worker", crew.SteelWorker, "init pauses");
  worker.log.broadcast(log, "first");
  const answer = worker.echo.callOne("second");
  await worker.stop({ drain });
  expect(await answer).toBe("second");
  expect(wordsOf(log)).toEqual(["first"]);
});

test.each(["init pauses", "ok"])(
  "actors in the own process are stopped as soon as they were spawned: %s",
  async (mode) => {
    const worker = thisProc().spawn("worker", crew.SteelWorker, mode);
    const log = newLog();
    worker.log.broadcast(log, "first");
    await worker.stop({ drain });
    expect(wordsOf(log)).toEqual(["first"]);
  },
);

test("stop waits for an endless init for the drain time", async () => {
  await using procs = thisHost().spawnProcs({});
  const worker = procs.spawn("worker", crew.SteelWorker, "init waits");
  const answer = worker.echo.callOne("never");
  await worker.stop({ drain: 50 });
  await expect(answer).rejects.toThrow("cannot call worker.echo on rank 0: ");
});

/** Number of messages beyond the credit of a sender. */
const many = 6000;

test.each(["process", "inline"] as const)(
  "messages that wait for credit are handled when their mesh is stopped: %s",
  async (isolation) => {
    await using procs = thisHost().spawnProcs({}, { isolation });
    const log = newLog();
    const worker = procs.spawn("worker", crew.SteelWorker, "init pauses");
    for (let i = 0; i < many; i++) worker.log.broadcast(log, `${i}`);
    await worker.stop({ drain });
    expect(wordsOf(log)).toEqual(Array.from({ length: many }, (_, i) => `${i}`));
  },
);

test("messages that wait for credit are handled when their processes are stopped", async () => {
  const procs = thisHost().spawnProcs({ gpus: 2 });
  const logs = [newLog(), newLog()];
  const workers = procs.spawn("workers", crew.SteelWorker);
  for (const [gpus, log] of logs.entries()) {
    for (let i = 0; i < many; i++) workers.slice({ gpus }).log.broadcast(log, `${i}`);
  }
  await procs.stop({ drain });
  for (const log of logs) expect(wordsOf(log)).toEqual(Array.from({ length: many }, (_, i) => `${i}`));
});

test("calls are answered by port although their handlers have ended", async () => {
  await using procs = thisHost().spawnProcs({});
  const worker = procs.spawn("worker", crew.SteelWorker);
  const answer = worker.later.callOne(50);
  await worker.where.callOne();
  await worker.stop({ drain });
  expect(await answer).toBe("late");
});

test("a broadcast to an endpoint that answers by port does not delay stop", async () => {
  await using procs = thisHost().spawnProcs({});
  const worker = procs.spawn("worker", crew.SteelWorker);
  worker.later.broadcast(2 ** 31 - 1);
  await worker.where.callOne();
  await worker.stop({ drain });
});
