/** Ranks that fail and are made again, over real processes: in place, with fresh state, and told only when that is given up. */
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

/** Waits until an actor is in its n-th life. */
async function lives(smith: SmithMesh<never>, incarnation: number): Promise<Life> {
  let life: Life | undefined;
  await until(async () => {
    life = await smith.life.callOne().catch(() => undefined);
    return life?.incarnation === incarnation;
  });
  return life!;
}

test("an actor that fails is made again where it was: same address, fresh state, and its owner is not told", async () => {
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
  // The one before has cleaned up first.
  expect(entries(file)).toEqual(["made", "made", "left", "made"]);
  expect(faults).toEqual([]);
});

test("a process that ends is started again for the mesh that wants it; the other meshes on it are told of their losses", async () => {
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
  // What is spawned from now on is spawned on the new process.
  expect((await procs.spawn("more", IronSmith).slice({ gpus: 1 }).life.callOne()).pid).toBe(life.pid);
});

test("procs that live in one process hear of what has moved without telling each other for ever, and find it", async () => {
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
  // What an actor of theirs has made moves, too.
  const apprentice = await visitors.slice({ cells: 2 }).apprentice.callOne();
  await apprentice.blow.broadcast("out of iron");
  await lives(apprentice as SmithMesh<never>, 1);
  expect([...(await visitors.visit.call(smith)).values()]).toEqual(Array(4).fill([life]));
});

test("processes with a policy come back with the actors of all meshes, but for one that is said to stay failed", async () => {
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
  // Their actors, too, are made again where they fail.
  others.blow.broadcast("once more");
  expect((await lives(others, 2)).pid).toBe(life.pid);
});

test("an end in order is made again by `always` alone", async () => {
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

test("an actor that is made in vain at first is ready when it has been made", async () => {
  await using procs = thisHost().spawnProcs();
  const smith = procs.with({ restart }).spawn("smith", IronSmith, ledger(), 2);
  await smith.ready;
  expect((await smith.life.callOne()).incarnation).toBe(2);
  expect(faults).toEqual([]);
});

test("a policy that gives up tells the owner, once, with everything that came before", async () => {
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

test("processes that end too often are given up, with the actors on them", async () => {
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

test("handles that have travelled lead to who was made again, wherever that is", async () => {
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

test("actors beside their owner, and in its own process, are made again too", async () => {
  await using procs = thisHost().spawnProcs();
  const apprentice = await procs.spawn("smith", IronSmith).apprentice.callOne();
  apprentice.slice({}).blow.broadcast("elsewhere");
  await lives(apprentice.slice({}) as SmithMesh<never>, 1);
  await using own = thisProc().with({ restart }).spawn("own", IronSmith);
  own.blow.broadcast("here");
  expect(await lives(own, 1)).toEqual({ pid: process.pid, incarnation: 1, sum: 0 });
  expect(faults).toEqual([]);
});

test("nothing comes back once it is stopped", async () => {
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

test("policies that make no sense are refused before anything is started", () => {
  expect(() => thisHost().spawnProcs({}, { restart: { policy: "on-failure", within: -1 } })).toThrow(
    "cannot spawn procs: expected within in milliseconds, more than 0, got -1",
  );
  expect(() => thisProc().with({ restart: { policy: "maybe" as "never" } })).toThrow(
    'cannot spawn actors: expected the policy "never", "on-failure" or "always", got "maybe"',
  );
});

test("a mesh ends with its owner, and calls to it reject at once, also from elsewhere; the owner's next life has meshes of its own", async () => {
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
