/** `map` and `byKey` over real processes that are killed. */

import { onUnhandledFault, type ProcMesh, SupervisionError, thisHost } from "viceroy";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew } from "../proc/crew.js";
import { until } from "../proc/until.js";

let crew: Crew;
let procs: ProcMesh<"workers">;

beforeAll(async () => {
  crew = await loadCrew();
  onUnhandledFault(() => {});
});
afterEach(() => procs.stop());

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);
const threefold = (n: number): [number, number] => [n, 1];

test("a SIGKILL in the middle of a map loses and doubles nothing", async () => {
  procs = thisHost().spawnProcs({ workers: 4 });
  const workers = procs.spawn("workers", crew.SteelWorker);
  const pids = [...(await workers.where.call()).values()].map(({ pid }) => pid);
  const seen: number[] = [];
  let retried = 0;
  const results = workers.triple.map(upTo(4000), {
    inFlight: 4,
    args: threefold,
    onProgress: (progress) => {
      retried = progress.retried;
    },
  });
  for await (const [item, value] of results) {
    expect(value).toBe(item * 3);
    if (seen.push(item) === 500) process.kill(pids[2]!, "SIGKILL");
  }
  expect(seen).toEqual(upTo(4000));
  expect(retried).toBeGreaterThan(0);
});

test("a rank that is restarted takes part again", async () => {
  procs = thisHost().spawnProcs({ workers: 1 }, { restart: { policy: "always", backoff: 1 } });
  const workers = procs.spawn("workers", crew.SteelWorker);
  const { pid } = await workers.where.choose();
  let count = 0;
  for await (const [item, value] of workers.triple.map(upTo(100), { args: threefold })) {
    expect(value).toBe(item * 3);
    if (++count === 10) process.kill(pid, "SIGKILL");
  }
  expect(count).toBe(100);
  expect((await workers.where.choose()).pid).not.toBe(pid);
});

test("a map ends when all its processes are dead, and says which items have no answer", async () => {
  procs = thisHost().spawnProcs({ workers: 2 });
  const workers = procs.spawn("workers", crew.SteelWorker);
  const pids = [...(await workers.where.call()).values()].map(({ pid }) => pid);
  const results = workers.triple.map(upTo(10), { inFlight: 1, retry: 1000, args: (n) => [n, n < 2 ? 0 : 600_000] });
  expect([(await results.next()).value, (await results.next()).value]).toEqual([
    [0, 0],
    [1, 3],
  ]);
  for (const pid of pids) process.kill(pid, "SIGKILL");
  const error = await results.next().then(undefined, (reason) => reason);
  expect(error).toBeInstanceOf(SupervisionError);
  expect(error.message).toMatch(
    /^cannot call workers\.triple on ranks 0, 1: no actor is left that could take the items/,
  );
  expect(error.pending.slice(0, 2)).toEqual([2, 3]);
});

test("the keys of a killed process move to others, and return when it has been replaced", async () => {
  procs = thisHost().spawnProcs({ workers: 3 }, { restart: { policy: "always", backoff: 500 } });
  const workers = procs.spawn("workers", crew.SteelWorker);
  const keys = upTo(60).map((n) => `key-${n}`);
  const ranks = () => Promise.all(keys.map(async (key) => (await workers.byKey(key).where.callOne()).actorRank));
  const before = await ranks();
  expect(new Set(before)).toEqual(new Set([0, 1, 2]));
  const { pid } = await workers.slice({ workers: 1 }).where.callOne();
  process.kill(pid, "SIGKILL");
  await workers
    .slice({ workers: 1 })
    .where.callOne()
    .catch(() => {});
  const meanwhile = await ranks();
  expect(keys.filter((_, i) => meanwhile[i] !== before[i])).toEqual(keys.filter((_, i) => before[i] === 1));
  await workers.slice({ workers: 1 }).where.with({ wait: true }).callOne();
  await until(async () => (await ranks()).join() === before.join());
});
