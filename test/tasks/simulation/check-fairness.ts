/** Checks that a task that needs all of a host is not overtaken for ever by many that need little. */
import type { JobContext } from "../../../runtime/tasks/index.js";
import type { StartedTask, TaskBook } from "./task-book.js";
import type { TaskPlan } from "./task-plan.js";

/** The time in ms in which the large task begins. Faults can have taken hosts away shortly before. */
const longest = 60_000;
/** The number of small tasks that may begin on the host of the large one while it waits. */
const overtakers = 80;

const small: TaskPlan = { kind: "sleep", ms: 10, idempotent: true, needs: "slot", children: [], isChain: false };
const large: TaskPlan = { ...small, needs: "all slots" };

export async function checkFairness(book: TaskBook, context: JobContext): Promise<void> {
  const { simulation } = book;
  const smalls: StartedTask[] = [];
  let isOver = false;
  const stream = async (): Promise<void> => {
    while (!isOver) {
      const started = book.start(context, small);
      smalls.push(started);
      await context.get(started.ref).catch(() => simulation.sleep(50));
    }
  };
  const streams = Array.from({ length: 4 * book.resources.slots }, stream);
  await simulation.sleep(300);
  const waiting = book.start(context, large);
  const end = simulation.now + longest;
  while (simulation.now < end && waiting.outcome === undefined) await simulation.sleep(5);
  isOver = true;
  const [first] = waiting.runs;
  if (first === undefined) {
    if (waiting.outcome?.error === undefined) {
      book.violation(`t${waiting.id} needs all slots, and was overtaken for ${longest} ms`);
    }
  } else {
    const on = first.process.host;
    const before = smalls
      .flatMap(({ runs }) => runs)
      .filter(({ process, at }) => process.host === on && at > waiting.since && at < first.at);
    book.simulation.note(`overtaken by ${before.length}`);
    if (book.calm && before.length > overtakers) {
      book.violation(`t${waiting.id} needs all slots, and was overtaken by ${before.length} tasks`);
    }
  }
  await Promise.race([Promise.all(streams), simulation.sleep(longest)]);
}
