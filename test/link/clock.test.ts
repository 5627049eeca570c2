/** Tests of the system clock and randomness, and of the timers that keep a process alive. */
import { existsSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { systemClock, systemRandom } from "../../runtime/link/clock.js";
import { noKeepAlive, TimerKeepAlive } from "../../runtime/link/keep-alive.js";

/** Returns the timers that keep this process alive. */
const holding = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a timer keeps the process alive only if requested, and only until the timer is cancelled", () => {
  const before = holding();
  const idle = systemClock.after(100_000, () => {});
  expect(holding()).toBe(before);
  const holds = systemClock.after(100_000, () => {}, true);
  expect(holding()).toBe(before + 1);
  holds.cancel();
  expect(holding()).toBe(before);
  idle.cancel();
});

test("a timer that is due in the distant future does not fire at once", async () => {
  let fired = false;
  const far = systemClock.after(2 ** 40, () => {
    fired = true;
  });
  await new Promise<void>((resolve) => void systemClock.after(10, resolve, true));
  expect(fired).toBe(false);
  far.cancel();
});

test("a timer that was cancelled never fires", async () => {
  let fired = false;
  systemClock
    .after(1, () => {
      fired = true;
    })
    .cancel();
  await new Promise<void>((resolve) => void systemClock.after(10, resolve, true));
  expect(fired).toBe(false);
});

test("`nextTurn` runs its task in a later turn, after the tasks that are ready now", async () => {
  const ran: string[] = [];
  systemClock.nextTurn(() => ran.push("soon"));
  queueMicrotask(() => ran.push("microtask"));
  process.nextTick(() => ran.push("tick"));
  await turn();
  expect([ran.length, ran.at(-1)]).toEqual([3, "soon"]);
});

test("random ids have 64 bits, do not repeat, and never equal the ids of agents and roots", () => {
  const ids = Array.from({ length: 200 }, () => systemRandom.id());
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id > 1n && id < 2n ** 64n).toBe(true);
  const numbers = Array.from({ length: 10 }, () => systemRandom.number());
  for (const number of numbers) expect(number >= 0 && number < 1).toBe(true);
});

test.runIf(existsSync("/proc/self/fd"))("creating ids leaves no file open", () => {
  const open = () => readdirSync("/proc/self/fd").length;
  const before = open();
  for (let i = 0; i < 5000; i++) systemRandom.id();
  // Other threads may open a few files meanwhile.
  expect(open()).toBeLessThan(before + 50);
});

test("TimerKeepAlive keeps the process alive from the first `hold` to the last `release`, repeatedly", () => {
  const before = holding();
  const keepAlive = new TimerKeepAlive();
  for (let i = 0; i < 3; i++) {
    keepAlive.hold();
    expect(holding()).toBe(before + 1);
    keepAlive.hold();
    expect(holding()).toBe(before + 1);
    keepAlive.release();
    expect(holding()).toBe(before + 1);
    keepAlive.release();
    expect(holding()).toBe(before);
  }
  noKeepAlive.hold();
  expect(holding()).toBe(before);
  noKeepAlive.release();
});
