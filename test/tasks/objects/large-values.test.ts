/** Values above 64 KiB are in the memory of the machine, where the addon is there; everything holds without it, too. */
import { spawnSync } from "node:child_process";
import { readdirSync, readlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { JobContext, ObjectLostError } from "viceroy/tasks";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as tasks from "../../fixtures/tasks/large-values.js";
import { until } from "../../proc/until.js";

const mebibyte = 2 ** 20;
const isShared = process.env["VICEROY_LINKS"] === "memory";

let context: JobContext;
beforeAll(async () => {
  context = await JobContext.open({ procs: 2, resources: { cpus: 2 } });
});
afterAll(() => context.close());

/** Returns the number of files in memory that this process has open. */
function openMemory(): number {
  return readdirSync("/proc/self/fd").filter((file) => {
    try {
      return readlinkSync(`/proc/self/fd/${file}`) === "/memfd:viceroy (deleted)";
    } catch {
      return false;
    }
  }).length;
}

test("a value that is put is read by all tasks, and none of them sees what another one writes", async () => {
  const value = new Uint8Array(4 * mebibyte).fill(1);
  using ref = context.put(value);
  // The value was copied.
  value.fill(2);
  expect(await context.get([1, 2, 3, 4].map(() => context.run(tasks.scribble, ref)))).toEqual([1, 1, 1, 1]);
  const here = await context.get(ref);
  expect(here[0]).toBe(1);
  here.fill(3);
  expect(await context.get(context.run(tasks.first, ref))).toBe(1);
});

test("a task reads a large argument without copying it", async () => {
  using ref = context.put(new Uint8Array(8 * mebibyte).fill(1));
  const { sum, mappings, copied } = await context.get(context.run(tasks.ownKilobytes, ref));
  expect(sum).toBe(2048);
  if (isShared) expect({ mappings, copied }).toEqual({ mappings: 1, copied: 0 });
});

test("a task that gets a value again sees its own memory, and the program does", async () => {
  using ref = context.put(new Uint8Array(mebibyte).fill(1));
  const wanted = isShared ? { before: 1, again: 99 } : { before: 1, again: 1 };
  expect(await context.get(context.run(tasks.getTwice, { ref }))).toEqual(wanted);
  expect(await context.get(context.run(tasks.getTwice, { ref }))).toEqual(wanted);
  const here = await context.get(ref);
  expect((await context.get(ref)).buffer === here.buffer).toBe(isShared);
});

test("large results come back, and are arguments of other tasks", async () => {
  using ref = context.run(tasks.filled, 2 * mebibyte, 7);
  expect(await context.get(context.run(tasks.first, ref))).toBe(7);
  const bytes = await context.get(ref);
  expect([bytes.length, bytes[0], bytes.at(-1)]).toEqual([2 * mebibyte, 7, 7]);
});

test.each([10, 100_000])("values of all kinds with %i items are the same in memory and out of it", async (count) => {
  using ref = context.run(tasks.mixed, count);
  const value = await context.get(ref);
  expect([value.numbers.length, value.numbers.every((number, i) => number === i / 2)]).toEqual([count, true]);
  expect(value.small).toEqual(Uint8Array.of(1, 2, 3));
  expect(new Uint16Array(value.buffer).every((number) => number === 7)).toBe(true);
  expect(value.buffer.byteLength).toBe(count * 2);
  expect(value.buffer).toBeInstanceOf(ArrayBuffer);
  expect([value.view.byteLength, value.view.byteOffset]).toEqual([count * 2 - 2, 0]);
  expect(value.text).toBe("x".repeat(count));
  const [inner] = value.nested.get("inner")!;
  expect([inner!.length, inner!.every((number) => number === -1)]).toEqual([count, true]);
  // Each binary value has memory of its own, which can be given to another thread.
  expect(value.numbers.byteOffset).toBe(0);
  structuredClone(value.numbers, { transfer: [value.numbers.buffer] });
  expect((await context.get(ref)).numbers.length).toBe(count);
});

test("references in large values are kept", async () => {
  using outer = context.run(tasks.nestedRef, mebibyte);
  const { ref, bytes } = await context.get(outer);
  expect(bytes[0]).toBe(4);
  expect((await context.get(ref))[0]).toBe(3);
  expect(await context.get(context.run(tasks.first, ref))).toBe(3);
});

test("a value is freed when it is released, and memory that is in use stays", async () => {
  const before = openMemory();
  const ref = context.put(new Uint8Array(mebibyte).fill(1));
  expect(openMemory()).toBe(before + (isShared ? 1 : 0));
  const here = await context.get(ref);
  ref.release();
  ref.release();
  expect(openMemory()).toBe(before);
  expect(here[mebibyte - 1]).toBe(1);
  await expect(context.get(ref)).rejects.toThrow(ObjectLostError);
  await expect(context.get(context.run(tasks.first, ref))).rejects.toThrow("the result of put was released");
});

test("results that nobody keeps are freed, and so is what their workers have had", async () => {
  const before = openMemory();
  for (let round = 0; round < 60; round++) await context.get(context.run(tasks.filled, 16 * mebibyte, round));
  // V8 counts their memory, so that it collects the references without being asked.
  await until(() => openMemory() - before < 40);
});

test("a result survives the process of its task", async () => {
  const ref = context.run(tasks.lastWords, mebibyte);
  const place = await context.get(ref);
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(place[0]).toBe(5);
  expect(await context.get(context.run(tasks.first, ref))).toBe(5);
  ref.release();
});

test("results that others keep do not count for later tasks whose memory is limited", async () => {
  await using alone = await JobContext.open({ procs: 1, resources: { cpus: 1, memory: 400 * mebibyte } });
  // The only process has stored more than the limit.
  const kept = [1, 2, 3, 4, 5].map((value) => alone.run(tasks.filled, 100 * mebibyte, value));
  await alone.wait(kept, { count: kept.length });
  // Their own results do not count for the next tasks either.
  const limited = alone.with({ resources: { cpus: 1, memory: 400 * mebibyte } });
  const own = [];
  for (let i = 0; i < 6; i++) {
    own.push(limited.run(tasks.filled, 60 * mebibyte, i));
    expect((await alone.get(own[i]!))[0]).toBe(i);
  }
  expect((await alone.get(kept[0]!))[0]).toBe(1);
});

test("values stay in the memory of the process when it cannot open more files", () => {
  const program = fileURLToPath(new URL("few-descriptors.mjs", import.meta.url));
  const limited = ["-c", 'ulimit -n 60 && exec "$@"', "sh", process.execPath, program];
  const { stdout, stderr } = spawnSync("sh", limited, { encoding: "utf8" });
  expect({ stdout, stderr }).toEqual({ stdout: "100\n", stderr: "" });
});

test("an error names the place in a large value that cannot be encoded", () => {
  const value = { bytes: new Uint8Array(mebibyte), wrong: [() => {}] };
  expect(() => context.put(value)).toThrow(
    /^cannot put: the value at \.wrong\[0\]: expected a plain value .*got a function/,
  );
});
