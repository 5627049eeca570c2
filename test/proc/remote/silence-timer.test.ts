/** Tests of the silence timer, which counts only time in which this process has run. */
import { expect, test } from "vitest";
import type { Clock } from "../../../runtime/link/clock.js";
import { SilenceTimer } from "../../../runtime/proc/remote/silence-timer.js";

class Hand implements Clock {
  #now = 0;
  #tasks: { readonly at: number; readonly task: () => void }[] = [];
  now = () => this.#now;
  epochMs = () => this.#now;
  nextTurn = (task: () => void) => void this.after(0, task);
  after(ms: number, task: () => void) {
    const entry = { at: this.#now + ms, task };
    this.#tasks.push(entry);
    return { cancel: () => this.#remove(entry) };
  }
  /** Advances the time, and runs timers when they are due, or `early` ms before. */
  run(ms: number, early = 0): void {
    const end = this.#now + ms;
    for (;;) {
      const next = this.#tasks.toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > end) break;
      this.#remove(next);
      this.#now = Math.max(this.#now, next.at - early);
      next.task();
    }
    this.#now = end;
  }
  #remove(entry: object): void {
    this.#tasks = this.#tasks.filter((other) => other !== entry);
  }
  /** Advances the time without running timers. */
  sleep(ms: number): void {
    this.#now += ms;
  }
}

function silence(limit: number, first?: number) {
  const clock = new Hand();
  const ends: number[] = [];
  const counted = new SilenceTimer(clock, limit, () => ends.push(clock.now()), first);
  return { clock, ends, counted };
}

test("calls the function once, at the limit", () => {
  const { clock, ends } = silence(600);
  clock.run(599);
  expect(ends).toEqual([]);
  clock.run(1000);
  expect(ends).toEqual([600]);
});

test("starts again at each reset, and never fires after stop", () => {
  const { clock, ends, counted } = silence(600);
  for (let i = 0; i < 10; i++) {
    clock.run(500);
    counted.reset();
  }
  expect(ends).toEqual([]);
  counted.stop();
  clock.run(10_000);
  expect(ends).toEqual([]);
});

test("counts from the last reset, also between two checks", () => {
  const { clock, ends, counted } = silence(600);
  clock.run(190);
  counted.reset();
  clock.run(599);
  expect(ends).toEqual([]);
  clock.run(1);
  expect(ends).toEqual([790]);
});

test("fires at the limit also if timers fire a little early", () => {
  const { clock, ends } = silence(600);
  clock.run(604, 0.5);
  expect(ends.length).toBe(1);
  expect(ends[0]).toBeGreaterThanOrEqual(600);
});

test("may be longer before the first reset, for a peer that is starting", () => {
  const { clock, ends, counted } = silence(600, 10_000);
  clock.run(9000);
  expect(ends).toEqual([]);
  counted.reset();
  clock.run(600);
  expect(ends).toEqual([9600]);
});

test("a long time without running timers counts as one step", () => {
  const { clock, ends } = silence(600);
  clock.run(200);
  clock.sleep(60_000);
  clock.run(299);
  expect(ends).toEqual([]);
  clock.run(600);
  expect(ends.length).toBe(1);
});
