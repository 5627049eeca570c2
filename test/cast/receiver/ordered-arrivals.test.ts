/** Tests of casts and direct messages for one actor, in orders that programs rarely produce. */
import { expect, test } from "vitest";
import { CastArrival } from "../../../runtime/cast/receiver/cast-arrival.js";
import { OrderedArrivals, type OrderedCast } from "../../../runtime/cast/receiver/ordered-arrivals.js";
import { CastOrdering } from "../../../runtime/cast/tree/cast-frame.js";
import type { CastInterface } from "../../../runtime/cast/tree/tree-setup.js";
import { DeliveryError } from "../../../runtime/link/errors.js";
import { SyncKind } from "../../../runtime/link/frame/frame.js";
import type { Lane } from "../../../runtime/link/inbound/lane.js";
import type { Session } from "../../../runtime/link/outbound/session.js";
import { Reader } from "../../../runtime/wire/reader.js";

const sender = { universe: 9n, proc: 1n, mesh: 2n, rank: 0, incarnation: 0, name: "sender" };
const target = { proc: 3n, mesh: 4n, owner: 1n, rank: 0 };

/** Records the delivered casts, the cancelled casts, and the questions to the lane of casts. The lane is also the fake link. */
function arrivals() {
  const turns: number[] = [];
  const cancelled: number[] = [];
  const asked: number[] = [];
  const session = {
    sendSync: (_sync: number, casts: number) => asked.push(casts),
    close: () => {},
  } as unknown as Session;
  const coming = new OrderedArrivals(sender, target, () => session);
  const arrive = (index: number, ordering: number): boolean => {
    const cast: OrderedCast = {
      seq: index,
      index,
      ordering,
      post: (to) => void (to.session && turns.push(index)),
      cancel: () => cancelled.push(index),
    };
    return coming.addCast(cast);
  };
  return { coming, arrive, turns, cancelled, asked };
}

test("a direct message is delivered when the casts before it have passed, even if the next cast waits for it", () => {
  const { coming, arrive, turns, asked } = arrivals();
  const lane = { destination: "the actor" } as unknown as Lane;
  coming.syncReceived(lane, SyncKind.after, 2);
  // The third cast, which comes after the direct message, is here first.
  arrive(2, CastOrdering.marked);
  arrive(1, CastOrdering.plain);
  arrive(0, CastOrdering.plain);
  expect(turns).toEqual([0, 1]);
  expect(asked).toEqual([2]);
  expect(lane.destination).not.toBe("the actor");
  coming.syncReceived(lane, SyncKind.passed, 2);
  expect(lane.destination).toBe("the actor");
  coming.syncReceived(lane, SyncKind.mark, 2);
  expect(turns).toEqual([0, 1, 2]);
});

test("a `without` mark drops the casts that were not delivered yet, whether they have arrived or not", () => {
  const { coming, arrive, turns, cancelled, asked } = arrivals();
  const { lane, send, handled } = laneOf(true);
  arrive(0, CastOrdering.plain);
  arrive(2, CastOrdering.plain);
  coming.syncReceived(lane, SyncKind.without, 4);
  send(1);
  expect(cancelled).toEqual([2]);
  expect([arrive(1, CastOrdering.plain), arrive(3, CastOrdering.plain)]).toEqual([false, false]);
  // The cast that was already delivered still comes before the direct message.
  expect([asked, handled]).toEqual([[4], []]);
  coming.syncReceived(lane, SyncKind.passed, 4);
  expect(handled).toEqual(["message 1"]);
  expect(arrive(4, CastOrdering.plain)).toBe(true);
  expect(turns.filter((index) => !cancelled.includes(index))).toEqual([0, 4]);
});

test("a cast that arrives twice is refused the second time, and all casts are refused after the sender's end", () => {
  const { coming, arrive, turns } = arrivals();
  expect(arrive(0, CastOrdering.plain)).toBe(true);
  expect(arrive(0, CastOrdering.plain)).toBe(false);
  coming.senderEnded(() => {});
  expect(arrive(1, CastOrdering.plain)).toBe(false);
  expect(turns).toEqual([0]);
});

