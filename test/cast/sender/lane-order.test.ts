/** Tests of the order of direct messages among casts, as the sender reports it to the receiver. */
import { expect, test } from "vitest";
import { LaneOrder, type OrderedCasts } from "../../../runtime/cast/sender/lane-order.js";
import { SyncKind } from "../../../runtime/link/frame/frame.js";
import type { Session } from "../../../runtime/link/outbound/session.js";

function ordered(casts: number) {
  const told: (readonly number[])[] = [];
  const ends: unknown[] = [];
  const castSender: OrderedCasts = {
    castCounts: Uint32Array.of(0, casts),
    unmarkedLanes: new Map(),
    excluded: new Set<number>(),
    sessionEnded: (...end) => ends.push(end),
  };
  const session = {
    sendSync: (...sync: readonly number[]) => told.push(sync),
    link: { peer: 8n },
  } as unknown as Session;
  const order = new LaneOrder(castSender, session, 1);
  return { castSender, order, told, ends, excluded: castSender.excluded as Set<number> };
}

test("the first direct message after casts sends one `after` mark, which covers all later messages", () => {
  const { castSender, order, told } = ordered(0);
  order.beforeMessage();
  expect([told, castSender.unmarkedLanes.get(1)]).toEqual([[], order]);
  castSender.castCounts[1] = 2;
  order.beforeMessage();
  order.beforeMessage();
  expect(told).toEqual([[SyncKind.after, 2]]);
});

test("direct messages to an excluded actor are marked as not waiting for casts", () => {
  const { order, told, excluded } = ordered(2);
  excluded.add(1);
  order.beforeMessage();
  expect(told).toEqual([[SyncKind.without, 2]]);
});

test("a mark orders a cast after the earlier direct messages, and later casts need no other mark", () => {
  const { castSender, order, told, ends } = ordered(3);
  order.beforeMessage();
  order.markBefore(3);
  expect(told).toEqual([
    [SyncKind.after, 3],
    [SyncKind.mark, 3],
  ]);
  expect(castSender.unmarkedLanes.size).toBe(0);
  order.sessionEnded();
  expect(ends).toEqual([[1, 3, 8n]]);
});

test("the end of a session is reported to the casts only if a cast waits for its messages", () => {
  const { castSender, order, ends } = ordered(3);
  order.beforeMessage();
  order.sessionEnded();
  expect([ends, castSender.unmarkedLanes.size]).toEqual([[], 0]);
  order.markBefore(0);
  order.sessionEnded();
  expect(ends).toEqual([[1, 0, 8n]]);
});

test("the end of a session does not remove the session that has taken its place", () => {
  const { castSender, order } = ordered(3);
  const next = ordered(3).order;
  castSender.unmarkedLanes.set(1, next);
  order.sessionEnded();
  expect(castSender.unmarkedLanes.get(1)).toBe(next);
});
