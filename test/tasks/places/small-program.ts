/**
 * A small program that uses most of what a context offers. It does not know where its tasks run: the same code runs on the
 * event loop of the program, in processes and threads of one machine, on the hosts of a job, and in processes that were there before.
 */
import type { JobContext, TaskError } from "viceroy/tasks";
import { MemoryStore } from "../../contract/project/src/memory-store.js";
import * as tasks from "./small-tasks.js";

/** What the program finds out, as JSON. */
export type Findings = Readonly<Record<string, unknown>>;

/** Runs the program in a context that offers two processors. */
export async function runSmallProgram(context: JobContext): Promise<Findings> {
  return {
    squares: await context.get([1, 2, 3, 4, 5, 6, 7, 8].map((n) => context.run(tasks.square, n))),
    chained: await context.get(context.run(tasks.add, context.run(tasks.square, 5), context.put(1))),
    ...(await waits(context)),
    nested: await context.get(context.run(tasks.leaves, 4)),
    isOwnContext: (await context.get(context.run(tasks.contextId))) === context.id,
    box: await context.get(context.run(tasks.unboxed, context.run(tasks.boxed, "inside"))),
    ...(await namesActors(context)),
    ...(await fails(context)),
    ...(await cancels(context)),
    ...(await reserves(context)),
  };
}

/** What the program finds out wherever it runs. */
export const expectedFindings: Findings = {
  squares: [1, 4, 9, 16, 25, 36, 49, 64],
  chained: 26,
  done: ["fast"],
  pendingAfterWait: 1,
  nested: 16,
  isOwnContext: true,
  box: "inside",
  numbers: [1, 2, 3, 4, 5, 6],
  next: 7,
  sum: 3,
  taken: "ActorNameTakenError",
  foundAfterStop: false,
  actorError: ["TaskError", "RangeError", "no such key", "numbers.fail"],
  taskError: ["TaskError", "OutOfStockError", "no bolt is left", "order"],
  stackNamesModule: true,
  dependent: [
    "TaskError",
    "TaskError",
    "task add was not run: argument 2, the result of order, has failed: no nut is left",
    "add",
  ],
  cause: ["TaskError", "OutOfStockError", "no nut is left", "order"],
  cancelled: ["TaskCancelledError", "task after was cancelled: context.cancel was called"],
  afterCancel: "still here",
  inGroup: [81, 100],
};

async function waits(context: JobContext): Promise<Findings> {
  const slow = context.run(tasks.after, 600_000, "slow");
  const fast = context.run(tasks.after, 1, "fast");
  const [done, pending] = await context.wait([slow, fast], { count: 1 });
  for (const ref of pending) context.cancel(ref);
  await context.wait([slow]);
  return { done: await context.get(done), pendingAfterWait: pending.length };
}

async function namesActors(context: JobContext): Promise<Findings> {
  const numbers = await context.get([1, 2, 3, 4, 5, 6].map(() => context.run(tasks.takeNumber, "numbers")));
  const store = (await context.getActor(MemoryStore, "numbers"))!;
  const next = await context.get(store.next.run());
  const taken = await context.actor(MemoryStore, [], { name: "numbers" }).catch((error: Error) => error.name);
  const actorError = describe(await errorOf(context.get(store.fail.run("no such key"))));
  await store.stop();
  const isFound = (await context.getActor(MemoryStore, "numbers")) !== undefined;
  const other = await context.actor(MemoryStore, [1, 2], { name: "numbers" });
  const sum = await context.get(other.amounts.run());
  await context.stopActor("numbers");
  return { numbers: numbers.sort((a, b) => a - b), next, sum, taken, foundAfterStop: isFound, actorError };
}

async function fails(context: JobContext): Promise<Findings> {
  const failed = await errorOf(context.get(context.run(tasks.order, "bolt")));
  const dependent = await errorOf(context.get(context.run(tasks.add, 1, context.run(tasks.order, "nut"))));
  return {
    taskError: describe(failed),
    stackNamesModule: failed.stack!.includes("small-tasks"),
    dependent: describe(dependent),
    cause: describe(dependent.cause as TaskError),
  };
}

async function cancels(context: JobContext): Promise<Findings> {
  const running = context.run(tasks.after, 600_000, "never");
  await context.wait([running], { timeout: 50 });
  context.cancel(running);
  const { name, message } = await errorOf(context.get(running));
  return { cancelled: [name, message], afterCancel: await context.get(context.run(tasks.after, 0, "still here")) };
}

async function reserves(context: JobContext): Promise<Findings> {
  const group = await context.placementGroup([{ cpus: 1 }, { cpus: 1 }], { timeout: 60_000 });
  const runner = context.with({ placement: group });
  const inGroup = await context.get([9, 10].map((n) => runner.run(tasks.square, n)));
  await group.remove();
  return { inGroup };
}

async function errorOf(promise: Promise<unknown>): Promise<TaskError> {
  return promise.then(
    () => new Error("it has not failed") as TaskError,
    (error: TaskError) => error,
  );
}

const describe = ({ name, remoteName, message, task }: TaskError) => [name, remoteName, message, task];
