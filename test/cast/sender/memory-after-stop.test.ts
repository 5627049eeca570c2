/** Tests that the data of a sender for its casts is freed with the mesh. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test } from "vitest";
import { viewOf } from "../../../runtime/actor/mesh/actor-mesh.js";
import { range } from "../../../runtime/shape/index.js";
import { Counter } from "../../actor/counter.js";
import { type TestProc, World } from "../../actor/world.js";
import { until } from "../../proc/until.js";
import { kill } from "../kill-process.js";

let world: World;
afterEach(() => world.close());

function spawn(count: number) {
  world = new World({ treeAbove: 1, treeFanout: 2 });
  const procs = Array.from({ length: count }, (_, i) => world.proc(`p${i}`));
  return { procs, counters: world.spawn("counters", Counter, [0], procs) };
}

const castersOf = ({ proc }: TestProc) => proc.casts.senders.size;

/** The end of a process, as its parent reports it or as the proc detects it. */
const ends = {
  "are known to have ended": (dead: TestProc) => {
    kill(world, dead);
    world.root.proc.peerDown(dead.proc.id, "it was killed");
  },
  "cannot be reached any more": (dead: TestProc) => kill(world, dead),
};

test.each(Object.entries(ends))("the data for casts is freed when all processes of a mesh %s", async (_, end) => {
  const { procs, counters } = spawn(4);
  counters.increment.broadcast(1);
  await counters.value.call();
  for (const dead of procs.slice(0, 3)) end(dead);
  await counters.value.callSettled();
  expect(castersOf(world.root)).toBe(1);
  end(procs[3]!);
  await until(() => castersOf(world.root) === 0);
  await expect(counters.value.call()).rejects.toThrow("cannot call counters.value on rank 0: ");
  await until(() => castersOf(world.root) === 0);
  for (let i = 0; i < 3; i++) counters.increment.broadcast(1);
  await until(() => castersOf(world.root) === 0);
});

test("the data for casts is freed when all processes of the only slice that was cast to have ended", async () => {
  const { procs, counters } = spawn(4);
  await counters.slice({ gpus: range(1, 3) }).value.call();
  expect(castersOf(world.root)).toBe(1);
  for (const dead of procs.slice(1, 3)) kill(world, dead);
  await until(() => castersOf(world.root) === 0);
  const values = await counters.slice({ gpus: range(0, 4, 3) }).value.call();
  expect([...values.values()]).toEqual([0, 0]);
  expect(castersOf(world.root)).toBe(1);
});

test("the data for casts is freed at the root when the mesh is stopped", async () => {
  const { procs, counters } = spawn(4);
  await counters.value.call();
  const { id } = viewOf(counters as never).record;
  await Promise.all(procs.map((proc) => world.stop(proc, id)));
  world.root.proc.casts.meshStopped(id);
  expect(castersOf(world.root)).toBe(0);
});

test("the answers of finished calls are freed, even before the calls are known to be taken by all", async () => {
  const { counters } = spawn(4);
  const answers: WeakRef<object>[] = [];
  const ask = async () => void answers.push(new WeakRef(await counters.value.call()));
  for (let i = 0; i < 20; i++) await ask();
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  await until(() => {
    collect();
    // The last answer may still be referenced.
    return answers.filter((answer) => answer.deref() !== undefined).length <= 1;
  });
});
