/** What programs do wrong with tasks, in real processes: each is a clear error, and the context goes on. */
import "../contract/project/generated/registry.js";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ProcessJob } from "viceroy/job";
import { JobContext, type JobContextOptions, PlainValueError, TaskError } from "viceroy/tasks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MemoryStore } from "../contract/project/src/memory-store.js";
import * as plain from "../fixtures/tasks/plain.js";
import * as unruly from "../fixtures/tasks/unruly.js";
import { attachPatiently } from "../host/attach-patiently.js";
import { startHost } from "../host/start-host.js";
import { newCache } from "../job/job-program.js";
import { permitted } from "../permitted.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { gone, until } from "../proc/until.js";
import { timeLimit } from "../profile.js";
import { processesWith } from "./chaos/marked-processes.js";

const faults = collectUnhandledFaults();
const mounts = permitted(
  "hosts that do not see a folder",
  "root, and the permission to mount",
  spawnSync("unshare", ["--mount", "true"]).status === 0,
);

async function errorOf(promise: Promise<unknown>): Promise<TaskError> {
  return promise.then(
    () => expect.fail("it was expected to fail"),
    (error: TaskError) => error,
  );
}

describe("a context of processes", () => {
  let context: JobContext;
  beforeAll(async () => {
    context = await JobContext.open({ procs: 1 });
  });
  afterAll(async () => {
    await context.close();
    expect(faults).toEqual([]);
  });

  test.each(["function", "symbol", "class", "promise", "weak", "error"])(
    "refuses to return a %s, with its place in the result",
    async (kind) => {
      const error = await errorOf(context.get(context.run(unruly.returnUnsendable, kind)));
      expect(error).toBeInstanceOf(TaskError);
      expect(error.remoteName).toBe(PlainValueError.name);
      expect(error.message).toMatch(
        /^cannot return from returnUnsendable: the result(?: at \.later| at \[0\])?: expected a plain value .*, got /,
      );
    },
  );

  test.each([
    ["text", 'threw "no error"'],
    ["nothing", "threw undefined"],
    ["null", "threw null"],
    ["number", "threw 7"],
  ])("reports that a task has thrown %s, which is no error", async (kind, message) => {
    expect(await errorOf(context.get(context.run(unruly.throwValue, kind)))).toMatchObject({
      name: "TaskError",
      message,
    });
  });

  test("names the deadlock of a task that waits for itself, or for one that waits for it", async () => {
    expect((await errorOf(context.get(context.run(unruly.startsWhatWaitsForItself)))).message).toBe(
      "task getShared waits for its own result, getShared, so that it would never end",
    );
    expect((await errorOf(context.get(context.run(unruly.startsCircle)))).message).toBe(
      "task getShared waits for the result of startsGetShared, which waits for getShared: neither would ever end; " +
        "return the value, or pass it as an argument",
    );
  });

  test("refuses a reference that was released as an argument", async () => {
    const ref = context.put(1);
    ref.release();
    expect((await errorOf(context.get(context.run(plain.twice, ref)))).message).toBe(
      "task twice was not run: argument 1, the result of put, has failed: the result of put was released",
    );
  });

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])(
    "refuses %s processors, wherever they are said",
    async (cpus) => {
      const text = `expected an amount of cpus from 0 to 900719925474, got ${cpus}`;
      const resources = { cpus };
      expect(() => context.with({ resources })).toThrow(new RangeError(`cannot run tasks: ${text}`));
      const group = await errorOf(context.placementGroup([{ cpus: 1 }, resources]));
      expect(group).toBeInstanceOf(RangeError);
      expect(group.message).toContain(text);
      const actor = await errorOf(context.actor(MemoryStore, [], { resources }));
      expect(actor).toBeInstanceOf(RangeError);
      const opened = await errorOf(JobContext.open({ resources } as JobContextOptions));
      expect(opened).toBeInstanceOf(RangeError);
      expect(opened.message).toBe(`cannot open a JobContext: ${text}`);
    },
  );

  test("runs 200,000 tasks that are started at once, and keeps none of them", async () => {
    const count = 200_000;
    const before = process.memoryUsage().rss;
    let sum = 0;
    let refs = Array.from({ length: count }, (_, n) => context.run(plain.twice, n));
    const started = process.memoryUsage().rss;
    for (const value of await context.get(refs)) sum += value;
    expect(sum).toBe(count * (count - 1));
    // A reference, a task and its result have about 1 KB each.
    expect((started - before) / count).toBeLessThan(4096);
    refs = [];
    expect(await context.get(context.run(plain.twice, 1))).toBe(2);
  });
});

