/** Large values above the limit of memory are on disk. Without the addon, values are in the heaps, and nothing is limited. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { JobContext, type JobContextOptions, type ObjectRef, ObjectStoreFullError } from "viceroy/tasks";
import { afterEach, beforeEach, expect, test } from "vitest";
import * as large from "../../fixtures/tasks/large-values.js";
import * as tasks from "../../fixtures/tasks/spilled-values.js";
import { attachPatiently } from "../../host/attach-patiently.js";
import { startHost } from "../../host/start-host.js";
import { until } from "../../proc/until.js";
import { spilledFiles, useOf } from "./spilled.js";

const mebibyte = 2 ** 20;
const isShared = process.env["VICEROY_LINKS"] === "memory";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "spill-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function open(objects: NonNullable<JobContextOptions["objects"]>, procs = 2): Promise<JobContext> {
  return JobContext.open({ procs, resources: { cpus: procs }, objects: { folder, ...objects } });
}

const filled = (bytes: number, value: number) => new Uint8Array(bytes).fill(value);

function expectFilled(bytes: Uint8Array, size: number, value: number): void {
  expect([bytes.length, Buffer.compare(bytes, filled(size, value))]).toEqual([size, 0]);
}

test("more values than memory has room for are put, and all of them come back", async () => {
  await using context = await open({ memory: 10 * mebibyte });
  const refs = Array.from({ length: 20 }, (_, i) => context.put(filled(2 * mebibyte, i)));
  if (isShared) {
    const use = useOf(context.id);
    expect(use).toMatchObject({ values: 20, spilled: 16 });
    expect(use.memory).toBeLessThanOrEqual(10 * mebibyte);
    expect(use.disk).toBeGreaterThan(32 * mebibyte);
    expect(spilledFiles(folder).length).toBe(16);
    expect(readdirSync(folder)).toEqual([]);
  }
  for (const [i, ref] of refs.entries()) expectFilled(await context.get(ref), 2 * mebibyte, i);
  // Tasks read them from disk, too.
  const sums = await context.get(refs.map((ref) => context.run(tasks.sumOf, ref)));
  expect(sums).toEqual(refs.map((_, i) => 512 * i));
  for (const ref of refs) ref.release();
  if (isShared) expect(useOf(context.id)).toEqual({ memory: 0, disk: 0, values: 0, spilled: 0 });
});

test.skipIf(!isShared)("V8 counts the values that are in memory, and not those on disk", async () => {
  await using context = await open({ memory: 4 * mebibyte });
  const bytes = filled(mebibyte, 1);
  context.put(bytes).release();
  // The buffers are counted, too, until they are collected.
  const countedWithoutBuffers = () => process.memoryUsage().external - process.memoryUsage().arrayBuffers;
  const before = countedWithoutBuffers();
  const refs = Array.from({ length: 32 }, () => context.put(bytes));
  const counted = countedWithoutBuffers() - before;
  // V8 would otherwise believe that 32 MiB are in use.
  expect(counted).toBeLessThan(8 * mebibyte);
  expect(refs.length).toBe(32);
});

test("results of tasks of several workers are on disk when memory is full, and are arguments of others", async () => {
  await using context = await open({ memory: 6 * mebibyte }, 3);
  const refs = Array.from({ length: 24 }, (_, i) => context.run(large.filled, 2 * mebibyte, i));
  const sums = refs.map((ref) => context.run(tasks.sumOf, ref));
  expect(await context.get(sums)).toEqual(refs.map((_, i) => 512 * i));
  if (isShared) {
    await until(() => useOf(context.id).values === 24);
    expect(useOf(context.id).memory).toBeLessThanOrEqual(6 * mebibyte);
  }
  for (const [i, ref] of refs.entries()) expectFilled(await context.get(ref), 2 * mebibyte, i);
  for (const ref of refs) ref.release();
  if (isShared) await until(() => useOf(context.id).values === 0);
});

test("a reference finds its value after the owner has moved it", async () => {
  await using context = await open({ memory: 5 * mebibyte }, 1);
  const { refs } = await context.get(context.run(tasks.putMany, 1, 2 * mebibyte));
  const [ref] = refs as [ObjectRef<Uint8Array>];
  // The reference names the memory, and the worker moves the value to disk for others.
  const { refs: others } = await context.get(context.run(tasks.putMany, 3, 2 * mebibyte));
  if (isShared) expect(useOf(context.id)).toMatchObject({ values: 4, spilled: 2 });
  expectFilled(await context.get(ref), 2 * mebibyte, 0);
  for (const [i, other] of others.entries()) expectFilled(await context.get(other), 2 * mebibyte, i);
});

test("an attached host and the program have limits of their own", async () => {
  const host = await startHost();
  await using hosts = attachPatiently([host.address]);
  const objects = { folder, memory: 6 * mebibyte };
  await using context = await JobContext.open({ hosts, procs: 2, resources: { cpus: 2 }, objects });
  const refs = Array.from({ length: 12 }, (_, i) => context.run(large.filled, 2 * mebibyte, i));
  expect(await context.get(refs.map((ref) => context.run(tasks.sumOf, ref)))).toEqual(refs.map((_, i) => 512 * i));
  for (const [i, ref] of refs.entries()) expectFilled(await context.get(ref), 2 * mebibyte, i);
  const { pid, refs: kept } = await context.get(context.run(tasks.putMany, 6, 2 * mebibyte));
  if (isShared) {
    expect(spilledFiles(folder, pid).length).toBeGreaterThanOrEqual(4);
    expect(useOf(context.id)).toMatchObject({ values: 12 });
  }
  for (const [i, ref] of kept.entries()) expectFilled(await context.get(ref), 2 * mebibyte, i);
  // It asks the host how much is in use.
  const group = await context.placementGroup([{ cpus: 1 }]);
  expect(group.size).toBe(1);
});

test.runIf(isShared)("a value that a task has mapped stays in memory", async () => {
  await using context = await open({ memory: 5 * mebibyte }, 1);
  const first = context.put(filled(2 * mebibyte, 1));
  expect(await context.get(context.run(tasks.keepArgument, first))).toBe(1);
  const others = [2, 3, 4].map((value) => context.put(filled(2 * mebibyte, value)));
  expect(useOf(context.id)).toMatchObject({ values: 4, spilled: 2 });
  // Both others that are on disk were put after the first one.
  expectFilled(await context.get(first), 2 * mebibyte, 1);
  expect(spilledFiles(folder).length).toBe(2);
  await context.get(context.run(tasks.dropArgument));
  for (const [i, other] of others.entries()) expectFilled(await context.get(other), 2 * mebibyte, i + 2);
});

test.runIf(isShared)("put fails when memory and disk are full, and works again after a release", async () => {
  await using context = await open({ memory: 4 * mebibyte, disk: 5 * mebibyte, whenFull: "fail" });
  const refs = [1, 2, 3].map((value) => context.put(filled(mebibyte * 2 - 8192, value)));
  const more = () => context.put(filled(2 * mebibyte, 9));
  refs.push(more());
  expect(more).toThrow(ObjectStoreFullError);
  expect(more).toThrow("cannot store a value of 2 MiB: there is no room for it: the values of this process use ");
  expect(() => context.put(filled(100 * mebibyte, 1))).toThrow("it is larger than both limits");
  refs.pop()!.release();
  expectFilled(await context.get(more()), 2 * mebibyte, 9);
  for (const [i, ref] of refs.entries()) expectFilled(await context.get(ref), mebibyte * 2 - 8192, i + 1);
});

test.runIf(isShared)("a task whose result has no room fails, and those after it run", async () => {
  await using context = await open({ memory: 4 * mebibyte, disk: 0, whenFull: "fail" }, 1);
  const ref = context.run(large.filled, 5 * mebibyte, 1);
  await expect(context.get(ref)).rejects.toMatchObject({
    name: "TaskError",
    remoteName: "ObjectStoreFullError",
    message: expect.stringContaining("cannot store a value of 5 MiB: it is larger than both limits"),
  });
  expectFilled(await context.get(context.run(large.filled, 3 * mebibyte, 2)), 3 * mebibyte, 2);
});

test.runIf(isShared)("a process waits until another one has made room", async () => {
  await using context = await open({ memory: 4 * mebibyte, disk: 0 }, 1);
  const kept = context.put(filled(3 * mebibyte, 1));
  const ref = context.run(large.filled, 2 * mebibyte, 2);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(ref.isSettled).toBe(false);
  kept.release();
  expectFilled(await context.get(ref), 2 * mebibyte, 2);
});

test.runIf(isShared)("values that nothing refers to make room before put fails", async () => {
  await using context = await open({ memory: 8 * mebibyte, disk: 0 }, 1);
  for (let i = 0; i < 30; i++) {
    expect((await context.get(context.put(filled(3 * mebibyte, i))))[0]).toBe(i);
    // The values of code that is running are not collected.
    await new Promise(setImmediate);
  }
});

test("values of a context without memory are on disk, and one without disk keeps them in memory", async () => {
  await using onDisk = await open({ memory: 0 }, 1);
  await using inMemory = await open({ disk: 0 }, 1);
  for (const context of [onDisk, inMemory]) {
    const ref = context.put(filled(mebibyte, 3));
    expect(await context.get(context.run(large.scribble, ref))).toBe(3);
    expect(await context.get(context.run(large.getTwice, { ref }))).toEqual({ before: 3, again: isShared ? 99 : 3 });
    expectFilled(await context.get(ref), mebibyte, 3);
  }
});
