/** Tests of the receiving end of a lane: credit in batches, waiting for casts, and a sender that has another schema. */
import { expect, test } from "vitest";
import { type Binding, Layout } from "../../../runtime/link/frame/binding.js";
import { readU32 } from "../../../runtime/link/frame/control-body.js";
import { FrameKind } from "../../../runtime/link/frame/frame.js";
import { type Destination, Lane } from "../../../runtime/link/inbound/lane.js";
import { OrderGate } from "../../../runtime/link/inbound/order-gate.js";
import { Reader } from "../../../runtime/wire/reader.js";
import { headerOf, recordedLink } from "../../cast/recorded-link.js";

function noted() {
  const told: unknown[][] = [];
  const destination: Destination = {
    bind: (_, binding) => void told.push(["bind", binding.firstSlot]),
    message: (_lane, slot, call, flags, r, size) =>
      void told.push(["message", slot, call, flags, [...r.bytes.subarray(r.position, r.end)], r.blocks, size]),
    cancel: (_, call, reason) => void told.push(["cancel", call, reason]),
    laneClosed: () => void told.push(["closed"]),
  };
  return { destination, news: () => told.splice(0) };
}

function laneOf(credit = { messages: 8, bytes: 800 }) {
  const { link, sent } = recordedLink(1n);
  const synced: unknown[] = [];
  const gone: unknown[] = [];
  Object.assign(link, {
    host: { laneSynced: (_: Lane, ...what: unknown[]) => synced.push(what) },
    sendGone: (...what: unknown[]) => gone.push(what),
  });
  const { destination, news } = noted();
  const sender = { universe: 1n, proc: 1n, mesh: 2n, rank: 0, incarnation: 0, name: "sender" };
  const target = { kind: "actor", proc: 2n, number: 3n, rank: 0, owner: 1n, fingerprint: 0n } as const;
  const request = { sender, target, credit: { ...credit, streamItems: 1, streamBytes: 1 } };
  const lane = new Lane(link, 5, request, destination);
  expect([lane.id, lane.sender, lane.target, lane.isOpen, lane.slots]).toEqual([5, sender, target, true, []]);
  return { lane, sent, news, synced, gone, destination };
}

const message = (lane: Lane, slot: number, call = 0, bytes = [1, 2], blocks?: readonly Uint8Array[]): void => {
  const memory = Uint8Array.from([9, 9, ...bytes, 9]);
  const r = new Reader();
  r.reset(memory, new DataView(memory.buffer), 2, 2 + bytes.length, blocks);
  lane.destination.message(lane, slot, call, 3, r, bytes.length);
  memory.fill(0xee);
};

const binding = (firstSlot: number, layout: number = Layout.lockstep): Binding => ({
  firstSlot,
  layout,
  key: "k",
  fingerprint: 1n,
  endpoints: [],
});

test("credit is returned when a quarter of the sender's messages or bytes has been consumed", () => {
  const { lane, sent } = laneOf();
  lane.consumed(1);
  expect(sent()).toEqual([]);
  lane.consumed(2);
  const [byMessages] = sent();
  expect([headerOf(byMessages!), readU32(byMessages!.r)]).toEqual([[FrameKind.credit, 0, 0, 5, 2], 3]);
  lane.consumed(200);
  const [byBytes] = sent();
  expect([headerOf(byBytes!), readU32(byBytes!.r)]).toEqual([[FrameKind.credit, 0, 0, 5, 1], 200]);
  lane.consumed(199);
  expect(sent()).toEqual([]);
  lane.isOpen = false;
  lane.consumed(1000);
  expect(sent()).toEqual([]);
});

test("a lane with little credit returns the credit of each message at once", () => {
  for (const credit of [
    { messages: 1, bytes: 800 },
    { messages: 8, bytes: 3 },
  ]) {
    const { lane, sent } = laneOf(credit);
    lane.consumed(1);
    expect(sent()).toHaveLength(1);
  }
  const { lane, sent } = laneOf({ messages: 100, bytes: 3 });
  lane.consumed(0);
  expect(sent()).toEqual([]);
});

test("the end of the receiver is reported to the sender only while the lane is open", () => {
  const { lane, gone } = laneOf();
  lane.sendGone("stopped", "it has stopped");
  lane.isOpen = false;
  lane.sendGone("stopped", "it has stopped");
  expect(gone).toEqual([[5, "stopped", "it has stopped"]]);
});

