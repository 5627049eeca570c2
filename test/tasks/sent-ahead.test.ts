/** Tests of tasks that are sent to a worker before the one that runs there has ended. */
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { JobContext, type ObjectRef, TaskCancelledError } from "viceroy/tasks";
import { describe, expect, test } from "vitest";
import { LeaseSlot, type SlotTask } from "../../runtime/tasks/worker/lease-slot.js";
import * as plain from "../fixtures/tasks/plain.js";
import { until } from "../proc/until.js";

/** Returns the path of a file that does not exist. */
const newFile = () => join(mkdtempSync(join(tmpdir(), "sent-ahead-")), "release");

/** Runs a task until it is known to be short, so that many of its runs are sent at a time. */
async function becomesShort(context: JobContext, start: () => ObjectRef<unknown>): Promise<void> {
  for (let i = 0; i < 50; i++) await context.get(start());
}

test("short tasks are not sent behind a task of which nothing is known", async () => {
  await using context = await JobContext.open({ procs: 2 });
  await becomesShort(context, () => context.run(plain.twice, 1));
  const release = newFile();
  const long = context.run(plain.block, release);
  const short = [1, 2, 3].map((n) => context.run(plain.twice, n));
  expect(await context.wait([long, ...short], { count: 3 })).toEqual([short, [long]]);
  writeFileSync(release, "");
  expect(await context.get(long)).toBe("released");
});

test("a short task that was sent behind one that turns out to be long is run by another process", async () => {
  await using context = await JobContext.open({ procs: 2 });
  // No second process has been needed, and none would be asked for while the lease of the first has room.
  await becomesShort(context, () => context.run(plain.atOnceOrAfter, 0));
  const long = context.run(plain.atOnceOrAfter, 600_000);
  const short = [1, 2, 3].map(() => context.run(plain.atOnceOrAfter, 0));
  expect(await context.wait([long, ...short], { count: 3 })).toEqual([short, [long]]);
});

test("a task that is cancelled behind one that blocks the process ends, and the other one is not killed", async () => {
  await using context = await JobContext.open({ procs: 1, grace: 100 });
  await becomesShort(context, () => context.run(plain.block, undefined));
  const release = newFile();
  const first = context.run(plain.block, release);
  const second = context.run(plain.block, undefined);
  await until(() => existsSync(`${release}.begun`));
  context.cancel(second);
  expect(await context.wait([first, second])).toEqual([[second], [first]]);
  await expect(context.get(second)).rejects.toThrow(TaskCancelledError);
  writeFileSync(release, "");
  expect(await context.get(first)).toBe("released");
});

describe("the tasks of a lease in a worker", () => {
  test("do not deepen the stack when each ends at once", () => {
    const slot = new LeaseSlot({ suspend: () => {}, resume: () => {}, later: () => {} });
    let depth = 0;
    let deepest = 0;
    const ended: number[] = [];
    const taskOf = (id: number): SlotTask => ({
      id,
      start() {
        deepest = Math.max(deepest, ++depth);
        ended.push(id);
        slot.ended(id);
        depth--;
      },
      handBack: () => {},
      cancel: () => {},
    });
    slot.add({ ...taskOf(0), start: () => {} });
    for (let id = 1; id <= 256; id++) slot.add(taskOf(id));
    slot.ended(0);
    expect(ended).toHaveLength(256);
    expect(deepest).toBe(1);
    expect(slot.isEmpty).toBe(true);
  });

  test("free the resources again when one of them ends and the others still wait", () => {
    const told: string[] = [];
    const later: (() => void)[] = [];
    const slot = new LeaseSlot({
      suspend: () => told.push("suspend"),
      resume: () => told.push("resume"),
      later: (body) => later.push(body),
    });
    const taskOf = (id: number): SlotTask => ({ id, start: () => {}, handBack: () => {}, cancel: () => {} });
    const passTime = () => {
      for (const body of later.splice(0)) body();
    };
    slot.add(taskOf(1));
    slot.suspend();
    slot.add(taskOf(2));
    slot.suspend();
    passTime();
    expect(told).toEqual(["suspend"]);
    slot.resume();
    slot.ended(2);
    passTime();
    expect(told).toEqual(["suspend", "resume", "suspend"]);
  });
});
