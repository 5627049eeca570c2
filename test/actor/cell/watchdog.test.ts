/** When handlers that take long are warned of, and when their actors fail, by a clock of the test. */
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

test("a handler is warned of once, and fails its actor when the rest of its time is over", () => {
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

test("a process that was stopped for longer than a handler may take warns first, and gives it the rest of its time", () => {
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

test("a @timeout takes the place of the time after which is warned", () => {
  const watched = watchdog({ warn: 60_000, grace: Number.POSITIVE_INFINITY });
  watched.handlerStarted(turn());
  watched.handlerStarted(turn(100));
  clock.pass(100);
  expect(told).toEqual([`warned: ${after(100)}`]);
  clock.pass(1_000_000);
  expect(told).toEqual([`warned: ${after(100)}`, `warned: ${after(60_000)}`]);
});

test("what a handler waits for is named", () => {
  const watched = watchdog({ warn: 200, grace: 400 });
  watched.handlerStarted(turn(undefined, ["others.value", "others.watch"]));
  clock.pass(200);
  expect(told).toEqual([
    "warned: counters[1].hang, which root has sent, has been running for 200 ms: " +
      "it waits for the answer of others.value, others.watch",
  ]);
});

test("producers of streams are not watched", () => {
  const watched = watchdog({ warn: 200, grace: 400 });
  watched.handlerStarted(turn(undefined, [], true));
  clock.pass(10_000);
  expect([told, clock.waiting]).toEqual([[], 0]);
});

test("one timer is enough for many handlers, and none is left when all have ended", () => {
  const watched = watchdog({ warn: 200, grace: 400 });
  const turns = [turn(), turn(), turn(50)];
  for (const each of turns) watched.handlerStarted(each);
  expect(clock.waiting).toBe(1);
  for (const each of turns) watched.handlerEnded(each);
  clock.pass(10_000);
  expect([told, clock.waiting]).toEqual([[], 0]);
});

test("a handler that begins later is warned of later", () => {
  const watched = watchdog({ warn: 200, grace: Number.POSITIVE_INFINITY });
  watched.handlerStarted(turn());
  clock.pass(150);
  watched.handlerStarted(turn());
  clock.pass(199);
  expect(told).toEqual([`warned: ${after(200)}`]);
  clock.pass(1);
  expect(told).toEqual([`warned: ${after(200)}`, `warned: ${after(200)}`]);
});

test("nothing is watched any more when the actor has ended, and what begins then is", () => {
  const watched = watchdog({ warn: 200, grace: 400 });
  watched.handlerStarted(turn());
  watched.close();
  clock.pass(10_000);
  expect([told, clock.waiting]).toEqual([[], 0]);
  watched.handlerStarted(turn());
  clock.pass(200);
  expect(told).toEqual([`warned: ${after(200)}`]);
});