test("a lane that waits for casts keeps its messages in order, and delivers them after the casts", () => {
  const { lane, news, synced, destination } = laneOf();
  const gate = new OrderGate(lane);
  expect([lane.destination, lane.finalDestination]).toEqual([gate, destination]);
  const blocks = [new Uint8Array(3)];
  lane.destination.bind(lane, binding(4));
  message(lane, 1, 7, [1, 2, 3], blocks);
  lane.syncReceived(1, 9);
  lane.destination.cancel(lane, 7, 2);
  message(lane, 2);
  lane.destination.laneClosed(lane);
  expect([news(), synced]).toEqual([[], []]);
  // A call that was delivered before is cancelled at once.
  lane.destination.cancel(lane, 8, 2);
  expect(news()).toEqual([["cancel", 8, 2]]);
  gate.release();
  expect(lane.destination).toBe(destination);
  expect([news(), synced]).toEqual([
    [
      ["bind", 4],
      ["message", 1, 7, 3, [1, 2, 3], blocks, 3],
      ["cancel", 7, 2],
      ["message", 2, 0, 3, [1, 2], undefined, 2],
      ["closed"],
    ],
    [[1, 9]],
  ]);
  gate.release();
  expect(news()).toEqual([]);
});

test("a lane that has to wait again while it delivers keeps the remaining messages", () => {
  const { lane, news } = laneOf();
  const gate = new OrderGate(lane);
  message(lane, 1);
  lane.syncReceived(0, 9);
  message(lane, 2);
  let next: OrderGate | undefined;
  lane.link.host.laneSynced = (one) => {
    next = new OrderGate(one);
  };
  gate.release();
  expect(news().map(([, slot]) => slot)).toEqual([1]);
  next!.release();
  expect(news().map(([, slot]) => slot)).toEqual([2]);
});

test("messages that wait for casts which never come are dropped if the lane is closed, and delivered otherwise", () => {
  for (const open of [true, false]) {
    const { lane, news, destination } = laneOf();
    const gate = new OrderGate(lane);
    message(lane, 1);
    lane.isOpen = open;
    gate.giveUp();
    expect(lane.destination).toBe(destination);
    expect(news()).toEqual(open ? [["message", 1, 0, 3, [1, 2], undefined, 2]] : [["closed"]]);
  }
});

test("a lane can be redirected, also while it waits for casts", () => {
  const { lane, news } = laneOf();
  const [other, third] = [noted(), noted()];
  lane.redirect(other.destination);
  message(lane, 1);
  expect([news(), other.news().length]).toEqual([[], 1]);
  const gate = new OrderGate(lane);
  lane.redirect(third.destination);
  message(lane, 2);
  gate.release();
  expect([other.news(), third.news().length]).toEqual([[], 1]);
});

test("a lane whose sender has another schema drops messages until the sender has bound its interface again", async () => {
  const { lane, news, synced } = laneOf();
  expect(lane.whenResumed).toBeUndefined();
  lane.pause();
  const { whenResumed, destination } = lane;
  lane.pause();
  expect([lane.destination === destination, lane.whenResumed === whenResumed]).toEqual([true, true]);
  message(lane, 1);
  lane.destination.cancel(lane, 1, 0);
  lane.syncReceived(0, 4);
  lane.destination.bind(lane, binding(0));
  expect([news(), synced]).toEqual([[], []]);
  lane.destination.bind(lane, binding(6, Layout.protobuf));
  expect([news(), lane.whenResumed]).toEqual([[["bind", 6]], undefined]);
  await whenResumed;
  lane.syncReceived(0, 4);
  message(lane, 2);
  expect([news().length, synced]).toEqual([1, [[0, 4]]]);
});

test("a paused lane that is closed resolves `whenResumed`", async () => {
  const { lane, news } = laneOf();
  lane.pause();
  const other = noted();
  lane.redirect(other.destination);
  const { whenResumed } = lane;
  expect(whenResumed).toBeInstanceOf(Promise);
  lane.destination.laneClosed(lane);
  await whenResumed;
  expect([news(), other.news()]).toEqual([[], [["closed"]]]);
});

test("a lane that waits for casts can be paused behind its gate", () => {
  const { lane, news, destination } = laneOf();
  const gate = new OrderGate(lane);
  lane.pause();
  expect([lane.destination, lane.whenResumed === undefined]).toEqual([gate, false]);
  lane.destination.bind(lane, binding(6, Layout.none));
  message(lane, 1);
  gate.release();
  expect([lane.destination, news().map(([what]) => what)]).toEqual([destination, ["bind", "message"]]);
});

test("`sendGone` sends nothing after the lane was closed", () => {
  const { lane, gone } = laneOf();
  lane.sendGone("stopped", "it has stopped");
  lane.isOpen = false;
  lane.sendGone("failed", "again");
  expect(gone).toEqual([[5, "stopped", "it has stopped"]]);
});

test("`confirmReached` sends credit for no message only while the lane is open", () => {
  const { lane, sent } = laneOf();
  lane.confirmReached();
  lane.isOpen = false;
  lane.confirmReached();
  expect(sent().map((frame) => [headerOf(frame), readU32(frame.r)])).toEqual([[[FrameKind.credit, 0, 0, 5, 0], 0]]);
});
