/** Ranks that fail and are restarted, over real processes; the owner is told only when the policy gives up. */
import { SupervisionError, thisHost, thisProc } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import type { Life, SmithMesh } from "../fixtures/guild/generated/smith.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { gone, until } from "../proc/until.js";
import { entries, type Guild, ledger, loadGuild } from "./guild.js";

let IronSmith: Guild["IronSmith"];
const faults = collectUnhandledFaults();
const restart = { policy: "on-failure", backoff: 10 } as const;

beforeAll(async () => {
  ({ IronSmith } = await loadGuild());
});

/** Waits until an actor has the given incarnation. */
async function lives(smith: SmithMesh<never>, incarnation: number): Promise<Life> {
  let life: Life | undefined;
  await until(async () => {
    life = await smith.life.callOne().catch(() => undefined);
    return life?.incarnation === incarnation;
  });
  return life!;
}

test("a failed actor restarts at the same address with fresh state, and its owner is not told", async () => {
  const file = ledger();
  await using procs = thisHost().spawnProcs({ gpus: 2 });
  const smiths = procs.with({ restart }).spawn("smiths", IronSmith, file);
  const [first, second] = [smiths.slice({ gpus: 0 }), smiths.slice({ gpus: 1 })];
  await smiths.add.call(5);
  const before = await second.life.callOne();
  second.blow.broadcast("out of iron");
  await expect(second.add.callOne(1)).rejects.toThrow(
    "cannot call smiths.add on rank 0 (smiths[1]): the actor smiths[1] has failed: TypeError: out of iron",
  );
  expect(await lives(second, 1)).toEqual({ pid: before.pid, incarnation: 1, sum: 0 });
  expect([await second.add.callOne(2), await first.add.callOne(2)]).toEqual([2, 7]);
  // The earlier actor has cleaned up first.
  expect(entries(file)).toEqual(["made", "made", "left", "made"]);
  expect(faults).toEqual([]);
});

test("a process restarts for a mesh with a policy, and other meshes on the process are told of their losses", async () => {
  await using procs = thisHost().spawnProcs({ gpus: 2 });
  const smiths = procs.with({ restart }).spawn("smiths", IronSmith);
  const others = procs.spawn("others", IronSmith);
  const doomed = smiths.slice({ gpus: 1 });
  const { pid } = await doomed.life.callOne();
  await others.ready;
  const pending = doomed.sleep.callOne(60_000);
  process.kill(pid, "SIGKILL");
  await expect(pending).rejects.toThrow(SupervisionError);
  const life = await lives(doomed, 1);
  expect(life.pid).not.toBe(pid);
  expect(faults).toMatchObject([{ mesh: "others", ranks: [1], kind: "process", affected: [], history: [] }]);
  await expect(others.slice({ gpus: 1 }).life.callOne()).rejects.toThrow("was killed by SIGKILL");
  // Later actors are spawned on the new process.
  expect((await procs.spawn("more", IronSmith).slice({ gpus: 1 }).life.callOne()).pid).toBe(life.pid);
});

test("procs that share one process learn the new address of a restarted actor, and reach the actor there", async () => {
  const inline = { isolation: "inline", name: "cells" } as const;
  await using cells = thisHost().spawnProcs({ cells: 4 }, inline);
  const visitors = cells.spawn("visitors", IronSmith);
  await using procs = thisHost().spawnProcs({}, { restart });
  const smith = procs.spawn("smiths", IronSmith).slice({});
  const { pid } = await smith.life.callOne();
  process.kill(pid, "SIGKILL");
  const life = await lives(smith, 1);
  const met = await visitors.visit.call(smith);
  expect([...met.values()]).toEqual(Array(4).fill([life]));
  // An actor that one of these actors has spawned is also found after its restart.
  const apprentice = await visitors.slice({ cells: 2 }).apprentice.callOne();
  await apprentice.blow.broadcast("out of iron");
  await lives(apprentice as SmithMesh<never>, 1);
  expect([...(await visitors.visit.call(smith)).values()]).toEqual(Array(4).fill([life]));
});