/** Creates a lane of direct messages, which reach the actor directly unless the lane has to wait. */
function laneOf(isOpen: boolean) {
  const handled: string[] = [];
  const actor = { message: (_: unknown, slot: number) => handled.push(`message ${slot}`), laneClosed: () => {} };
  const lane = { destination: actor, isOpen } as unknown as Lane;
  const send = (slot: number) => lane.destination.message(lane, slot, 0, 0, new Reader(), 0);
  return { lane, send, handled };
}

test("direct messages behind missing casts are dropped if the sender has ended and their lane is closed", () => {
  const { coming, arrive } = arrivals();
  const { lane, send, handled } = laneOf(false);
  arrive(0, CastOrdering.plain);
  coming.syncReceived(lane, SyncKind.after, 2);
  send(1);
  coming.senderEnded(() => {});
  expect(handled).toEqual([]);
});

test("direct messages of an ended sender, also late ones, wait until the casts before them have passed", () => {
  const { coming, arrive, asked } = arrivals();
  const { lane, send, handled } = laneOf(true);
  let settled = 0;
  arrive(0, CastOrdering.plain);
  coming.syncReceived(lane, SyncKind.after, 1);
  send(1);
  arrive(1, CastOrdering.plain);
  coming.senderEnded(() => settled++);
  const late = laneOf(true);
  coming.syncReceived(late.lane, SyncKind.after, 2);
  late.send(2);
  expect([handled, late.handled, settled]).toEqual([[], [], 0]);
  expect(asked).toEqual([1, 2]);
  coming.syncReceived(lane, SyncKind.passed, 1);
  expect([handled, late.handled, settled]).toEqual([["message 1"], [], 0]);
  coming.syncReceived(lane, SyncKind.passed, 2);
  expect([handled, late.handled, settled]).toEqual([["message 1"], ["message 2"], 1]);
});

/** Creates arrivals, and records the calls to each lane of casts that they open. */
function sessions() {
  const calls: unknown[][] = [];
  const opened: Session[] = [];
  const note =
    (name: string) =>
    (...what: unknown[]): number =>
      calls.push([name, ...what]);
  const coming = new OrderedArrivals(sender, target, (from, to) => {
    calls.push(["open", from === coming, to]);
    const session = {
      sendSync: note("sync"),
      close: note("close"),
      slotOf: note("slotOf"),
      afterAllSent: (then: () => void) => calls.push(["afterSending", then]),
      post: note("post"),
      labelOf: (slot: number) => `label ${slot}`,
    } as unknown as Session;
    opened.push(session);
    return session;
  });
  return { coming, calls, opened };
}

const cast = (coming: OrderedArrivals, index: number, more: Partial<OrderedCast> = {}): boolean =>
  coming.addCast({
    seq: index,
    index,
    ordering: CastOrdering.plain,
    post: (to) => void to.session,
    cancel: () => {},
    ...more,
  });

const opening = ["open", true, { kind: "actor", proc: 3n, number: 4n, rank: 0, owner: 1n, fingerprint: 0n }];
const known = { key: "a#B" } as unknown as CastInterface;

test("the lane of casts leads to the actor on this proc, and is opened again after it was closed", () => {
  const { coming, calls, opened } = sessions();
  expect([coming.id, coming.name]).toEqual([sender, "sender"]);
  cast(coming, 0);
  cast(coming, 1);
  expect(calls).toEqual([opening]);
  const first = coming.session;
  // The end of an unrelated session has no effect.
  coming.sessionEnded({} as Session);
  expect(coming.session).toBe(first);
  coming.sessionEnded(first);
  expect(coming.session).not.toBe(first);
  expect([calls, opened.length]).toEqual([[opening, opening], 2]);
});

