/** Tests that written frames are sent at the end of the read that has caused them, or after the ready microtasks. */
import { expect, test } from "vitest";
import { beginReading, endReading, scheduleFlush } from "../../../runtime/link/outbound/flush-schedule.js";

function flushed(log: string[], name: string) {
  return { flushScheduled: () => void log.push(name) };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

test("frames that are written outside of a read are sent once, in order, after the ready microtasks", async () => {
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

test("frames that are written while links read are sent when the last link has handled its bytes", async () => {
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

test("frames that are written during a flush are sent as well", async () => {
  const log: string[] = [];
  scheduleFlush({ flushScheduled: () => scheduleFlush(flushed(log, "again")) });
  await tick();
  expect(log).toEqual(["again"]);
});
