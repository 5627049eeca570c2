/**
 * A program with tasks, actors and placement groups on attached hosts, whose addresses are its arguments. It gets orders as lines of
 * JSON, and answers each with a line.
 */
import { createInterface } from "node:readline";
import { JobContext, type PlacementGroup } from "viceroy/tasks";
import { MemoryStore } from "../../../contract/project/src/memory-store.js";
import { attachPatiently } from "../../../host/attach-patiently.js";
import * as tasks from "../small-tasks.js";

const hosts = attachPatiently(process.argv.slice(2));
const resources = { cpus: 3, memory: "4GiB" };
const everything = { cpus: 3, memory: "4GiB" };
let context: JobContext;
let group: PlacementGroup;

const commands: Record<string, () => unknown> = {
  async open() {
    context = await JobContext.open({ hosts, procs: 2, resources });
  },
  /** Uses one processor of each host for an actor, one for a bundle with a task, and one for a task that waits for others. */
  async fill() {
    const small = { cpus: 1, memory: "1GiB" };
    const stores = await Promise.all(
      [1, 2].map((n) => context.actor(MemoryStore, [n], { name: `store ${n}`, resources: small })),
    );
    group = await context.placementGroup([small, small], { strategy: "strictSpread" });
    const inGroup = context.with({ placement: group, resources: small });
    const inOthers = context.with({ resources: small });
    const refs = [
      ...[1, 2].map(() => inGroup.run(tasks.keepBusy, 600_000)),
      ...[1, 2].map(() => inOthers.run(tasks.keepOthersBusy, 600_000)),
      ...Array.from({ length: 500 }, () => context.run(tasks.after, 600_000, "")),
    ];
    await context.wait(refs, { timeout: 100 });
    return context.get(stores.map((store) => store.amounts.run()));
  },
  /** Reserves all that the hosts have, and uses it. */
  async reserveAll() {
    group = await context.placementGroup([everything, everything], { strategy: "strictSpread", timeout: 60_000 });
    const runner = context.with({ placement: group, resources: everything });
    return context.get([3, 4].map((n) => runner.run(tasks.square, n)));
  },
  async close() {
    await context.close();
    await hosts.stop();
  },
};

const answer = (line: object) => console.log(JSON.stringify(line));
answer({});
for await (const line of createInterface({ input: process.stdin })) {
  const [command = ""] = JSON.parse(line) as string[];
  try {
    answer({ result: (await commands[command]!()) ?? null });
  } catch (error) {
    answer({ error: `${(error as Error).name}: ${(error as Error).message}` });
  }
}
