/** Tasks go to the hosts that have their arguments. The hosts are those of a job, each with processes of its own. */
import { ProcessJob } from "viceroy/job";
import { JobContext, type ObjectRef, type PlacementGroup, TaskError } from "viceroy/tasks";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as tasks from "../fixtures/tasks/locality.js";

const mebibyte = 2 ** 20;

let job: ProcessJob<"workers">;
let context: JobContext;
let group: PlacementGroup;

beforeAll(async () => {
  job = new ProcessJob({ meshes: { workers: { hosts: 2 } }, cache: null, progress: "silent" });
  const { workers } = await job.state();
  context = await JobContext.open({ hosts: workers, procs: 3, resources: { cpus: 3 } });
  group = await context.placementGroup([{ cpus: 1 }, { cpus: 1 }], { strategy: "strictSpread" });
});

afterAll(async () => {
  await context.close();
  await job.kill();
});

/** Returns a result that a process of one of the two hosts owns. */
function keepOn(bundle: number, bytes: number) {
  return context.get(context.with({ placement: group.slice({ bundles: bundle }) }).run(tasks.keep, bytes));
}

/**
 * Returns the host on which most of some tasks run, one after the other, and the number of bytes that they have read. On a busy machine, some
 * tasks go to another host, because the preferred one has not answered in time.
 */
async function mostlyOn(data: ObjectRef<Uint8Array>, other?: ObjectRef<Uint8Array>) {
  const places: (tasks.Place & { readonly size: number })[] = [];
  for (let i = 0; i < 20; i++) {
    const run = other === undefined ? context.run(tasks.consume, data) : context.run(tasks.consume, data, other);
    places.push(await context.get(run));
  }
  const hosts = [...new Set(places.map(({ host }) => host))];
  const most = hosts.find((host) => places.filter((place) => place.host === host).length >= 15);
  return { host: most, sizes: [...new Set(places.map(({ size }) => size))] };
}

test("Tasks run on the host that has their large arguments, which do not pass through the program", async () => {
  const hosts = [];
  for (const bundle of [0, 1]) {
    const { ref, host } = await keepOn(bundle, 4 * mebibyte);
    hosts.push(host);
    expect(await mostlyOn(ref)).toEqual({ host, sizes: [4 * mebibyte] });
    expect(ref.isSettled).toBe(true);
    expect((await context.get(ref)).length).toBe(4 * mebibyte);
  }
  expect(new Set(hosts).size).toBe(2);
});

test("Tasks run on the host that has most bytes of their arguments", async () => {
  const [small, large] = [await keepOn(0, mebibyte), await keepOn(1, 2 * mebibyte)];
  expect(large.host).not.toBe(small.host);
  expect(await mostlyOn(small.ref, large.ref)).toEqual({ host: large.host, sizes: [mebibyte] });
  // What the program has counts, too. It is on none of the hosts, so that its choice is the first host.
  const own = context.put(new Uint8Array(4 * mebibyte));
  expect(await mostlyOn(own, large.ref)).toEqual({ host: small.host, sizes: [4 * mebibyte] });
});

test("Small results are passed on by the program", async () => {
  const { ref } = await keepOn(1, 1000);
  expect(await context.get(context.run(tasks.consume, ref))).toMatchObject({ size: 1000 });
  expect(ref.isSettled).toBe(true);
});

test("A task goes to another host after a while if the one that has its arguments has no room", async () => {
  // The bundle takes all that the other group has left of its host.
  const full = await context.placementGroup([{ cpus: 2 }]);
  const kept = await context.get(context.with({ placement: full }).run(tasks.keep, mebibyte));
  const place = await context.get(context.run(tasks.consume, kept.ref));
  expect(place.host).not.toBe(kept.host);
  expect(place.size).toBe(mebibyte);
  await full.remove();
  // Many tasks use all hosts.
  const there = await keepOn(0, mebibyte);
  const places = await context.get(Array.from({ length: 40 }, () => context.run(tasks.consumeSlowly, there.ref)));
  expect(new Set(places.map(({ host }) => host)).size).toBe(2);
});

test("A task is not run if the process that has its argument has ended", async () => {
  const { ref, pid } = await keepOn(1, mebibyte);
  process.kill(pid, "SIGKILL");
  const error = await context.get(context.run(tasks.consume, ref)).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TaskError);
  expect((error as Error).message).toMatch(
    /^task consume was not run: argument 1, the result of make, has failed: the result of make is lost: the process that had it has ended: /,
  );
});
