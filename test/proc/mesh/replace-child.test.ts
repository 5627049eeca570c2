/** Tests of `procs.replace` with real processes: no message is lost, and order and addresses are kept. */
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type MeshFailure, onUnhandledFault, thisHost } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew } from "../crew.js";
import { gone, until } from "../until.js";

let crew: Crew;
const faults: MeshFailure[] = [];
beforeAll(async () => {
  crew = await loadCrew();
  onUnhandledFault((failure) => void faults.push(failure));
});

/** Number of messages beyond the credit of a sender. */
const many = 6000;
/** Time limit in ms. */
const drain = 120_000;

function files() {
  const folder = mkdtempSync(join(tmpdir(), "v-"));
  return { gate: join(folder, "gate"), log: join(folder, "log") };
}

/** Returns the words and pids of a log, in the order in which they were written. */
function linesOf(log: string): { word: string; pid: number }[] {
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => {
    const [word, pid] = line.split(" ");
    return { word: word!, pid: Number(pid) };
  });
}

function open(gate: string): void {
  writeFileSync(gate, "");
}

/**
 * Starts two workers in separate processes. `moved` resolves when the program and the other worker know the new
 * location of the worker. It does not depend on what the worker waits for.
 */
async function pair() {
  const procs = thisHost().spawnProcs({});
  const worker = procs.spawn("worker", crew.SteelWorker);
  const neighbour = procs.spawn("neighbour", crew.SteelWorker);
  const others = thisHost().spawnProcs({}, { name: "others" });
  const other = others.spawn("other", crew.SteelWorker);
  const [{ pid }] = await Promise.all([worker.where.callOne(), other.where.callOne()]);
  const moved = (from = pid) => until(async () => (await other.whereIs.callOne(neighbour)).pid !== from);
  const stop = () => Promise.all([procs.stop(), others.stop()]);
  return { procs, worker, others, other, pid, moved, stop };
}

test("the old process handles earlier messages, also those that wait for credit, before the new one handles later ones", async () => {
  const { procs, worker, pid, moved, stop } = await pair();
  const { gate, log } = files();
  worker.hold.broadcast(gate);
  for (let i = 0; i < many; i++) worker.log.broadcast(log, `${i}`);
  const replaced = procs.replace({ drain });
  await moved();
  for (let i = many; i < many + 10; i++) worker.log.broadcast(log, `${i}`);
  const called = worker.where.callOne();
  open(gate);
  await replaced;
  const { pid: next } = await called;
  expect(next).not.toBe(pid);
  const wanted = Array.from({ length: many + 10 }, (_, i) => ({ word: `${i}`, pid: i < many ? pid : next }));
  expect(linesOf(log)).toEqual(wanted);
  expect(gone(pid)).toBe(true);
  await stop();
});

test("other senders do not wait for the messages of one sender to the old process", async () => {
  const { procs, worker, other, pid, moved, stop } = await pair();
  const { gate, log } = files();
  worker.hold.broadcast(gate);
  worker.log.broadcast(log, "before");
  const replaced = procs.replace({ drain });
  await moved();
  expect((await other.whereIs.callOne(worker)).pid).not.toBe(pid);
  expect(linesOf(log)).toEqual([]);
  open(gate);
  await replaced;
  expect(linesOf(log)).toEqual([{ word: "before", pid }]);
  await stop();
});

test("a running stream continues, and delays nothing", async () => {
  const { procs, worker, pid, moved, stop } = await pair();
  const { gate } = files();
  const items: number[] = [];
  const taken = (async () => {
    for await (const [, item] of worker.countUntil.stream(gate, 20)) items.push(item);
  })();
  await until(() => items.length === 10);
  const replaced = procs.replace({ drain });
  await moved();
  expect((await worker.where.callOne()).pid).not.toBe(pid);
  expect(gone(pid)).toBe(false);
  open(gate);
  await Promise.all([taken, replaced]);
  expect(items).toEqual(Array.from({ length: 20 }, (_, i) => i));
  expect(gone(pid)).toBe(true);
  await stop();
});

