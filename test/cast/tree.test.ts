/** Tests of casts over trees: the guarantees of calls and broadcasts to many actors. */
import { expect, test } from "vitest";
import { Counter, delay, until } from "../actor/counter.js";
import { World } from "../actor/world.js";
import { kill } from "./kill-process.js";

/** Creates a mesh with one actor on each of the given number of procs. */
function crowd(size: number, limits = {}) {
  const world = new World(limits);
  const procs = Array.from({ length: size }, (_, i) => world.proc(`p${i}`));
  return { world, procs, mesh: world.spawn("counters", Counter, [0], procs) };
}

test("a call to 100 actors returns all answers by rank, and the root has links to only 16 procs", async () => {
  const { world, mesh } = crowd(100);
  await mesh.increment.broadcast(2);
  const values = await mesh.value.call();
  expect([...values.values()]).toEqual(Array.from({ length: 100 }, () => 2));
  const where = await mesh.where.call();
  expect([...where.values()].map(({ rank }) => rank)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  expect(where.at({ gpus: 7 })).toEqual({ rank: 7, point: "{'gpus': 7/100}", actor: "counters 7", caller: "root" });
  expect(world.root.proc.routes.allLinks().filter(({ peer }) => peer !== world.root.proc.id)).toHaveLength(16);
  world.close();
});

test("errors of handlers have their ranks, and a call to a mesh with a stopped actor is rejected at once", async () => {
  const { world, procs, mesh } = crowd(100);
  const settled = [...(await mesh.failOnEven.callSettled()).values()];
  expect(settled.map(({ status }) => status === "rejected")).toEqual(
    Array.from({ length: 100 }, (_, i) => i % 2 === 0),
  );
  const error = await mesh.failOnEven.call().then(undefined, (e) => e);
  expect(error).toMatchObject({ name: "ActorError", rank: 0, actor: "counters[0]", message: "even rank 0" });
  expect(error.others).toHaveLength(49);
  const cell = [...procs[70]!.proc.cells()][0]!;
  await world.stop(procs[70]!, cell.mesh);
  await expect(mesh.sleep.call(60_000)).rejects.toThrow(
    "cannot call counters.sleep on rank 70: the actor counters[70] was stopped: ordered",
  );
  world.close();
});

test("the death of a proc that forwards casts fails only the rank of that proc", async () => {
  const { world, procs, mesh } = crowd(100);
  await mesh.value.call();
  const pending = mesh.sleep.callSettled(50);
  mesh.increment.broadcast(1);
  const values = mesh.value.callSettled();
  await delay(10);
  kill(world, procs[0]!);
  const slept = [...(await pending).values()];
  expect(slept.map(({ status }) => status)).toEqual(["rejected", ...Array.from({ length: 99 }, () => "fulfilled")]);
  const after = [...(await values).values()];
  expect(after.slice(1)).toEqual(Array.from({ length: 99 }, () => ({ status: "fulfilled", value: 1 })));
  world.close();
});

test("calls do not wait for a proc that is declared dead, even if other procs forward casts to it", async () => {
  const { world, procs, mesh } = crowd(3, { treeAbove: 1, treeFanout: 1 });
  const root = world.root.proc;
  // The root gets a link to rank 2. When the link ends, the proc of rank 2 takes the root for dead, too.
  await mesh.slice({ gpus: 2 }).value.callOne();
  const pending = mesh.sleep.callSettled(50);
  await delay(10);
  root.peerDown(procs[2]!.proc.id, "its host is silent");
  const statuses = [...(await pending).values()].map((one) =>
    one.status === "rejected" ? one.reason.message : "slept",
  );
  const why = "cannot call counters.sleep on rank 2: its host is silent";
  expect(statuses).toEqual(["slept", "slept", why]);
  expect([...(await mesh.value.callSettled()).values()].map(({ status }) => status)).toEqual([
    "fulfilled",
    "fulfilled",
    "rejected",
  ]);
  world.close();
});

test("direct messages and casts are handled in the order in which they were sent", async () => {
  const { world, mesh } = crowd(100);
  const one = mesh.slice({ gpus: 55 });
  for (let i = 0; i < 50; i++) {
    mesh.note.broadcast(`cast ${i}`, i % 3);
    one.note.broadcast(`direct ${i}`, 0);
    if (i % 4 === 0) one.note.broadcast(`again ${i}`, 0);
    if (i % 10 === 0) await delay(1);
  }
  const log = (await one.log.callOne()).filter((line) => line.startsWith("+"));
  const expected: string[] = [];
  for (let i = 0; i < 50; i++) {
    expected.push(`+cast ${i}`, `+direct ${i}`);
    if (i % 4 === 0) expected.push(`+again ${i}`);
  }
  expect(log).toEqual(expected);
  await until("all have had all", () => true);
  world.close();
});

test("a cancelled stream ends even if casts wait for the stream and later messages wait for the casts", async () => {
  const { world, mesh } = crowd(3, { treeAbove: 1, treeFanout: 1, creditMessages: 1, streamItems: 4 });
  const one = mesh.slice({ gpus: 1 });
  const endless = one.endless.stream();
  await endless.next();
  const casts = [mesh.value.call(), mesh.value.call()];
  const behind = one.value.callOne();
  await delay(20);
  await endless.return?.();
  for (const values of await Promise.all(casts)) expect([...values.values()]).toEqual([0, 0, 0]);
  expect(await behind).toBe(0);
  world.close();
});
