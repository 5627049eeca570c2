/** Tests when a thread counts as one that has to wait for its core. */
import { cpus } from "node:os";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { CoreContention } from "../../runtime/link/core-contention.js";
import { waitingTime } from "../../runtime/link/transport/report-transfer.js";

/** A thread whose time and waiting time the test sets. `after` lets time pass and reports enough transfers for one look. */
function thread() {
  const contention = new CoreContention();
  let now = 5000;
  let waited = 300;
  const looks: number[] = [];
  const after = (ms: number, share: number): boolean => {
    now += ms;
    waited += ms * share;
    for (let i = 0; i < 16; i++) {
      contention.transferred(
        () => now,
        () => looks.push(now) && waited,
      );
    }
    return contention.isContended;
  };
  return { contention, after, looks };
}

test("a thread is contended from a fifth of the time on, until it waits for less than a tenth", () => {
  const { after } = thread();
  expect(after(0, 0)).toBe(false);
  expect(after(200, 0.15)).toBe(false);
  expect(after(200, 0.25)).toBe(true);
  expect(after(200, 0.15)).toBe(true);
  expect(after(200, 0.05)).toBe(false);
});

test("short periods are not judged, and periods in which the thread was idle change nothing", () => {
  const { after, looks } = thread();
  after(0, 0);
  expect(after(50, 1)).toBe(false);
  expect(looks).toHaveLength(1);
  expect(after(50, 1)).toBe(true);
  expect(after(3000, 0)).toBe(true);
  expect(after(100, 0)).toBe(false);
});

test("few transfers are not judged", () => {
  const contention = new CoreContention();
  for (let i = 0; i < 15; i++)
    contention.transferred(
      () => expect.unreachable(),
      () => 0,
    );
});

test("a system that does not tell is asked once", () => {
  const contention = new CoreContention();
  let asked = 0;
  for (let i = 0; i < 160; i++) {
    contention.transferred(
      () => i * 1000,
      () => void asked++,
    );
  }
  expect([asked, contention.isContended]).toEqual([1, false]);
});

test.runIf(process.platform === "linux")("Linux counts the time that a busy thread waits for a core", async () => {
  const before = waitingTime()!;
  // More busy threads than cores, so that this one has to wait while it is busy, too.
  const busy = Array.from(
    { length: 4 * cpus().length },
    () => new Worker("const end = Date.now() + 400; while (Date.now() < end);", { eval: true }),
  );
  for (const end = Date.now() + 400; Date.now() < end; );
  await Promise.all(busy.map((worker) => worker.terminate()));
  expect(waitingTime()).toBeGreaterThan(before);
});
