/** Tests of references in values: their results are there as long as a value contains them, and no longer. */
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { JobContext, ObjectLostError, type ObjectRef } from "viceroy/tasks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as plain from "../fixtures/tasks/plain.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Collects garbage until the finalizers of this process have run. */
async function collectGarbage(): Promise<void> {
  for (let i = 0; i < 5; i++) {
    await sleep(10);
    collect();
  }
}

describe.each(["inline", "process"] as const)("references in values, with isolation %s", (isolation) => {
  let context: JobContext;
  beforeAll(async () => {
    context = await JobContext.open({ procs: 1, isolation });
  });
  afterAll(async () => {
    await context.close();
  });

  test("a stored value is read by the program and by tasks any number of times", async () => {
    const box = context.put({ ref: context.put(1) });
    for (let i = 0; i < 3; i++) {
      await collectGarbage();
      const { ref } = await context.get(box);
      expect(await context.get(ref)).toBe(1);
      expect(await context.get(context.run(plain.refIn, box))).toBe(2);
      await context.get(context.run(plain.bytesInUse));
    }
  });

  test("a result is read any number of times, by the program and by tasks", async () => {
    const box = context.run(plain.makeRef);
    for (let i = 0; i < 3; i++) {
      const value = await context.get(context.run(plain.identity, box));
      expect(await context.get((value as { ref: ObjectRef<number[]> }).ref)).toEqual([1, 2, 3]);
      await context.get(context.run(plain.bytesInUse));
      expect(await context.get((await context.get(box)).ref)).toEqual([1, 2, 3]);
      await collectGarbage();
    }
  });

  test("arguments keep what they refer to until the task has it", async () => {
    const first = context.run(plain.after, 200);
    const results = [1, 2, 3].map((n) => context.run(plain.refIn, { ref: context.put(n) }));
    await collectGarbage();
    expect(await context.get(results)).toEqual([2, 3, 4]);
    await context.get(first);
  });

  test("releasing a value releases none of those that it refers to", async () => {
    const inner = context.put(1);
    const box = context.put({ ref: inner });
    box.release();
    await expect(context.get(box)).rejects.toThrow(ObjectLostError);
    expect(await context.get(inner)).toBe(1);
  });
});

test("a process frees results whose references have been dropped, also those that nobody has read", async () => {
  await using context = await JobContext.open({ procs: 1 });
  const size = 1 << 20;
  const before = await context.get(context.run(plain.bytesInUse));
  // A function of its own: variables of this one would keep the references of the last round.
  const makeAndDrop = async () => {
    const boxes = Array.from({ length: 10 }, () => context.run(plain.makeLarge, size));
    const read = await context.get(boxes.slice(5));
    for (const { ref } of read) expect((await context.get(ref)).length).toBe(size);
    await context.wait(boxes, { count: 10 });
  };
  for (let round = 0; round < 10; round++) await makeAndDrop();
  for (let i = 0; ; i++) {
    await collectGarbage();
    const after = await context.get(context.run(plain.bytesInUse));
    if (after < before + 10 * size) break;
    if (i === 20) expect(after).toBeLessThan(before + 10 * size);
  }
});
