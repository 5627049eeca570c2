/** Checks that the hosts of a context have all their resources again when no task is left. */
import type { HostLoad } from "../../../generated/tasks.js";
import type { ContextMember } from "../../../runtime/tasks/context/member.js";
import type { JobContext } from "../../../runtime/tasks/index.js";
import { recordOf } from "../../../runtime/tasks/refs/object-ref.js";
import type { TaskBook } from "./task-book.js";

/** The time in ms in which leases come back: their holders keep them for a while, and notice late that processes have ended. */
const longest = 90_000;

export async function checkAllFree(book: TaskBook, context: JobContext): Promise<void> {
  const { simulation } = book;
  let wrong: string[] = [];
  for (const end = simulation.now + longest; simulation.now < end; ) {
    await simulation.sleep(500);
    wrong = (await loadsOf(context)).flatMap((load, host) => differences(load, host));
    if (wrong.length === 0) return;
  }
  for (const text of wrong) book.violation(text);
}

/** Asks all hosts. A host that has ended has nothing. */
async function loadsOf(context: JobContext): Promise<(HostLoad | undefined)[]> {
  const member = recordOf(context.put(0)).member as unknown as ContextMember;
  const { hosts } = await member.root().describe.callOne();
  return Promise.all(
    hosts.map(({ host }) =>
      host.load.callOne().then(
        (load) => load,
        () => undefined,
      ),
    ),
  );
}

function differences(load: HostLoad | undefined, host: number): string[] {
  if (load === undefined) return [];
  const { total, free, waiting } = load;
  const wrong = Object.entries(total)
    .filter(([name, amount]) => free[name] !== amount)
    .map(([name, amount]) => `host ${host} has ${free[name]} ${name} free of ${amount}, and no task is left`);
  return waiting === 0 ? wrong : [...wrong, `on host ${host}, ${waiting} requests wait, and no task is left`];
}
