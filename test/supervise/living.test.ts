/** Calls to meshes of which some ranks have ended, over real processes: `choose` takes living ranks, and `wait` waits. */
import { SupervisionError, TimeoutError, thisHost } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import type { Life, SmithMesh } from "../fixtures/guild/generated/smith.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { until } from "../proc/until.js";
import { type Guild, loadGuild } from "./guild.js";

let IronSmith: Guild["IronSmith"];
const faults = collectUnhandledFaults();
const restart = { policy: "on-failure", backoff: 10 } as const;
/** This back-off does not end while a test looks at a restart. */
const slowRestart = { policy: "on-failure", backoff: 30_000 } as const;

beforeAll(async () => {
  ({ IronSmith } = await loadGuild());
});

async function pidsOf(smiths: SmithMesh<"gpus">): Promise<number[]> {
  return [...(await smiths.life.call()).values()].map(({ pid }) => pid);
}

/** Kills the process of a rank, and returns when its end is known here. */
async function kill(smiths: SmithMesh<"gpus">, rank: number): Promise<number> {
  const one = smiths.slice({ gpus: rank });
  const { pid } = await one.life.callOne();
  const pending = one.hang.callOne();
  process.kill(pid, "SIGKILL");
  await expect(pending).rejects.toThrow(SupervisionError);
  return pid;
}

/** Returns how often each process answered a number of successive calls by `choose`. */
async function consult(smiths: SmithMesh<"gpus">, count: number): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (let i = 0; i < count; i++) {
    const { pid } = await smiths.life.choose();
    counts[pid] = (counts[pid] ?? 0) + 1;
  }
  return counts;
}

test("choose asks only living ranks after one of three ranks has been killed", async () => {
  await using procs = thisHost().spawnProcs({ gpus: 3 });
  const smiths = procs.spawn("smiths", IronSmith);
  const pids = (await pidsOf(smiths)).map(String);
  await kill(smiths, 1);
  expect(Object.keys(await consult(smiths, 300)).sort()).toEqual([pids[0]!, pids[2]!].sort());
  await kill(smiths, 0);
  expect(await consult(smiths, 50)).toEqual({ [pids[2]!]: 50 });
});

test("choose rejects at once when no rank is left", async () => {
  await using procs = thisHost().spawnProcs({ gpus: 2 });
  const smiths = procs.spawn("smiths", IronSmith);
  await kill(smiths, 0);
  await kill(smiths, 1);
  await expect(smiths.life.choose()).rejects.toThrow(/^cannot call smiths\.life on rank \d: process \d+ was killed/);
  await expect(smiths.life.with({ wait: true }).choose()).rejects.toThrow(SupervisionError);
});

test("choose asks the other ranks during a restart of one process, and all ranks afterwards", async () => {
  await using procs = thisHost().spawnProcs({ gpus: 3 }, { restart: { ...restart, backoff: 300 } });
  const smiths = procs.spawn("smiths", IronSmith);
  const pids = (await pidsOf(smiths)).map(String);
  await kill(smiths, 1);
  const during = await consult(smiths, 100);
  const back = await smiths.slice({ gpus: 1 }).life.with({ wait: true }).callOne();
  expect(during[pids[1]!]).toBeUndefined();
  const asked = new Set<string>();
  await until(async () => {
    for (const pid of Object.keys(await consult(smiths, 10))) asked.add(pid);
    return asked.has(String(back.pid));
  });
  expect(faults).toEqual([]);
});

test("choose asks only living ranks after an actor has failed in a living process", async () => {
  await using procs = thisHost().spawnProcs({ gpus: 3 });
  const smiths = procs.spawn("smiths", IronSmith);
  const pids = (await pidsOf(smiths)).map(String);
  smiths.slice({ gpus: 2 }).blow.broadcast("out of iron");
  await until(() => faults.length > 0);
  expect(Object.keys(await consult(smiths, 100)).sort()).toEqual([pids[0]!, pids[1]!].sort());
});

test("an actor in another process asks only living ranks once it knows of the failure", async () => {
  await using visitors = thisHost().spawnProcs({ gpus: 2 }, { name: "visitors" });
  const [before, after] = [...visitors.spawn("visitors", IronSmith)].map(([, visitor]) => visitor);
  await using procs = thisHost().spawnProcs({ gpus: 3 });
  const smiths = procs.spawn("smiths", IronSmith);
  const pids = (await pidsOf(smiths)).map(String);
  await before!.visit.callOne(smiths);
  await kill(smiths, 1);
  // One visitor already has links to all ranks; the other one has to find out.
  await until(async () => (await before!.consult.callOne(smiths, 20))["SupervisionError"] === undefined);
  expect(Object.keys(await before!.consult.callOne(smiths, 200)).sort()).toEqual([pids[0]!, pids[2]!].sort());
  await after!.consult.callOne(smiths, 20);
  expect(Object.keys(await after!.consult.callOne(smiths, 200)).sort()).toEqual([pids[0]!, pids[2]!].sort());
});

