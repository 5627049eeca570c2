/** Large values between a program and a host that does not share its memory: the host has process ids of its own, as another machine has. */
import { spawnSync } from "node:child_process";
import { JobContext } from "viceroy/tasks";
import { expect, test } from "vitest";
import * as tasks from "../../fixtures/tasks/large-values.js";
import { attachPatiently } from "../../host/attach-patiently.js";
import { startHost } from "../../host/start-host.js";
import { permitted } from "../../permitted.js";

const mebibyte = 2 ** 20;
const apart = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];

const mayUnshare = permitted(
  "large values on another machine",
  "root, for process ids of its own",
  spawnSync(apart[0]!, [...apart.slice(1), "true"]).status === 0,
);

test.skipIf(!mayUnshare)("values are copied between machines, and shared on each of them", async () => {
  const host = await startHost(undefined, [], {}, apart);
  await using hosts = attachPatiently([host.address]);
  await using context = await JobContext.open({ hosts, procs: 2, resources: { cpus: 2 } });
  using put = context.put(new Uint8Array(mebibyte).fill(1));
  expect(await context.get([context.run(tasks.scribble, put), context.run(tasks.first, put)])).toEqual([1, 1]);
  // Results come back before their processes end, and are arguments of tasks there.
  using far = context.with({ maxCalls: 1 }).run(tasks.filled, 2 * mebibyte, 7);
  expect(await context.get(context.run(tasks.first, far))).toBe(7);
  const bytes = await context.get(far);
  expect([bytes.length, bytes[0], bytes.at(-1)]).toEqual([2 * mebibyte, 7, 7]);
  using outer = context.run(tasks.nestedRef, mebibyte);
  const { ref } = await context.get(outer);
  expect((await context.get(ref))[0]).toBe(3);
});
