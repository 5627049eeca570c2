/** Tests of when a keeper starts a lost host again, with fake timers. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HostLosses } from "../../runtime/job/keeper/host-losses.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Loses a host, and returns the time in ms until it is started again; undefined if it is not. */
function pauseAfterLoss(losses: HostLosses, wasUp = true): number | undefined {
  let started = false;
  const start = () => {
    started = true;
  };
  if (losses.lost(wasUp, start, () => {}) !== undefined) return undefined;
  const begin = Date.now();
  while (!started) vi.advanceTimersByTime(10);
  return Date.now() - begin;
}

test("a host that is lost again and again is started after longer and longer pauses, and five times at most", () => {
  const losses = new HostLosses(120_000);
  const pauses: (number | undefined)[] = [];
  for (let time = 0; time < 5; time++) {
    losses.up();
    pauses.push(pauseAfterLoss(losses));
  }
  expect(pauses).toEqual([250, 500, 1000, 2000, 4000]);
  losses.up();
  expect(
    losses.lost(
      true,
      () => {},
      () => {},
    ),
  ).toBe("it was lost 6 times, each within 60000 ms of a start, and is not started again");
});

test("losses do not count any more when the host was up for a minute", () => {
  const losses = new HostLosses(120_000);
  for (let time = 0; time < 20; time++) {
    losses.up();
    vi.advanceTimersByTime(60_000);
    expect(pauseAfterLoss(losses)).toBe(250);
  }
});

test("a start that fails is tried again after longer and longer pauses, until the time limit", () => {
  const losses = new HostLosses(20_000);
  losses.up();
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  const starts: number[] = [];
  const begin = Date.now();
  const fail = () => {
    starts.push(Date.now() - begin);
    if (!isOver) losses.lost(false, fail, end);
  };
  losses.lost(true, fail, end);
  vi.advanceTimersByTime(19_999);
  expect(isOver).toBe(false);
  vi.advanceTimersByTime(1);
  expect(isOver).toBe(true);
  losses.stop();
  vi.advanceTimersByTime(100_000);
  expect(starts).toEqual([250, 750, 1750, 3750, 7750, 15_750]);
  expect(losses.lateness).toBe("it did not come back within 20000 ms (hostTimeout)");
});
