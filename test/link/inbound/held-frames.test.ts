/** Tests of the buffer for frames that are delivered later: their lanes, their calls, and their delivery. */
import { expect, test } from "vitest";
import { type Binding, Layout } from "../../../runtime/link/frame/binding.js";
import { HeldFrames } from "../../../runtime/link/inbound/held-frames.js";
import type { Destination, Lane } from "../../../runtime/link/inbound/lane.js";
import { Reader } from "../../../runtime/wire/reader.js";

const binding: Binding = { firstSlot: 3, layout: Layout.lockstep, key: "k", fingerprint: 1n, endpoints: [] };

function readerOf(...body: number[]): Reader {
  const bytes = Uint8Array.from([9, 9, 9, 9, 9, 9, 9, 9, ...body, 9]);
  const r = new Reader();
  r.reset(bytes, new DataView(bytes.buffer), 8, 8 + body.length, undefined);
  return r;
}

function world() {
  const told: unknown[][] = [];
  const laneOf = (id: number) =>
    ({ id, syncReceived: (...what: unknown[]) => told.push(["sync", id, ...what]) }) as unknown as Lane;
  const to: Destination = {
    bind: ({ id }, { firstSlot }) => void told.push(["bind", id, firstSlot]),
    message: ({ id }, slot, call, flags, r, size) =>
      void told.push(["message", id, slot, call, flags, [...r.bytes.subarray(r.position, r.end)], size]),
    cancel: ({ id }, call, reason) => void told.push(["cancel", id, call, reason]),
    laneClosed: ({ id }) => void told.push(["closed", id]),
  };
  return { log: new HeldFrames(), one: laneOf(1), two: laneOf(2), to, news: () => told.splice(0) };
}

test("all frames are delivered once, in order, each to the destination of its lane", () => {
  const { log, one, two, to, news } = world();
  log.bind(one, binding);
  log.message(one, 4, 5, 6, readerOf(1, 2), 7);
  log.sync(two, 1, 2);
  log.cancel(one, 5, 8);
  log.laneClosed(two);
  log.release(() => to);
  expect(news()).toEqual([
    ["bind", 1, 3],
    ["message", 1, 4, 5, 6, [1, 2], 7],
    ["sync", 2, 1, 2],
    ["cancel", 1, 5, 8],
    ["closed", 2],
  ]);
  log.release(() => to);
  expect([news(), log.lanes(), log.holdsCall(5)]).toEqual([[], [], false]);
});

test("the buffer holds a call only while it holds the message of the call", () => {
  const { log, one } = world();
  log.cancel(one, 5, 8);
  log.bind(one, binding);
  expect(log.holdsCall(5)).toBe(false);
  log.message(one, 4, 5, 6, readerOf(1), 1);
  expect([log.holdsCall(5), log.holdsCall(6)]).toEqual([true, false]);
});

test("`lanes` returns each lane with frames once", () => {
  const { log, one, two } = world();
  expect(log.lanes()).toEqual([]);
  log.bind(two, binding);
  log.bind(one, binding);
  log.laneClosed(two);
  expect(log.lanes()).toEqual([two, one]);
});
