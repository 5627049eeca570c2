/** The function of all tasks of simulated contexts: it does what the plan of the task says. */
import { JobContext } from "../../../runtime/tasks/index.js";
import type { StartedTask, TaskBook } from "./task-book.js";

/** @param given the results of the tasks on which this one depends */
export async function performTask(book: TaskBook, id: number, given: readonly string[]): Promise<string> {
  const { started, run } = book.begin(id);
  const { plan, dependencies } = started;
  checkGiven(book, id, given, dependencies);
  const slots = book.resources.slotsOf(plan.needs);
  const taken = slots === 0 ? undefined : book.resources.take(`t${id}`, run.process, slots);
  if (taken?.violation !== undefined) book.violation(taken.violation);
  try {
    await work(book, started);
    return book.finish(started, run);
  } finally {
    if (taken !== undefined) taken.use.isOver = true;
  }
}

async function work(book: TaskBook, { id, plan }: StartedTask): Promise<void> {
  const { simulation } = book;
  const context = JobContext.current();
  switch (plan.kind) {
    case "sleep":
      await sleepUnlessAborted(book, plan.ms, context.signal);
      break;
    case "stubborn":
      await simulation.sleep(plan.ms);
      break;
    case "throw":
      await simulation.sleep(plan.ms);
      throw new RangeError(`planned by t${id}`);
    case "nest":
      await context.get(startChildren(book, context, id).map(({ ref }) => ref));
      await simulation.sleep(plan.ms);
      break;
    case "pick": {
      const children = startChildren(book, context, id);
      await waitForSome(book, context, children, 1 + (id % children.length), id % 3 === 0 ? plan.ms : undefined);
      break;
    }
  }
}

function startChildren(book: TaskBook, context: JobContext, parent: number): StartedTask[] {
  const { plan } = book.tasks[parent]!;
  const started: StartedTask[] = [];
  for (const child of plan.children) {
    const before = started.at(-1);
    const dependencies = plan.isChain && before !== undefined ? [before] : [];
    started.push(book.start(context, child, { parent, dependencies }));
  }
  return started;
}

/** Calls `wait`, and checks what it returns. */
export async function waitForSome(
  book: TaskBook,
  context: JobContext,
  tasks: readonly StartedTask[],
  count: number,
  timeout: number | undefined,
): Promise<void> {
  const refs = tasks.map(({ ref }) => ref);
  const [done, pending] = await context.wait(refs, timeout === undefined ? { count } : { count, timeout });
  const wrong = (why: string) => book.violation(`wait returned ${done.length} of ${refs.length} results, ${why}`);
  const both = new Set([...done, ...pending]);
  if (both.size !== refs.length || done.length + pending.length !== refs.length) wrong("not each reference once");
  for (const part of [done, pending]) {
    const places = part.map((ref) => refs.indexOf(ref));
    if (places.some((place, i) => i > 0 && place < places[i - 1]!)) wrong("out of order");
  }
  if (done.some((ref) => !ref.isSettled)) wrong("some of which are not there");
  const settled = refs.filter((ref) => ref.isSettled).length;
  if (done.length !== Math.min(count, settled)) wrong(`although ${count} were wanted and ${settled} are there`);
  if (timeout === undefined && done.length < count) wrong(`although ${count} were wanted, without a limit`);
}

async function sleepUnlessAborted(book: TaskBook, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
    void book.simulation.sleep(ms).then(resolve);
  });
}

function checkGiven(book: TaskBook, id: number, given: readonly string[], dependencies: readonly StartedTask[]): void {
  for (const [i, value] of given.entries()) {
    const name = `t${dependencies[i]!.id}.`;
    if (!value.startsWith(name)) book.violation(`t${id} got the argument ${value} in place of the result ${name}*`);
  }
}