test("the schema of the actor is requested over the lane of casts, unless the sender has ended", () => {
  const { coming, calls } = sessions();
  const told: unknown[] = [];
  coming.askForSchema(known, (other) => told.push(other));
  expect(calls.slice(0, 2)).toEqual([opening, ["slotOf", known]]);
  const then = calls[2]![1] as () => void;
  expect(told).toEqual([]);
  then();
  const schema = { fingerprint: 8n, description: "other" };
  expect(coming.compare({} as Session, known, schema)).toBeUndefined();
  then();
  expect(told).toEqual([undefined, schema]);
  coming.senderEnded(() => {});
  const { length } = calls;
  coming.askForSchema(known, (other) => told.push(["ended", other]));
  expect([told.at(-1), calls.length]).toEqual([["ended", undefined], length]);
});

test("casts are not translated on the actor's proc, and bounces are reported with the label of the slot", () => {
  const { coming } = sessions();
  expect(() => coming.translate()).toThrow(
    "a cast cannot be read by the actor, whose schema has changed since the cast's tree was set up",
  );
  const error = new DeliveryError("stopped", "it has stopped");
  expect(() => coming.bounced(coming.session, 3, error)).not.toThrow();
  const bounces: unknown[] = [];
  coming.onBounce = (label, why) => bounces.push([label, why]);
  coming.bounced(coming.session, 3, error);
  expect(bounces).toEqual([["label 3", error]]);
});

test("`cancel` cancels only the waiting cast with the given number", () => {
  const { coming } = sessions();
  const cancelled: number[] = [];
  for (const index of [1, 2]) cast(coming, index, { seq: 10 + index, cancel: () => cancelled.push(index) });
  coming.cancel(12);
  coming.cancel(13);
  expect(cancelled).toEqual([2]);
});

test("casts are ordered correctly when their numbers wrap around at 32 bits", () => {
  const { coming } = sessions();
  const { lane } = laneOf(true);
  coming.syncReceived(lane, SyncKind.without, 0x7fff_ffff);
  coming.syncReceived(lane, SyncKind.without, 0xffff_ffff);
  const turns: number[] = [];
  const post = (index: number) => ({ post: () => void turns.push(index) });
  cast(coming, 0, { ordering: CastOrdering.marked, ...post(0) });
  cast(coming, 0xffff_ffff, post(0xffff_ffff));
  coming.syncReceived(lane, SyncKind.mark, 0xffff_ffff);
  expect(turns).toEqual([0xffff_ffff]);
  coming.syncReceived(lane, SyncKind.mark, 0);
  expect(turns).toEqual([0xffff_ffff, 0]);
});

test("a mark that arrives after a later mark has no effect", () => {
  const { coming, arrive, turns } = arrivals();
  const { lane } = laneOf(true);
  coming.syncReceived(lane, SyncKind.mark, 1);
  coming.releaseUpTo(0);
  arrive(0, CastOrdering.marked);
  arrive(1, CastOrdering.marked);
  arrive(2, CastOrdering.marked);
  expect(turns).toEqual([0, 1]);
});

test("a direct message waits only for casts that have not passed", () => {
  const { coming, arrive, asked } = arrivals();
  const { lane, send, handled } = laneOf(true);
  for (const index of [0, 1, 2]) arrive(index, CastOrdering.plain);
  expect(asked).toEqual([]);
  coming.syncReceived(lane, SyncKind.after, 2);
  send(1);
  // The question covers all three casts, because all three have had their turn.
  expect([asked, handled]).toEqual([[3], []]);
  coming.syncReceived(lane, SyncKind.passed, 1);
  expect(handled).toEqual([]);
  coming.syncReceived(lane, SyncKind.passed, 2);
  expect(handled).toEqual(["message 1"]);
  coming.syncReceived(lane, SyncKind.passed, 1);
  coming.syncReceived(lane, SyncKind.after, 2);
  send(2);
  expect([asked, handled]).toEqual([[3], ["message 1", "message 2"]]);
  // The question about these casts was already sent and has not been answered.
  coming.syncReceived(lane, SyncKind.after, 3);
  send(3);
  expect([asked, handled.length]).toEqual([[3], 2]);
  coming.syncReceived(lane, SyncKind.passed, 3);
  expect(handled.length).toBe(3);
});

