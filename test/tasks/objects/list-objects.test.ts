/** What a context says of its large values. */
import { JobContext } from "viceroy/tasks";
import { expect, test } from "vitest";
import * as tasks from "../../fixtures/tasks/large-values.js";
import { until } from "../../proc/until.js";

const mebibyte = 2 ** 20;
const isShared = process.env["VICEROY_LINKS"] === "memory";
const place = isShared ? "memory" : "heap";

test("large values are listed with their size, place and borrowers, and hosts with what they use", async () => {
  await using context = await JobContext.open({ procs: 2, resources: { cpus: 2 }, objects: { memory: 8 * mebibyte } });
  expect((await context.objects()).values).toEqual([]);
  using put = context.put(new Uint8Array(mebibyte));
  using small = context.put("small");
  using outer = context.run(tasks.nestedRef, mebibyte);
  const { ref } = await context.get(outer);
  // A result is a value of both processes until its worker learns that this one has it.
  await until(async () => (await context.objects()).values.length === 3);
  if (isShared) await until(async () => (await context.objects()).hosts[0]?.values === 3);
  const { values, hosts } = await context.objects();
  const found = values.map(({ size, ...rest }) => ({ ...rest, mebibytes: Math.round(size / mebibyte) }));
  const common = { mebibytes: 1, place, copies: 0 };
  expect(found).toEqual([
    { ...common, label: "put", borrowers: 0, host: undefined },
    { ...common, label: "nestedRef", borrowers: 0, host: undefined },
    // A worker has put it, and the program has the reference.
    { ...common, label: "put", borrowers: 1, host: 0 },
  ]);
  expect((await context.get(ref))[0]).toBe(3);
  expect(small.isSettled).toBe(true);
  // The owner counts this process out, although nothing collects garbage.
  ref.release();
  await until(async () => (await context.objects()).values.every(({ borrowers }) => borrowers === 0));
  if (!isShared) {
    expect(hosts).toEqual([]);
    return;
  }
  expect(hosts.length).toBe(1);
  expect(hosts[0]).toMatchObject({ host: 0, memoryLimit: 8 * mebibyte, disk: 0, spilled: 0, values: 3 });
  expect(hosts[0]!.memory).toBeGreaterThanOrEqual(3 * mebibyte);
  put.release();
  await until(async () => (await context.objects()).values.length === 2);
});

test.skipIf(!isShared)("what has moved to disk is listed as such", async () => {
  await using context = await JobContext.open({ procs: 1, objects: { memory: 2 * mebibyte, disk: 64 * mebibyte } });
  const refs = [1, 2, 3, 4].map((value) => context.put(new Uint8Array(mebibyte).fill(value)));
  const { values, hosts } = await context.objects();
  expect(values.filter((value) => value.place === "disk").length).toBe(hosts[0]!.spilled);
  expect(hosts[0]!.spilled).toBeGreaterThan(0);
  expect((await Promise.all(refs.map((ref) => context.get(ref)))).map(([first]) => first)).toEqual([1, 2, 3, 4]);
});

test("a context that is closed lists nothing", async () => {
  const context = await JobContext.open({ procs: 1 });
  await context.close();
  await expect(context.objects()).rejects.toThrow(/^cannot list objects: the context \w+ is closed: /);
});
