/** Casts and direct messages that come to one actor, in orders that a program would see only now and then. */
import { expect, test } from "vitest";
import { Arrivals, type Arriving } from "../../runtime/cast/arrivals.js";
import { Way } from "../../runtime/cast/cast-frame.js";
import { Sync } from "../../runtime/link/frame.js";
import type { Lane } from "../../runtime/link/lane.js";
import type { Session } from "../../runtime/link/session.js";
import { Reader } from "../../runtime/wire/reader.js";

const sender = { universe: 9n, proc: 1n, mesh: 2n, rank: 0, incarnation: 0, name: "sender" };
const target = { proc: 3n, mesh: 4n, owner: 1n, rank: 0 };

/** What came to its turn, what was given up, and how far the lane of casts was asked. The lane itself stands in for a link. */
function arrivals() {
  const turns: number[] = [];
  const cancelled: number[] = [];
  const asked: number[] = [];
  const session = { sync: (_sync: number, casts: number) => asked.push(casts), close: () => {} } as unknown as Session;
  const coming = new Arrivals(sender, target, () => session);
  const arrive = (index: number, way: number): boolean => {
    const cast: Arriving = {
      seq: index,
      index,
      way,
      post: (to) => void (to.session && turns.push(index)),
      cancel: () => cancelled.push(index),
    };
    return coming.arrive(cast);
  };
  return { coming, arrive, turns, cancelled, asked };
}

test("a direct message that waits for casts goes on when they have passed, though the next cast waits for it", () => {
  const { coming, arrive, turns, asked } = arrivals();
  const lane = { destination: "the actor" } as unknown as Lane;
  coming.synced(lane, Sync.after, 2);
  // The third cast, which comes after the direct message, is here first.
  arrive(2, Way.marked);
  arrive(1, Way.plain);
  arrive(0, Way.plain);
  expect(turns).toEqual([0, 1]);
  expect(asked).toEqual([2]);
  expect(lane.destination).not.toBe("the actor");
  coming.synced(lane, Sync.passed, 2);
  expect(lane.destination).toBe("the actor");
  coming.synced(lane, Sync.mark, 2);
  expect(turns).toEqual([0, 1, 2]);
});

test("casts that came back to their sender come to nobody behind what it has sent since, whether they are here or not", () => {
  const { coming, arrive, turns, cancelled, asked } = arrivals();
  const { lane, send, handled } = laneOf(true);
  arrive(0, Way.plain);
  arrive(2, Way.plain);
  coming.synced(lane, Sync.without, 4);
  send(1);
  expect(cancelled).toEqual([2]);
  expect([arrive(1, Way.plain), arrive(3, Way.plain)]).toEqual([false, false]);
  // What had its turn comes first all the same.
  expect([asked, handled]).toEqual([[4], []]);
  coming.synced(lane, Sync.passed, 4);
  expect(handled).toEqual(["message 1"]);
  expect(arrive(4, Way.plain)).toBe(true);
  expect(turns.filter((index) => !cancelled.includes(index))).toEqual([0, 4]);
});

test("a cast that has come before is not taken again, and nothing is once the sender has ended", () => {
  const { coming, arrive, turns } = arrivals();
  expect(arrive(0, Way.plain)).toBe(true);
  expect(arrive(0, Way.plain)).toBe(false);
  coming.end(() => {});
  expect(arrive(1, Way.plain)).toBe(false);
  expect(turns).toEqual([0]);
});

/** A lane of direct messages, which lead to the actor as long as nothing is in between. */
function laneOf(open: boolean) {
  const handled: string[] = [];
  const actor = { message: (_: unknown, slot: number) => handled.push(`message ${slot}`), laneClosed: () => {} };
  const lane = { destination: actor, open } as unknown as Lane;
  const send = (slot: number) => lane.destination.message(lane, slot, 0, 0, new Reader(), 0);
  return { lane, send, handled };
}

test("a sender that is gone: what it sent after casts that are missing is missing, too", () => {
  const { coming, arrive } = arrivals();
  const { lane, send, handled } = laneOf(false);
  arrive(0, Way.plain);
  coming.synced(lane, Sync.after, 2);
  send(1);
  coming.end(() => {});
  expect(handled).toEqual([]);
});

test("a sender that has ended: what it sent after casts waits for them until they have passed, also what comes later", () => {
  const { coming, arrive, asked } = arrivals();
  const { lane, send, handled } = laneOf(true);
  let settled = 0;
  arrive(0, Way.plain);
  coming.synced(lane, Sync.after, 1);
  send(1);
  arrive(1, Way.plain);
  coming.end(() => settled++);
  const late = laneOf(true);
  coming.synced(late.lane, Sync.after, 2);
  late.send(2);
  expect([handled, late.handled, settled]).toEqual([[], [], 0]);
  expect(asked).toEqual([1, 2]);
  coming.synced(lane, Sync.passed, 1);
  expect([handled, late.handled, settled]).toEqual([["message 1"], [], 0]);
  coming.synced(lane, Sync.passed, 2);
  expect([handled, late.handled, settled]).toEqual([["message 1"], ["message 2"], 1]);
});