test("each of several waiting lanes continues when the casts that it waits for have passed", () => {
  const { coming, arrive, asked } = arrivals();
  const [one, other] = [laneOf(true), laneOf(true)];
  coming.syncReceived(one.lane, SyncKind.after, 1);
  coming.syncReceived(other.lane, SyncKind.after, 2);
  one.send(1);
  other.send(2);
  arrive(0, CastOrdering.plain);
  arrive(1, CastOrdering.plain);
  arrive(2, CastOrdering.plain);
  expect(asked).toEqual([1, 2]);
  coming.syncReceived(one.lane, SyncKind.passed, 1);
  expect([one.handled, other.handled]).toEqual([["message 1"], []]);
  coming.syncReceived(other.lane, SyncKind.passed, 2);
  expect(other.handled).toEqual(["message 2"]);
});

test("a lane that waits again is not released by the casts of its earlier wait", () => {
  const { coming, arrive } = arrivals();
  const [one, other] = [laneOf(true), laneOf(true)];
  coming.syncReceived(one.lane, SyncKind.after, 1);
  arrive(0, CastOrdering.plain);
  coming.syncReceived(one.lane, SyncKind.passed, 1);
  coming.syncReceived(one.lane, SyncKind.after, 3);
  one.send(1);
  coming.syncReceived(other.lane, SyncKind.after, 2);
  other.send(2);
  arrive(1, CastOrdering.plain);
  coming.syncReceived(other.lane, SyncKind.passed, 2);
  one.send(3);
  expect([one.handled, other.handled]).toEqual([[], ["message 2"]]);
});

test("a `without` mark has no effect on casts that were already delivered", () => {
  const { coming, arrive, turns } = arrivals();
  const { lane } = laneOf(true);
  for (const index of [0, 1, 2]) arrive(index, CastOrdering.plain);
  coming.syncReceived(lane, SyncKind.without, 1);
  expect([arrive(1, CastOrdering.plain), arrive(2, CastOrdering.plain), arrive(3, CastOrdering.plain)]).toEqual([
    false,
    false,
    true,
  ]);
  expect(turns).toEqual([0, 1, 2, 3]);
});

test("a cast that arrived early is delivered when a `without` mark says that earlier casts will not come", () => {
  const { coming, arrive, turns, cancelled } = arrivals();
  const { lane } = laneOf(true);
  arrive(2, CastOrdering.plain);
  coming.syncReceived(lane, SyncKind.without, 2);
  expect([turns, cancelled]).toEqual([[2], []]);
});

test("direct messages no longer wait for casts on a lane that has ended", () => {
  const { coming, opened } = sessions();
  const { lane, send, handled } = laneOf(true);
  cast(coming, 0);
  coming.syncReceived(lane, SyncKind.after, 1);
  send(1);
  expect(handled).toEqual([]);
  coming.sessionEnded(opened[0]!);
  expect(handled).toEqual(["message 1"]);
});

test("empty casts open no lane of casts, and direct messages do not wait for such a lane", () => {
  const { coming, calls } = sessions();
  const { lane, send, handled } = laneOf(true);
  coming.syncReceived(lane, SyncKind.after, 1);
  send(1);
  cast(coming, 0, { post: () => {} });
  expect([handled, calls]).toEqual([["message 1"], []]);
});

test("the end of a sender closes the lane of casts, and is settled once, when all its casts have passed", () => {
  const { coming, calls } = sessions();
  let settled = 0;
  const settle = () => settled++;
  cast(coming, 0);
  coming.senderEnded(settle);
  coming.senderEnded(settle);
  expect(calls.slice(1)).toEqual([["sync", SyncKind.passed, 1], ["close"]]);
  expect(settled).toBe(0);
  coming.syncReceived(laneOf(true).lane, SyncKind.passed, 1);
  coming.syncReceived(laneOf(true).lane, SyncKind.passed, 1);
  expect(settled).toBe(1);
});