test("a rank is replaced again before the first replacement has ended", async () => {
  const { procs, worker, other, pid, moved, stop } = await pair();
  const { gate, log } = files();
  worker.hold.broadcast(gate);
  worker.log.broadcast(log, "first");
  const replaced = [procs.replace({ drain })];
  await moved();
  worker.log.broadcast(log, "second");
  const { pid: second } = await other.whereIs.callOne(worker);
  replaced.push(procs.replace({ drain }));
  await moved(second);
  worker.log.broadcast(log, "third");
  expect(linesOf(log)).toEqual([]);
  open(gate);
  await Promise.all(replaced);
  const { pid: third } = await worker.where.callOne();
  expect(linesOf(log)).toEqual([
    { word: "first", pid },
    { word: "second", pid: second },
    { word: "third", pid: third },
  ]);
  await until(() => gone(pid) && gone(second));
  await stop();
});

test("the messages of the old process have been delivered when it ends, also those that wait for credit", async () => {
  const { procs, worker, other, pid, stop } = await pair();
  const { gate, log } = files();
  other.hold.broadcast(gate);
  worker.dictate.broadcast(other, log, many);
  const replaced = procs.replace({ drain });
  await until(async () => (await worker.where.callOne()).pid !== pid);
  expect(linesOf(log)).toEqual([]);
  expect(gone(pid)).toBe(false);
  open(gate);
  await replaced;
  expect((await other.where.callOne()).rank).toBe(0);
  await until(() => linesOf(log).length >= many);
  expect(linesOf(log).map(({ word }) => word)).toEqual(Array.from({ length: many }, (_, i) => `${i}`));
  await stop();
});

test("a restarted actor reaches actors that have moved since it was spawned", async () => {
  const procs = thisHost().spawnProcs({});
  const worker = procs.spawn("worker", crew.SteelWorker);
  const homes = thisHost().spawnProcs({}, { name: "homes" });
  const friend = homes.spawn("friend", crew.SteelFriend, worker);
  const before = await friend.where.callOne();
  await procs.replace({ drain });
  await homes.replace({ drain });
  const after = await friend.where.callOne();
  expect(after.pid).not.toBe(before.pid);
  expect(after).toEqual(await worker.where.callOne());
  await Promise.all([procs.stop(), homes.stop()]);
});

test("a stopped mesh handles the messages to the new process first", async () => {
  const { procs, worker, pid, moved, stop } = await pair();
  const { gate, log } = files();
  worker.hold.broadcast(gate);
  const replaced = procs.replace({ drain });
  await moved();
  worker.log.broadcast(log, "last");
  const stopped = worker.stop({ drain });
  open(gate);
  await Promise.all([replaced, stopped]);
  const lines = linesOf(log);
  expect(lines.map(({ word }) => word)).toEqual(["last"]);
  expect(lines[0]!.pid).not.toBe(pid);
  await stop();
});

test("an old process that exits by itself is no failure, and its callers get an error", async () => {
  const { procs, worker, pid, moved, stop } = await pair();
  const { gate } = files();
  const call = worker.hold.callOne(gate);
  const replaced = procs.replace({ drain });
  await moved();
  process.kill(pid, "SIGKILL");
  await expect(call).rejects.toThrow(`cannot call worker.hold on rank 0: process ${pid} was killed by SIGKILL`);
  await replaced;
  expect((await worker.where.callOne()).pid).not.toBe(pid);
  expect(faults).toEqual([]);
  await stop();
});

test("processes that are being replaced end with their mesh", async () => {
  const { procs, worker, pid, moved, stop } = await pair();
  const { gate } = files();
  const call = worker.hold.callOne(gate);
  call.catch(() => {});
  const replaced = procs.replace({ drain });
  await moved();
  await procs.stop({ drain: 0 });
  expect(gone(pid)).toBe(true);
  await expect(call).rejects.toThrow("cannot call worker.hold");
  await replaced;
  await stop();
});

test("after the drain time of the old process, callers get an error that states it", async () => {
  const { procs, worker, moved, stop } = await pair();
  const { gate } = files();
  const call = worker.hold.callOne(gate);
  const waiting = worker.echo.callOne("never");
  const replaced = procs.replace({ drain: 100 });
  await moved();
  const why = "the actor worker[0] was stopped: its process was replaced";
  await expect(call).rejects.toThrow(`cannot call worker.hold on rank 0: ${why}`);
  await expect(waiting).rejects.toThrow(`cannot call worker.echo on rank 0: ${why}`);
  await replaced;
  expect(await worker.echo.callOne("again")).toBe("again");
  await stop();
});
