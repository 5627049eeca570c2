/**
 * Keeps three large results on the second of two hosts, and reads each of them by tasks that may run anywhere, and then one by tasks on the
 * first host. After each part it prints the number of bytes that the tasks have read, and waits for a line. The arguments are the addresses of the hosts and
 * the size of the result.
 */
import { createInterface } from "node:readline";
import { JobContext, type ObjectRef, type TaskRunner } from "viceroy/tasks";
import * as tasks from "../../../fixtures/tasks/locality.js";
import { attachPatiently } from "../../../host/attach-patiently.js";

const [, , first, second, bytes] = process.argv;
const next = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function print(value: unknown): Promise<void> {
  console.log(JSON.stringify(value));
  await next.next();
}

await using hosts = attachPatiently([first!, second!]);
await using context = await JobContext.open({ hosts, procs: 2, resources: { cpus: 2 } });
const group = await context.placementGroup([{ cpus: 1 }, { cpus: 1 }], { strategy: "strictSpread" });
const onBundle = (bundle: number) => context.with({ placement: group.slice({ bundles: bundle }) });

const keepOnSecond = (size: number) => context.get(onBundle(1).run(tasks.keep, size));

async function readTenTimes(runner: Pick<TaskRunner, "run">, ref: ObjectRef<Uint8Array>): Promise<number> {
  let read = 0;
  for (let i = 0; i < 10; i++) read += (await context.get(runner.run(tasks.consume, ref))).size;
  return read;
}

// All worker processes start before anything is counted: a task waits 100 ms for the host that has its arguments, and a start takes longer.
const { ref: small } = await keepOnSecond(2 ** 17);
for (const runner of [context, onBundle(0), onBundle(1)]) await readTenTimes(runner, small);
const large = [];
for (let i = 0; i < 3; i++) large.push((await keepOnSecond(Number(bytes))).ref);
await print("ready");
for (const ref of large) await print({ read: await readTenTimes(context, ref) });
await print({ read: await readTenTimes(onBundle(0), large[0]!) });
