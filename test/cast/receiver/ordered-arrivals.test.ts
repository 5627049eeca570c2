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

test("a direct message that waits for casts goes on when they have passed, though the next cast waits for it", () => {
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

test("casts that came back to their sender come to nobody behind what it has sent since, whether they are here or not", () => {
  const { coming, arrive, turns, cancelled, asked } = arrivals();
  const { lane, send, handled } = laneOf(true);
  arrive(0, CastOrdering.plain);
  arrive(2, CastOrdering.plain);
  coming.syncReceived(lane, SyncKind.without, 4);
  send(1);
  expect(cancelled).toEqual([2]);
  expect([arrive(1, CastOrdering.plain), arrive(3, CastOrdering.plain)]).toEqual([false, false]);
  // What had its turn comes first all the same.
  expect([asked, handled]).toEqual([[4], []]);
  coming.syncReceived(lane, SyncKind.passed, 4);
  expect(handled).toEqual(["message 1"]);
  expect(arrive(4, CastOrdering.plain)).toBe(true);
  expect(turns.filter((index) => !cancelled.includes(index))).toEqual([0, 4]);
});

test("a cast that has come before is not taken again, and nothing is once the sender has ended", () => {
  const { coming, arrive, turns } = arrivals();
  expect(arrive(0, CastOrdering.plain)).toBe(true);
  expect(arrive(0, CastOrdering.plain)).toBe(false);
  coming.senderEnded(() => {});
  expect(arrive(1, CastOrdering.plain)).toBe(false);
  expect(turns).toEqual([0]);
});

/** A lane of direct messages, which lead to the actor as long as nothing is in between. */
function laneOf(isOpen: boolean) {
  const handled: string[] = [];
  const actor = { message: (_: unknown, slot: number) => handled.push(`message ${slot}`), laneClosed: () => {} };
  const lane = { destination: actor, isOpen } as unknown as Lane;
  const send = (slot: number) => lane.destination.message(lane, slot, 0, 0, new Reader(), 0);
  return { lane, send, handled };
}

test("a sender that is gone: what it sent after casts that are missing is missing, too", () => {
  const { coming, arrive } = arrivals();
  const { lane, send, handled } = laneOf(false);
  arrive(0, CastOrdering.plain);
  coming.syncReceived(lane, SyncKind.after, 2);
  send(1);
  coming.senderEnded(() => {});
  expect(handled).toEqual([]);
});

test("a sender that has ended: what it sent after casts waits for them until they have passed, also what comes later", () => {
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

/** What the lane of casts is told, each time that it is opened. */
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

test("the lane of casts leads from this proc to the actor, and is opened again when it was closed", () => {
  const { coming, calls, opened } = sessions();
  expect([coming.id, coming.name]).toEqual([sender, "sender"]);
  cast(coming, 0);
  cast(coming, 1);
  expect(calls).toEqual([opening]);
  const first = coming.session;
  // One that is not its own any more, or never was.
  coming.sessionEnded({} as Session);
  expect(coming.session).toBe(first);
  coming.sessionEnded(first);
  expect(coming.session).not.toBe(first);
  expect([calls, opened.length]).toEqual([[opening, opening], 2]);
});

test("the actor is asked for its schema over the lane of casts; nobody is asked for a sender that has ended", () => {
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

test("what the actor cannot read is not translated here, and what came back is told under the name of its slot", () => {
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

test("a cast that is given up while it waits is cancelled, and no other", () => {
  const { coming } = sessions();
  const cancelled: number[] = [];
  for (const index of [1, 2]) cast(coming, index, { seq: 10 + index, cancel: () => cancelled.push(index) });
  coming.cancel(12);
  coming.cancel(13);
  expect(cancelled).toEqual([2]);
});

test("casts are counted round the end of the numbers", () => {
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

test("a mark that comes after a later one changes nothing", () => {
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
  // All three are asked for, since all three have had their turn.
  expect([asked, handled]).toEqual([[3], []]);
  coming.syncReceived(lane, SyncKind.passed, 1);
  expect(handled).toEqual([]);
  coming.syncReceived(lane, SyncKind.passed, 2);
  expect(handled).toEqual(["message 1"]);
  coming.syncReceived(lane, SyncKind.passed, 1);
  coming.syncReceived(lane, SyncKind.after, 2);
  send(2);
  expect([asked, handled]).toEqual([[3], ["message 1", "message 2"]]);
  // It has been asked for already, and not been answered.
  coming.syncReceived(lane, SyncKind.after, 3);
  send(3);
  expect([asked, handled.length]).toEqual([[3], 2]);
  coming.syncReceived(lane, SyncKind.passed, 3);
  expect(handled.length).toBe(3);
});

test("several lanes wait for different casts, and each goes on when its own have passed", () => {
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

test("a lane that waits once more is not let through by what it has waited for before", () => {
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

test("casts that are said to have come back, though they have come, keep their places", () => {
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

test("a cast that is here goes on when the ones before it are said not to come", () => {
  const { coming, arrive, turns, cancelled } = arrivals();
  const { lane } = laneOf(true);
  arrive(2, CastOrdering.plain);
  coming.syncReceived(lane, SyncKind.without, 2);
  expect([turns, cancelled]).toEqual([[2], []]);
});

test("where the lane of casts has ended, direct messages do not wait for what went down it", () => {
  const { coming, opened } = sessions();
  const { lane, send, handled } = laneOf(true);
  cast(coming, 0);
  coming.syncReceived(lane, SyncKind.after, 1);
  send(1);
  expect(handled).toEqual([]);
  coming.sessionEnded(opened[0]!);
  expect(handled).toEqual(["message 1"]);
});

test("casts that only keep their place need no lane, and direct messages wait for none", () => {
  const { coming, calls } = sessions();
  const { lane, send, handled } = laneOf(true);
  coming.syncReceived(lane, SyncKind.after, 1);
  send(1);
  cast(coming, 0, { post: () => {} });
  expect([handled, calls]).toEqual([["message 1"], []]);
});

test("a sender that has ended closes the lane of casts, and has settled when what came has passed, once", () => {
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

test("a sender that has ended without a lane of casts has settled at once", () => {
  for (const casts of [0, 1]) {
    const { coming, calls } = sessions();
    let settled = 0;
    for (let index = 0; index < casts; index++) cast(coming, index, { post: () => {} });
    coming.senderEnded(() => settled++);
    expect([settled, calls]).toEqual([1, []]);
  }
});

test("a lane of casts that was asked before its sender ended is not asked again", () => {
  const { coming, calls, opened } = sessions();
  let settled = 0;
  cast(coming, 0);
  coming.syncReceived(laneOf(true).lane, SyncKind.after, 1);
  coming.senderEnded(() => settled++);
  expect(calls.slice(1)).toEqual([["sync", SyncKind.passed, 1], ["close"]]);
  coming.sessionEnded(opened[0]!);
  expect(settled).toBe(1);
});

test("of a sender that has ended nothing that waits has its turn, and direct messages wait for what came only", () => {
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

test("where a sender has ended, a lane that is there no more is told so, if it waits for casts that are missing", () => {
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

/** A cast with all that it brings, and what became of it. */
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

test("a cast goes down the lane as the message of its endpoint, and is taken when it has credit there", () => {
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

test("a cast that only keeps its place, or was cancelled, is taken when its turn comes, and nothing is sent", () => {
  for (const body of [undefined, "message"] as const) {
    const { coming, calls } = sessions();
    const { one, told } = arrival(body);
    if (body !== undefined) one.cancel();
    one.post(coming);
    expect([told, calls.filter(([name]) => name === "post")]).toEqual([["taken"], []]);
  }
});