test.each([false, true])(
  "a process that a task has started ends with the worker (in its own session: %s)",
  async (own) => {
    const context = await JobContext.open({ procs: 1, grace: 100 });
    const [worker, child] = await context.get(context.run(unruly.leaveChild, own));
    expect([gone(worker), gone(child)]).toEqual([false, false]);
    await context.close();
    await until(() => gone(worker) && gone(child));
  },
);

test("a process that a task has started ends when the task ends its own process", async () => {
  await using context = await JobContext.open({ procs: 1 });
  const mark = `${process.pid}-left`;
  const error = await errorOf(context.get(context.run(unruly.leaveChildAndExit, mark)));
  expect(error.name).toBe("WorkerLostError");
  await until(() => processesWith("LEFT_BY", mark).length === 0);
  expect(await context.get(context.run(plain.twice, 1))).toBe(2);
});

test("a job that a task has submitted does not end with the worker", async () => {
  const options = { meshes: { workers: { hosts: 1 } }, cache: newCache(), progress: "silent" as const };
  const context = await JobContext.open({ procs: 1 });
  const applyId = await context.get(context.run(unruly.submitJob, options));
  await context.close();
  const job = new ProcessJob(options);
  try {
    expect((await job.find())?.applyId).toBe(applyId);
    await using onJob = await JobContext.open({ hosts: (await job.state()).workers, procs: 1 });
    expect(await onJob.get(onJob.run(plain.twice, 3))).toBe(6);
  } finally {
    await job.kill();
  }
});

test("a task that blocks its event loop for long does not end its context, here and on other hosts", async () => {
  const ms = timeLimit(15_000, 60_000);
  const daemon = await startHost("tcp://127.0.0.1:0");
  await using hosts = attachPatiently([daemon.address]);
  await using here = await JobContext.open({ procs: 2 });
  await using there = await JobContext.open({ hosts, procs: 2 });
  const blocked = [here.run(plain.spin, ms), there.run(plain.spin, ms)];
  const meanwhile = [here, there].map((context) => context.get(context.run(plain.twice, 4)));
  expect(await Promise.all(meanwhile)).toEqual([8, 8]);
  expect(await Promise.all([here.get(blocked[0]!), there.get(blocked[1]!)])).toEqual(["spun", "spun"]);
  expect(faults).toEqual([]);
});

test.runIf(mounts)("a host without the module of a task is named, and others run the task", async () => {
  const folder = mkdtempSync(fileURLToPath(new URL("../fixtures/tasks/tmp-", import.meta.url)));
  try {
    const file = join(folder, "only-here.js");
    writeFileSync(
      file,
      'import { task } from "viceroy/tasks";\nexport const here = task(import.meta.url, "here", () => "here");\n',
    );
    const { here } = (await import(pathToFileURL(file).href)) as { here: typeof plain.contextId };
    const hide = 'mount -t tmpfs none "$1" && hostname far-away && shift && exec "$@"';
    const through = ["unshare", "--mount", "--uts", "sh", "-c", hide, "sh", folder];
    const daemon = await startHost(undefined, [], {}, through);
    await using hosts = attachPatiently([daemon.address]);
    await using far = await JobContext.open({ hosts, procs: 1 });
    const { message } = await errorOf(far.get(far.run(here)));
    const { href } = pathToFileURL(file);
    expect(message).toMatch(`cannot run task here: its module ${href} cannot be loaded on host far-away: `);
    expect(message).toMatch(/; each host of a context needs the modules of its tasks, at the same paths$/);
    expect(await far.get(far.run(plain.twice, 1))).toBe(2);
    await using near = await JobContext.open({ procs: 1 });
    expect(await near.get(near.run(here))).toBe("here");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
