/** The tasks of the small program. */
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { JobContext, type ObjectRef, type Task, task } from "viceroy/tasks";
import "../../contract/project/generated/registry.js";
import { MemoryStore } from "../../contract/project/src/memory-store.js";

export const square = task(import.meta.url, "square", (n: number) => n * n);

export const add = task(import.meta.url, "add", (a: number, b: number) => a + b);

export const after = task(import.meta.url, "after", async (ms: number, value: string) => {
  await sleep(ms, undefined, { signal: JobContext.current().signal });
  return value;
});

/** Counts the leaves of a tree of tasks. */
export const leaves: Task<[depth: number], number> = task(import.meta.url, "leaves", async (depth: number) => {
  if (depth === 0) return 1;
  const context = JobContext.current();
  const counts = await context.get([1, 2].map(() => context.run(leaves, depth - 1)));
  return counts.reduce((sum, count) => sum + count, 0);
});

export class OutOfStockError extends Error {
  override name = "OutOfStockError";
}

export const order = task(import.meta.url, "order", (item: string): number => {
  throw new OutOfStockError(`no ${item} is left`);
});

/** Takes the next number of an actor that the first of these tasks creates. */
export const takeNumber = task(import.meta.url, "takeNumber", async (name: string) => {
  const store = await JobContext.current().actor(MemoryStore, [], { name, getIfExists: true });
  return store.next.callOne();
});

/** Returns a reference to a value that the process of the task has. */
export const boxed = task(import.meta.url, "boxed", (value: string) => ({ ref: JobContext.current().put(value) }));

export const unboxed = task(import.meta.url, "unboxed", async ({ ref }: { ref: ObjectRef<string> }) =>
  JobContext.current().get(ref),
);

export const contextId = task(import.meta.url, "contextId", () => JobContext.current().id);

/** Returns the name of the host of a job, after a while, so that all hosts get tasks of this kind. */
export const machine = task(import.meta.url, "machine", async (ms: number) => {
  await sleep(ms);
  return process.env["SLURMD_NODENAME"] ?? `${process.env["VICEROY_JOB_MESH"]}[${process.env["VICEROY_JOB_RANK"]}]`;
});

/** Blocks the event loop of its process. A child of its own in a session of its own does nothing meanwhile. */
export const keepBusy = task(import.meta.url, "keepBusy", (ms: number) => {
  spawn("sleep", [`${ms / 1000}`], { stdio: "ignore", detached: true });
  const end = Date.now() + ms;
  while (Date.now() < end);
});

/** Waits for a task that waits for a value which the process of this one has. */
export const keepOthersBusy: Task<[ms: number], void> = task(import.meta.url, "keepOthersBusy", async (ms: number) => {
  const context = JobContext.current();
  const value = context.put(new Uint8Array(1 << 20));
  await context.get(context.with({ resources: {} }).run(readLater, { value }, ms));
});

export const readLater = task(
  import.meta.url,
  "readLater",
  async ({ value }: { value: ObjectRef<Uint8Array> }, ms: number) => {
    await sleep(ms);
    return (await JobContext.current().get(value)).length;
  },
);
