/** The places of direct messages among casts, as the sender tells them to the receiver. */
import { expect, test } from "vitest";
import { LaneOrder, type OrderedCasts } from "../../../runtime/cast/lane-order.js";
import { Sync } from "../../../runtime/link/frame.js";
import type { Session } from "../../../runtime/link/session.js";

function ordered(casts: number) {
  const told: (readonly number[])[] = [];
  const ends: unknown[] = [];
  const caster: OrderedCasts = {
    counts: Uint32Array.of(0, casts),
    dirty: new Map(),
    excluded: new Set<number>(),
    sessionEnded: (...end) => ends.push(end),
  };
  const session = {
    sync: (...sync: readonly number[]) => told.push(sync),
    link: { peer: 8n },
  } as unknown as Session;
  const order = new LaneOrder(caster, session, 1);
  return { caster, order, told, ends, excluded: caster.excluded as Set<number> };
}

test("a direct message comes after the casts before it, which is told once for all that follow", () => {
  const { caster, order, told } = ordered(0);
  order.behind();
  expect([told, caster.dirty.get(1)]).toEqual([[], order]);
  caster.counts[1] = 2;
  order.behind();
  order.behind();
  expect(told).toEqual([[Sync.after, 2]]);
});

test("where an actor cannot be cast to, direct messages do not wait for casts", () => {
  const { order, told, excluded } = ordered(2);
  excluded.add(1);
  order.behind();
  expect(told).toEqual([[Sync.without, 2]]);
});

test("a cast comes after the direct messages before it, until more of them are sent", () => {
  const { caster, order, told, ends } = ordered(3);
  order.behind();
  order.mark(3);
  expect(told).toEqual([
    [Sync.after, 3],
    [Sync.mark, 3],
  ]);
  expect(caster.dirty.size).toBe(0);
  order.ended();
  expect(ends).toEqual([[1, 3, 8n]]);
});

test("when a session has ended, casts that wait for its messages are told; there is nothing to tell if none does", () => {
  const { caster, order, ends } = ordered(3);
  order.behind();
  order.ended();
  expect([ends, caster.dirty.size]).toEqual([[], 0]);
  order.mark(0);
  order.ended();
  expect(ends).toEqual([[1, 0, 8n]]);
});

test("the end of a session leaves alone that of the one which has taken its place", () => {
  const { caster, order } = ordered(3);
  const next = ordered(3).order;
  caster.dirty.set(1, next);
  order.ended();
  expect(caster.dirty.get(1)).toBe(next);
});