test("the end of a sender without a lane of casts is settled at once", () => {
  for (const casts of [0, 1]) {
    const { coming, calls } = sessions();
    let settled = 0;
    for (let index = 0; index < casts; index++) cast(coming, index, { post: () => {} });
    coming.senderEnded(() => settled++);
    expect([settled, calls]).toEqual([1, []]);
  }
});

test("a lane of casts with an open question is not asked again when the sender ends", () => {
  const { coming, calls, opened } = sessions();
  let settled = 0;
  cast(coming, 0);
  coming.syncReceived(laneOf(true).lane, SyncKind.after, 1);
  coming.senderEnded(() => settled++);
  expect(calls.slice(1)).toEqual([["sync", SyncKind.passed, 1], ["close"]]);
  coming.sessionEnded(opened[0]!);
  expect(settled).toBe(1);
});

test("waiting casts of an ended sender are not delivered, and direct messages do not wait for them", () => {
  const { coming, arrive, turns } = arrivals();
  arrive(0, CastOrdering.plain);
  arrive(1, CastOrdering.marked);
  coming.senderEnded(() => {});
  coming.releaseUpTo(1);
  expect(turns).toEqual([0]);
  const { lane, send, handled } = laneOf(true);
  coming.syncReceived(lane, SyncKind.passed, 1);
  coming.syncReceived(lane, SyncKind.after, 5);
  send(1);
  expect(handled).toEqual(["message 1"]);
});

test("the end of a sender ends the closed lanes that wait for missing casts, and no other lanes", () => {
  const { coming, arrive } = arrivals();
  const closed: unknown[] = [];
  const lane = { destination: { laneClosed: (one: unknown) => closed.push(one) }, isOpen: false } as unknown as Lane;
  const waiting = { destination: { laneClosed: (one: unknown) => closed.push(one) }, isOpen: false } as unknown as Lane;
  arrive(0, CastOrdering.plain);
  coming.syncReceived(lane, SyncKind.after, 2);
  coming.syncReceived(waiting, SyncKind.after, 1);
  coming.senderEnded(() => {});
  expect(closed).toEqual([lane]);
});

/** Creates a cast with all its parts, and records when it is taken. */
function arrival(body: "message" | undefined, waits = true) {
  const told: unknown[] = [];
  const encoded = { bytes: new Uint8Array(1), blocks: [], size: 1, isProtobuf: false };
  const extension = { rank: 1, extent: 0, timeout: 0, trace: undefined, chain: [] };
  const reply = { id: 0 };
  const one = new CastArrival({
    seq: 5,
    index: 6,
    ordering: CastOrdering.marked,
    slot: () => 9,
    body: body === undefined ? undefined : encoded,
    extension: () => extension,
    createReply: waits ? () => reply as never : undefined,
    onTaken: () => told.push("taken"),
  });
  return { one, told, encoded, extension, reply };
}

test("a cast is posted to the slot of its endpoint, and counts as taken when the lane gives credit", () => {
  for (const waits of [true, false]) {
    const { coming, calls } = sessions();
    const { one, told, encoded, extension, reply } = arrival("message", waits);
    expect([one.seq, one.index, one.ordering]).toEqual([5, 6, CastOrdering.marked]);
    one.post(coming);
    const [name, slot, body, extra, call, waiter] = calls.at(-1)!;
    expect([name, slot, body, extra, call]).toEqual(["post", 9, encoded, extension, waits ? reply : undefined]);
    expect(told).toEqual([]);
    (waiter as { credited(): void }).credited();
    expect(told).toEqual(["taken"]);
  }
});

test("an empty or cancelled cast counts as taken when its turn comes, and sends nothing", () => {
  for (const body of [undefined, "message"] as const) {
    const { coming, calls } = sessions();
    const { one, told } = arrival(body);
    if (body !== undefined) one.cancel();
    one.post(coming);
    expect([told, calls.filter(([name]) => name === "post")]).toEqual([["taken"], []]);
  }
});