test.each(["process", "actor"])("every kind of call waits for a rank whose %s is being restarted", async (kind) => {
  await using procs = thisHost().spawnProcs({ gpus: 2 }, { restart: { ...restart, maxRestarts: 10 } });
  const smiths = procs.spawn("smiths", IronSmith);
  const one = smiths.slice({ gpus: 1 });
  const wait = true;
  const end = async () => {
    if (kind === "process") await kill(smiths, 1);
    else {
      one.blow.broadcast("out of iron");
      await expect(one.hang.callOne()).rejects.toThrow(SupervisionError);
    }
  };
  const lives: Life[] = [];
  for (const call of [
    () => one.life.with({ wait }).callOne(),
    () => one.life.with({ wait }).choose(),
    async () => (await smiths.life.with({ wait }).call()).at({ gpus: 1 }),
    async () => {
      const settled = (await smiths.life.with({ wait }).callSettled()).at({ gpus: 1 });
      return settled.status === "fulfilled" ? settled.value : Promise.reject(settled.reason);
    },
    async () => {
      for await (const [, life] of one.life.with({ wait }).stream()) return life;
      throw new Error("the stream was empty");
    },
  ]) {
    await end();
    lives.push(await call());
  }
  expect(lives.map(({ incarnation }) => incarnation)).toEqual([1, 2, 3, 4, 5]);
});

test("an actor in another process waits for a rank that is being restarted", async () => {
  await using visitors = thisHost().spawnProcs({ gpus: 2 }, { name: "visitors" });
  const [before] = [...visitors.spawn("visitors", IronSmith)].map(([, visitor]) => visitor);
  await using procs = thisHost().spawnProcs({ gpus: 2 }, { restart });
  const smiths = procs.spawn("smiths", IronSmith);
  await before!.visit.callOne(smiths);
  await kill(smiths, 1);
  await until(async () => {
    const met = await before!.visit.callOne(smiths).catch(({ message }: Error) => message);
    return typeof met !== "string" || met.includes("smiths.life");
  });
  const lives = await before!.await.callOne(smiths);
  expect(lives.map(({ incarnation }) => incarnation)).toEqual([0, 1]);
});

test("waiting ends with the deadline, the abort signal, the cancelled call or the stop of the mesh", async () => {
  await using procs = thisHost().spawnProcs({ gpus: 2 }, { restart: slowRestart });
  const smiths = procs.spawn("smiths", IronSmith);
  const one = smiths.slice({ gpus: 1 });
  await kill(smiths, 1);
  const waiting = one.life.with({ wait: true, timeout: 50 });
  await expect(waiting.callOne()).rejects.toThrow(TimeoutError);
  await expect(waiting.callOne()).rejects.toThrow("cannot call smiths.life: no answer within 50 ms");
  await expect(waiting.stream().next()).rejects.toThrow(TimeoutError);
  const controller = new AbortController();
  const aborted = one.life.with({ wait: true, signal: controller.signal }).callOne();
  controller.abort(new Error("enough"));
  await expect(aborted).rejects.toThrow("enough");
  const cancelled = one.life.with({ wait: true }).callOne();
  cancelled.cancel();
  await expect(cancelled).rejects.toThrow("the call was cancelled");
  // Invalid arguments are reported before the call waits.
  expect(() => one.add.with({ wait: true }).callOne("1" as never)).toThrow("cannot encode");
  const last = one.life.with({ wait: true }).callOne();
  await smiths.stop();
  await expect(last).rejects.toThrow(SupervisionError);
  expect(() => one.life.with({ wait: 1 as never })).toThrow(
    "cannot call smiths.life: expected true or false for wait, got 1",
  );
});

test("a call does not wait for a rank that is not going to be restarted", async () => {
  await using procs = thisHost().spawnProcs({ gpus: 2 });
  const smiths = procs.spawn("smiths", IronSmith);
  await kill(smiths, 1);
  await expect(smiths.slice({ gpus: 1 }).life.with({ wait: true }).callOne()).rejects.toThrow(SupervisionError);
  await expect(smiths.life.with({ wait: true }).call()).rejects.toThrow(SupervisionError);
});
