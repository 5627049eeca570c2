/** What `HostMesh.describe` and `viceroy job state` say of the large values of a context on the hosts of a job. */
import { ProcessJob } from "viceroy/job";
import { JobContext } from "viceroy/tasks";
import { afterAll, expect, test } from "vitest";
import * as tasks from "../../fixtures/tasks/large-values.js";
import { viceroyJob } from "../../job/batch-driver.js";
import { newCache } from "../../job/job-program.js";
import { until } from "../../proc/until.js";

const mebibyte = 2 ** 20;
const isShared = process.env["VICEROY_LINKS"] === "memory";
const cache = newCache();
const meshes = { workers: { hosts: 2 } };
const job = new ProcessJob({ meshes, cache, progress: "silent" });
afterAll(() => job.kill());

test.skipIf(!isShared)("a host says what each context uses, to its driver and to those that only look", async () => {
  const { workers } = await job.state();
  const limits = { memory: 2 * mebibyte, disk: 64 * mebibyte };
  await using context = await JobContext.open({ hosts: workers, procs: 1, objects: limits });
  // Three values that worker processes have put, and own.
  const outer = [0, 1, 2].map(() => context.run(tasks.nestedRef, mebibyte));
  const held = await context.get(outer);
  for (const ref of outer) ref.release();
  const seen = async (hosts: typeof workers) =>
    (await hosts.describe()).flatMap(({ drivers }) => drivers.flatMap(({ objects }) => objects));
  const count = async (hosts: typeof workers) => (await seen(hosts)).reduce((sum, { values }) => sum + values, 0);
  // The results pass from the workers to this process.
  await until(async () => (await count(workers)) === held.length);
  const used = (await seen(workers)).filter(({ values }) => values > 0);
  for (const { memory, memoryLimit, disk, diskLimit, values, spilled } of used) {
    expect([memoryLimit, diskLimit]).toEqual([limits.memory, limits.disk]);
    expect(memory + disk).toBeGreaterThanOrEqual(values * mebibyte);
    expect(memory).toBeLessThanOrEqual(memoryLimit);
    expect(spilled > 0).toBe(disk > 0);
  }

  const place = { job: "process", cache, options: { meshes } } as const;
  const { code, out } = await viceroyJob(place, "state", "--read-only");
  expect(code).toBe(0);
  const id = used[0]!.context;
  expect(out).toMatch(
    new RegExp(
      `^    large values of context ${id}: [123], [\\d.]+ (?:MiB|bytes) of 2 MiB in memory, [\\d.]+ (?:MiB|bytes) of 64 MiB on disk$`,
      "m",
    ),
  );
  const { hosts } = JSON.parse((await viceroyJob(place, "state", "--read-only", "--json")).out);
  const listed = hosts.flatMap(({ drivers }: { drivers: { objects: { values: number }[] }[] }) =>
    drivers.flatMap(({ objects }) => objects.map(({ values }) => values)),
  );
  expect(listed.reduce((sum: number, values: number) => sum + values, 0)).toBe(3);

  await context.close();
  await until(async () => (await seen(workers)).length === 0);
});
