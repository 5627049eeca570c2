/** One large value for all processes of a machine: `mesh.load.call(context.put(weights))`. */
import { onUnhandledFault, thisHost } from "viceroy";
import { JobContext } from "viceroy/tasks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gone, until } from "../../proc/until.js";
import { collectGarbage, isShared, loadTrainers, type Trainers } from "./trainers.js";

const length = 2 ** 24;

let trainers: Trainers;
let context: JobContext;
beforeAll(async () => {
  trainers = await loadTrainers();
  context = await JobContext.open({ procs: 1 });
  // Processes are killed.
  onUnhandledFault(() => {});
});
afterAll(() => context.close());

/** Returns the number of values in sealed memory that this process has. Those of earlier tests are freed before. */
async function sealedHere(): Promise<number> {
  await collectGarbage();
  return trainers.inodesOf("self").length;
}

function weights(first = 1): Float32Array {
  const array = new Float32Array(length).fill(1);
  array[0] = first;
  array[length - 1] = 7;
  return array;
}

test("eight processes read one array of 64 MiB: it is there once, and none of them sees what another one writes", async () => {
  await using procs = thisHost().spawnProcs({ gpus: 8 });
  const mesh = procs.spawn("trainers", trainers.SteadyTrainer);
  using ref = context.put(weights());
  const readings = [...(await mesh.load.call(ref)).values()];
  expect(new Set(readings.map(({ pid }) => pid)).size).toBe(8);
  for (const { length: read, first, last } of readings) expect([read, first, last]).toEqual([length, 1, 7]);

  const own = trainers.inodesOf("self");
  expect(own.length).toBe(isShared ? 1 : 0);
  for (const inodes of (await mesh.inodes.call()).values()) expect(inodes).toEqual(own);

  const written = await mesh.slice({ gpus: 3 }).scribble.callOne(9);
  expect(written).toBe(1);
  const again = [...(await mesh.slice({ gpus: 5 }).read.call()).values()][0]!;
  expect([again.first, again.last]).toEqual([1, 7]);
  const here = await ref.get();
  expect([here[0], here[length - 1]]).toEqual([1, 7]);
  here.fill(5);
  expect((await mesh.slice({ gpus: 6 }).read.callOne()).first).toBe(1);
  // The actor that has written sees what it has written, as a task does.
  expect((await mesh.slice({ gpus: 3 }).read.callOne()).first).toBe(isShared ? 9 : 1);
});

test("a value is freed when all processes have dropped it, and those that are killed are counted out", async () => {
  await until(async () => (await sealedHere()) === 0);
  await using procs = thisHost().spawnProcs({ gpus: 3 }, { name: "mortal" });
  const mesh = procs.spawn("trainers", trainers.SteadyTrainer);
  // Nothing but the message keeps the reference.
  const readings = [...(await mesh.load.call(context.put(weights(2)))).values()];
  expect(await sealedHere()).toBe(isShared ? 1 : 0);
  // The owner keeps the value for those that have it.
  expect((await mesh.slice({ gpus: 2 }).read.callOne()).first).toBe(2);

  await mesh.slice({ gpus: 0 }).drop.call();
  expect(await sealedHere()).toBe(isShared ? 1 : 0);
  expect((await mesh.slice({ gpus: 1 }).read.callOne()).first).toBe(2);

  process.kill(readings[1]!.pid, "SIGKILL");
  await until(() => gone(readings[1]!.pid));
  expect(await sealedHere()).toBe(isShared ? 1 : 0);
  expect((await mesh.slice({ gpus: 2 }).read.callOne()).first).toBe(2);

  await mesh.slice({ gpus: 2 }).drop.call();
  await until(async () => (await sealedHere()) === 0);
  expect(await mesh.slice({ gpus: 0 }).inodes.callOne()).toEqual([]);
  expect(await mesh.slice({ gpus: 2 }).inodes.callOne()).toEqual([]);
});

test("a process that is killed before it reads the message keeps nothing", async () => {
  await until(async () => (await sealedHere()) === 0);
  await using procs = thisHost().spawnProcs({}, { name: "stopped" });
  const mesh = procs.spawn("trainers", trainers.SteadyTrainer);
  const { pid } = await mesh.load.callOne(context.put(new Float32Array(1)));
  process.kill(pid, "SIGSTOP");
  const sent = mesh.load.callOne(context.put(weights()));
  sent.catch(() => {});
  expect(await sealedHere()).toBe(isShared ? 1 : 0);
  process.kill(pid, "SIGKILL");
  await expect(sent).rejects.toThrow("SIGKILL");
  await until(async () => (await sealedHere()) === 0);
});
