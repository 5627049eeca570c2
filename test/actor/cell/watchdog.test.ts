/** These tests check when slow handlers cause a warning and when they fail their actor, with a manual clock. */
import { beforeEach, expect, test } from "vitest";
import type { Turn } from "../../../runtime/actor/cell/turn.js";
import { Watchdog } from "../../../runtime/actor/cell/watchdog.js";
import type { WatchLimits } from "../../../runtime/actor/reference/actor-request.js";
import { ManualClock } from "../../link/resumable/cut-world.js";

let clock: ManualClock;
let told: string[];

beforeEach(() => {
  clock = new ManualClock();
  told = [];
});

function watchdog(limits: WatchLimits): Watchdog {
  const handlerSlow = (message: string) => void told.push(`warned: ${message}`);
  const handlerStuck = (_turn: Turn, message: string) => void told.push(`failed: ${message}`);
  return new Watchdog({ name: "counters[1]", handlerSlow, handlerStuck }, limits, clock);
}

function turn(timeout?: number, waits: readonly string[] = [], stream = false): Turn {
  const endpoint = { name: "hang", stream, timeout };
  const outstandingCalls = waits.map((label) => ({ label }));
  const shown: Partial<Record<keyof Turn, unknown>> = {
    handler: { endpoint },
    caller: { name: "root" },
    outstandingCalls,
  };
  return shown as unknown as Turn;
}

const after = (ms: number) =>
  `counters[1].hang, which root has sent, has been running for ${ms} ms: it awaits something that is no call`;

test("a slow handler causes one warning, and fails its actor after the grace period", () => {
  const watched = watchdog({ warn: 200, grace: 400 });
  watched.handlerStarted(turn());
  clock.pass(199);
  expect(told).toEqual([]);
  clock.pass(400);
  expect(told).toEqual([`warned: ${after(200)}`]);
  clock.pass(1);
  expect(told).toEqual([`warned: ${after(200)}`, `failed: ${after(600)}`]);
  clock.pass(10_000);
  expect(told.length).toBe(2);
});

test("a process that was suspended warns first, and gives its handlers the full grace period", () => {
  const watched = watchdog({ warn: 200, grace: 400 });
  const [ends, hangs] = [turn(), turn()];
  watched.handlerStarted(ends);
  watched.handlerStarted(hangs);
  clock.sleep(5000);
  clock.step();
  expect(told).toEqual([`warned: ${after(5000)}`, `warned: ${after(5000)}`]);
  watched.handlerEnded(ends);
  clock.pass(399);
  expect(told.length).toBe(2);
  clock.pass(1);
  expect(told.slice(2)).toEqual([`failed: ${after(5400)}`]);
});

test("a @timeout replaces the default time before the warning", () => {
  const watched = watchdog({ warn: 60_000, grace: Number.POSITIVE_INFINITY });
  watched.handlerStarted(turn());
  watched.handlerStarted(turn(100));
  clock.pass(100);
  expect(told).toEqual([`warned: ${after(100)}`]);
  clock.pass(1_000_000);
  expect(told).toEqual([`warned: ${after(100)}`, `warned: ${after(60_000)}`]);
});

test("the warning names the calls that the handler waits for", () => {
  const watched = watchdog({ warn: 200, grace: 400 });
  watched.handlerStarted(turn(undefined, ["others.value", "others.watch"]));
  clock.pass(200);
  expect(told).toEqual([
    "warned: counters[1].hang, which root has sent, has been running for 200 ms: " +
      "it waits for the answer of others.value, others.watch",
  ]);
});

test("handlers that produce streams are not watched", () => {
  const watched = watchdog({ warn: 200, grace: 400 });
  watched.handlerStarted(turn(undefined, [], true));
  clock.pass(10_000);
  expect([told, clock.waiting]).toEqual([[], 0]);
});

test("many handlers share one timer, and no timer is left after all have ended", () => {
  const watched = watchdog({ warn: 200, grace: 400 });
  const turns = [turn(), turn(), turn(50)];
  for (const each of turns) watched.handlerStarted(each);
  expect(clock.waiting).toBe(1);
  for (const each of turns) watched.handlerEnded(each);
  clock.pass(10_000);
  expect([told, clock.waiting]).toEqual([[], 0]);
});

test("the time before a warning counts from the start of each handler", () => {
  const watched = watchdog({ warn: 200, grace: Number.POSITIVE_INFINITY });
  watched.handlerStarted(turn());
  clock.pass(150);
  watched.handlerStarted(turn());
  clock.pass(199);
  expect(told).toEqual([`warned: ${after(200)}`]);
  clock.pass(1);
  expect(told).toEqual([`warned: ${after(200)}`, `warned: ${after(200)}`]);
});

test("close ends the watch over running handlers, and handlers that start later are watched", () => {
  const watched = watchdog({ warn: 200, grace: 400 });
  watched.handlerStarted(turn());
  watched.close();
  clock.pass(10_000);
  expect([told, clock.waiting]).toEqual([[], 0]);
  watched.handlerStarted(turn());
  clock.pass(200);
  expect(told).toEqual([`warned: ${after(200)}`]);
});