test("processes with a policy restart with the actors of all meshes, except a mesh with the policy `never`", async () => {
  await using procs = thisHost().spawnProcs({ gpus: 2 }, { restart });
  const smiths = procs.spawn("smiths", IronSmith);
  const others = procs.slice({ gpus: 1 }).spawn("others", IronSmith);
  const stay = procs.with({ restart: { policy: "never" } }).spawn("stay", IronSmith);
  await Promise.all([smiths.ready, others.ready, stay.ready]);
  others.exit.broadcast(3);
  const life = await lives(others, 1);
  expect(await lives(smiths.slice({ gpus: 1 }), 1)).toEqual({ pid: life.pid, incarnation: 1, sum: 0 });
  expect(faults).toMatchObject([{ mesh: "stay", ranks: [1], kind: "process" }]);
  expect(faults[0]!.cause.message).toMatch(/^process \d+ exited with code 3$/);
  // Their actors are restarted as well when they fail.
  others.blow.broadcast("once more");
  expect((await lives(others, 2)).pid).toBe(life.pid);
});

test("a process that exits with code 0 is restarted only by the policy `always`", async () => {
  await using always = thisHost().spawnProcs({}, { name: "always", restart: { policy: "always", backoff: 10 } });
  await using onFailure = thisHost().spawnProcs({}, { name: "on-failure", restart });
  const [kept, lost] = [always.spawn("kept", IronSmith), onFailure.spawn("lost", IronSmith)];
  await Promise.all([kept.ready, lost.ready]);
  kept.exit.broadcast(0);
  lost.exit.broadcast(0);
  await lives(kept, 1);
  await until(() => faults.length > 0);
  expect(faults).toMatchObject([{ mesh: "on-failure", kind: "process", affected: [{ mesh: "lost", ranks: [0] }] }]);
});

test("an actor whose constructor fails at first is ready after a successful restart", async () => {
  await using procs = thisHost().spawnProcs();
  const smith = procs.with({ restart }).spawn("smith", IronSmith, ledger(), 2);
  await smith.ready;
  expect((await smith.life.callOne()).incarnation).toBe(2);
  expect(faults).toEqual([]);
});

test("a policy that gives up tells the owner once, with the history of failures", async () => {
  await using procs = thisHost().spawnProcs();
  const policy = { ...restart, maxRestarts: 2 };
  const smith = procs.with({ restart: policy }).spawn("smith", IronSmith, ledger(), 99);
  await expect(smith.ready).rejects.toThrow('mesh "smith" is not ready: rank 0 failed: flaw 3');
  await until(() => faults.length > 0);
  expect(faults).toMatchObject([{ mesh: "smith", ranks: [0], kind: "constructor", cause: { message: "flaw 3" } }]);
  const history = faults[0]!.history.map(({ kind, cause }) => `${kind} ${cause.name}: ${cause.message}`);
  expect(history).toEqual(["constructor RangeError: flaw 1", "constructor RangeError: flaw 2"]);
  expect(faults[0]!.report()).toMatch(/\n {2}restarted after 2 failures:\n {4}\S+ constructor: RangeError: flaw 1\n/);
  await expect(smith.life.callOne()).rejects.toThrow(SupervisionError);
  // Its name is free again.
  await procs.spawn("smith", IronSmith).ready;
});

test("processes that end too often are given up, together with their actors", async () => {
  await using procs = thisHost().spawnProcs({}, { restart: { ...restart, maxRestarts: 1 } });
  const smith = procs.spawn("smith", IronSmith);
  await smith.ready;
  smith.exit.broadcast(1);
  await lives(smith, 1);
  smith.exit.broadcast(2);
  await until(() => faults.length > 0);
  expect(faults).toMatchObject([{ mesh: "procs", kind: "process", affected: [{ mesh: "smith", ranks: [0] }] }]);
  expect(faults[0]!.history.map(({ cause }) => cause.message)).toEqual([
    expect.stringMatching(/^process \d+ exited with code 1$/),
  ]);
  await expect(smith.life.callOne()).rejects.toThrow("exited with code 2");
});

