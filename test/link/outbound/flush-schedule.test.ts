/** When what was written goes out: with the end of the read that brought its cause, or behind the ready microtasks. */
import { expect, test } from "vitest";
import { beginReading, endReading, scheduleFlush } from "../../../runtime/link/outbound/flush-schedule.js";

function flushed(log: string[], name: string) {
  return { flushScheduled: () => void log.push(name) };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

test("what is written outside of reading goes out once, in order, behind the microtasks that are ready", async () => {
  const log: string[] = [];
  scheduleFlush(flushed(log, "one"));
  scheduleFlush(flushed(log, "two"));
  queueMicrotask(() => queueMicrotask(() => log.push("microtask")));
  expect(log).toEqual([]);
  await tick();
  expect(log).toEqual(["microtask", "one", "two"]);
  await tick();
  expect(log.length).toBe(3);
});

test("what is written while links read goes out when the last of them has handled what it has read", async () => {
  const log: string[] = [];
  beginReading();
  scheduleFlush(flushed(log, "one"));
  beginReading();
  scheduleFlush(flushed(log, "two"));
  endReading();
  expect(log).toEqual([]);
  endReading();
  expect(log).toEqual(["one", "two"]);
  scheduleFlush(flushed(log, "later"));
  expect(log.length).toBe(2);
  await tick();
  expect(log).toEqual(["one", "two", "later"]);
});

test("what flushing writes goes out too", async () => {
  const log: string[] = [];
  scheduleFlush({ flushScheduled: () => scheduleFlush(flushed(log, "again")) });
  await tick();
  expect(log).toEqual(["again"]);
});