test("handles that were sent earlier lead to the restarted actor, in any process", async () => {
  await using procs = thisHost().spawnProcs({ gpus: 2 }, { restart });
  const smiths = procs.spawn("smiths", IronSmith);
  const [first, second] = [smiths.slice({ gpus: 0 }), smiths.slice({ gpus: 1 })];
  await first.meet.callOne(second);
  await first.again.callOne();
  second.blow.broadcast("here");
  const here = await lives(second, 1);
  await until(async () => (await first.again.callOne().catch(() => []))[0]?.incarnation === 1);
  second.exit.broadcast(1);
  const there = await lives(second, 2);
  expect(there.pid).not.toBe(here.pid);
  await until(async () => (await first.again.callOne().catch(() => []))[0]?.incarnation === 2);
  expect(await first.again.callOne()).toEqual([there]);
});

test("actors beside their owner, and in the process of their owner, are restarted", async () => {
  await using procs = thisHost().spawnProcs();
  const apprentice = await procs.spawn("smith", IronSmith).apprentice.callOne();
  apprentice.slice({}).blow.broadcast("elsewhere");
  await lives(apprentice.slice({}) as SmithMesh<never>, 1);
  await using own = thisProc().with({ restart }).spawn("own", IronSmith);
  own.blow.broadcast("here");
  expect(await lives(own, 1)).toEqual({ pid: process.pid, incarnation: 1, sum: 0 });
  expect(faults).toEqual([]);
});

test("a stopped mesh is not restarted", async () => {
  const file = ledger();
  const procs = thisHost().spawnProcs({ gpus: 2 }, { restart: { policy: "always", backoff: 1000 } });
  const smiths = procs.spawn("smiths", IronSmith, file);
  const pids = [...(await smiths.life.call()).values()].map(({ pid }) => pid);
  const brief = procs.spawn("brief", IronSmith);
  await brief.ready;
  brief.blow.broadcast("to be made again");
  smiths.slice({ gpus: 1 }).exit.broadcast(1);
  await until(() => gone(pids[1]!));
  await brief.stop();
  await procs.stop();
  const made = () => entries(file).filter((entry) => entry === "made").length;
  const before = made();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(made()).toBe(before);
  expect(gone(pids[0]!)).toBe(true);
  expect(faults).toEqual([]);
});

test("invalid restart policies are refused before anything is started", () => {
  expect(() => thisHost().spawnProcs({}, { restart: { policy: "on-failure", within: -1 } })).toThrow(
    "cannot spawn procs: expected within in milliseconds, more than 0, got -1",
  );
  expect(() => thisProc().with({ restart: { policy: "maybe" as "never" } })).toThrow(
    'cannot spawn actors: expected the policy "never", "on-failure" or "always", got "maybe"',
  );
});

test("a mesh ends with its owner, calls to the mesh reject everywhere, and the restarted owner has new meshes", async () => {
  await using procs = thisHost().spawnProcs({ gpus: 2 });
  const smith = procs.slice({ gpus: 0 }).with({ restart }).spawn("smith", IronSmith);
  const witness = procs.slice({ gpus: 1 }).spawn("witness", IronSmith);
  const apprentice = (await smith.apprentice.callOne()) as SmithMesh<never>;
  await witness.meet.callOne(apprentice);
  expect(await witness.again.callOne()).toHaveLength(1);
  const pending = apprentice.sleep.callOne(60_000);
  smith.blow.broadcast("no more of this");
  await expect(pending).rejects.toThrow(SupervisionError);
  await lives(smith, 1);
  await expect(apprentice.life.callOne()).rejects.toThrow(SupervisionError);
  await expect(witness.again.callOne()).rejects.toThrow("cannot call apprentice.life");
  expect((await ((await smith.apprentice.callOne()) as SmithMesh<never>).life.callOne()).incarnation).toBe(0);
  expect(faults).toEqual([]);
});
