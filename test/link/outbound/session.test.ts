/** Tests of a session with a recorded link: credit, the queue, agreement on a schema, and the end. */
import { beforeEach, describe, expect, test } from "vitest";
import { BackpressureError, DeliveryError } from "../../../runtime/link/errors.js";
import { Layout } from "../../../runtime/link/frame/binding.js";
import { FrameFlag, FrameKind, SyncKind } from "../../../runtime/link/frame/frame.js";
import { extensionSize, readExtension } from "../../../runtime/link/frame/message-extension.js";
import { defaultLinkLimits, type LinkLimits } from "../../../runtime/link/link-limits.js";
import type { EncodedMessage } from "../../../runtime/link/outbound/encoded-message.js";
import { type PendingCall, PendingCalls } from "../../../runtime/link/outbound/pending-calls.js";
import type {
  MessageInterface,
  MessageSender,
  OutboundMessage,
  SessionTarget,
} from "../../../runtime/link/outbound/session.js";
import { Session } from "../../../runtime/link/outbound/session.js";
import { UnhandledMessages } from "../../../runtime/link/outbound/unhandled-messages.js";
import type { Codec } from "../../../runtime/wire/codec.js";
import { CodecError } from "../../../runtime/wire/codec-error.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { hasRead } from "../../../runtime/wire/protobuf/has-read.js";
import { unknownFields } from "../../../runtime/wire/protobuf/unknown-fields.js";
import { protobufValue } from "../../../runtime/wire/protobuf-messages.js";
import { recordedLink } from "../../cast/recorded-link.js";
import { texts } from "../fake-host.js";

const target: SessionTarget = { kind: "actor", proc: 2n, number: 3n, rank: 0, owner: 1n, fingerprint: 0n };
const interfaceOf = (key: string, endpoints = 2): MessageInterface => ({
  key,
  name: key.toUpperCase(),
  fingerprint: 5n,
  endpoints: Array.from({ length: endpoints }, (_, id) => ({ id, name: `e${id}` })),
});
const [a, b] = [interfaceOf("a"), interfaceOf("b", 3)];
const other = { fingerprint: 6n, description: "another" };

/** @param refusal the error with which the sender refuses other schemas */
function sending(limits: Partial<LinkLimits> = {}, refusal?: DeliveryError, canTranslate = true) {
  const told: unknown[][] = [];
  const errors: DeliveryError[] = [];
  const note =
    (name: string) =>
    (...what: unknown[]): number =>
      told.push([name, ...what]);
  const { link, sent } = recordedLink(2n);
  const calls = new PendingCalls();
  let held = 0;
  // The functions of the link are replaced by ones that record, because these frames are not written to an outbox.
  Object.assign(link.outbox, { beginValue: () => {}, endValue: () => {} });
  Object.assign(link, {
    limits: { ...defaultLinkLimits, ...limits },
    calls,
    holdProcess: () => held++,
    releaseProcess: () => held--,
    endCall: (call: PendingCall) => {
      if (!call.isAbandoned) held--;
      calls.remove(call);
    },
    abandonCall: (call: PendingCall) => {
      if (!call.isAbandoned) held--;
      call.isAbandoned = true;
    },
    sendBind: (lane: number, { firstSlot, layout, key }: { firstSlot: number; layout: number; key: string }) =>
      note("bind")(lane, firstSlot, layout, key),
    sendCancel: note("cancel"),
    closeSession: () => note("closed")(),
  });
  const sender: MessageSender = {
    id: { universe: 1n, proc: 1n, mesh: 2n, rank: 0, incarnation: 0 },
    name: "sender",
    compare: (_session, known, schema) => {
      note("compare")(known, schema);
      return refusal;
    },
    translate: (_known, endpoint, body) => {
      if (!canTranslate) throw new RangeError(`${endpoint.name} cannot be said`);
      return { ...body, isProtobuf: true };
    },
    bounced: (_session, slot, error) => {
      errors.push(error);
      note("bounced")(slot, error.message);
    },
    targetEnded: () => void note("target ended")(),
    sessionEnded: () => void note("session ended")(),
  };
  const session = new Session(link, 4, sender, target, "key");
  const pending = (name: string): PendingCall => ({
    id: 0,
    session: undefined,
    credit: 0,
    isAbandoned: false,
    answered() {},
    failed: ({ message }) => void note(name)("failed", message),
    item() {},
    ended() {},
  });
  const waiter = (name: string) => ({ credited: () => void note(name)("credited") });
  /** Describes messages by their text, and `sync` frames by their numbers. */
  const frames = (): string[] =>
    sent().map(({ kind, flags, slot, a: lane, b: place, r }) => {
      expect(lane).toBe(4);
      if (kind === FrameKind.sync) return `sync ${slot} ${place}`;
      expect(kind).toBe(FrameKind.message);
      const text = String(Buffer.from(r.bytes.subarray(r.position, r.end)));
      const call = place === 0 ? "" : " call";
      return `${slot}${flags === 0 ? "" : ` flags ${flags}`}${call} ${text.replace(/[^a-z]/g, "")}`;
    });
  const body = (text: string, isProtobuf = false): EncodedMessage => {
    const bytes = Buffer.from(text);
    return { bytes, blocks: [], size: bytes.length, isProtobuf };
  };
  const post = (text: string, more: { slot?: number; call?: PendingCall; protobuf?: boolean } = {}): void =>
    session.post(more.slot ?? 0, body(text, more.protobuf), undefined, more.call, waiter(text));
  const news = (): unknown[][] => told.splice(0);
  return { session, frames, news, pending, waiter, post, held: () => held, calls, link, sent, errors, body };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Creates such a session with an interface on which both sides agree. */
function agreed(limits: Partial<LinkLimits> = {}) {
  const made = sending(limits);
  made.session.slotOf(a);
  made.session.bindingAnswered(0, undefined);
  made.news();
  return made;
}

test("interfaces get consecutive slots, and each interface is bound once", () => {
  const { session, news } = sending();
  expect([session.slotOf(a), session.slotOf(b), session.slotOf(a), session.slotOf(b)]).toEqual([0, 2, 0, 2]);
  const c = interfaceOf("c");
  expect([session.slotOf(c), session.slotOf(c)]).toEqual([5, 5]);
  expect(news()).toEqual([
    ["bind", 4, 0, Layout.lockstep, "a"],
    ["bind", 4, 2, Layout.lockstep, "b"],
    ["bind", 4, 5, Layout.lockstep, "c"],
  ]);
  expect([0, 1, 2, 4, 5, 7].map((slot) => session.labelOf(slot))).toEqual([
    "A.e0",
    "A.e1",
    "B.e0",
    "B.e2",
    "C.e0",
    "actor",
  ]);
  const full = sending().session;
  expect(full.slotOf(interfaceOf("large", 0xffff))).toBe(0);
  expect(() => full.slotOf(interfaceOf("x", 1))).toThrow(
    new RangeError("cannot send to x: too many interfaces on one lane"),
  );
});

test("messages without credit are queued until credit returns, counted in messages and in bytes", () => {
  const { session, frames, news, post, held } = agreed({ creditMessages: 2, creditBytes: 10 });
  expect([session.hasCredit, session.load]).toEqual([true, 0]);
  for (const text of ["a", "b", "c", "d"]) post(text);
  expect([frames(), news(), session.load, session.hasCredit, held()]).toEqual([
    ["0 a", "0 b"],
    [
      ["a", "credited"],
      ["b", "credited"],
    ],
    4,
    false,
    2,
  ]);
  session.credited(1, 1);
  expect([frames(), news(), session.load, held()]).toEqual([["0 c"], [["c", "credited"]], 3, 1]);
  session.credited(2, 2);
  expect([frames(), session.load, session.hasCredit, held()]).toEqual([["0 d"], 1, true, 0]);
  post("eeeeeeeeee");
  expect(session.hasCredit).toBe(false);
  session.credited(2, 11);
  expect(session.hasCredit).toBe(true);
  // Returning more credit than was used does not raise the limit.
  session.credited(100, 100);
  for (const text of ["f", "g", "h"]) post(text);
  expect(frames()).toEqual(["0 eeeeeeeeee", "0 f", "0 g"]);
});

test("queued messages and `sync` frames keep their order when credit returns", () => {
  const { session, frames, post } = agreed({ creditMessages: 1 });
  post("a");
  post("b");
  session.sendSync(SyncKind.mark, 7);
  post("c");
  expect(frames()).toEqual(["0 a"]);
  session.credited(1, 1);
  expect(frames()).toEqual(["0 b"]);
  session.credited(1, 1);
  session.sendSync(SyncKind.after, 8);
  expect(frames()).toEqual([`sync ${SyncKind.mark} 7`, "0 c", `sync ${SyncKind.after} 8`]);
});

test("the send window limits the queued messages and their bytes", () => {
  const limits = { creditMessages: 1, sendWindowMessages: 2, sendWindowBytes: 10 };
  const { session, post } = agreed(limits);
  session.checkRoom(1000, "x.y");
  post("a");
  session.checkRoom(1000, "x.y");
  post("bbbb");
  session.checkRoom(6, "x.y");
  expect(() => session.checkRoom(7, "x.y")).toThrow(
    new BackpressureError(
      "cannot send x.y: 1 messages (4 bytes) already wait for the receiver, the send window being 2 messages and " +
        "10 bytes; await what broadcast and send return",
    ),
  );
  post("c");
  expect(() => session.checkRoom(0, "x.y")).toThrow(BackpressureError);
});

test("a call records the credit that its answer returns, and a call that cannot be encoded leaves no trace", () => {
  const { session, frames, pending, held, calls } = agreed({ creditMessages: 1 });
  const one = pending("one");
  session.call(0, texts, "x", one);
  expect([frames(), one.credit > 0, one.id > 0, held(), calls.size]).toEqual([["0 call x"], true, true, 1, 1]);
  const bad = pending("bad");
  expect(() => session.call(0, texts, 5, bad)).toThrow();
  expect([frames(), held(), calls.size]).toEqual([[], 1, 1]);
  const late = pending("late");
  session.call(0, texts, "y", late);
  expect([frames(), late.credit, held()]).toEqual([[], 0, 2]);
  session.credited(1, one.credit);
  expect([frames(), late.credit]).toEqual([["0 call y"], one.credit]);
  const first = agreed();
  expect(() => first.session.call(0, texts, 5, first.pending("bad"))).toThrow();
  expect([first.frames(), first.held(), first.calls.size]).toEqual([[], 0, 0]);
});

test("`cast` returns whether the message had credit, and sends the flags of the message", () => {
  const { session, frames, news, waiter } = agreed({ creditMessages: 1 });
  expect(session.cast(1, FrameFlag.exception, texts, "x", waiter("x"))).toBe(true);
  expect(session.cast(1, FrameFlag.exception, texts, "y", waiter("y"))).toBe(false);
  expect([frames(), news()]).toEqual([[`1 flags ${FrameFlag.exception} x`], []]);
  session.credited(1, 1);
  expect([frames(), news()]).toEqual([[`1 flags ${FrameFlag.exception} y`], [["y", "credited"]]]);
});

test("an abandoned call is cancelled at the receiver, or not sent if it was still queued", () => {
  const { session, frames, news, post, pending, held, calls } = agreed({ creditMessages: 1 });
  const [sent, waiting] = [pending("sent"), pending("waiting")];
  post("a", { call: sent });
  post("b", { call: waiting });
  news();
  session.abandon(sent, 3);
  expect([news(), held(), calls.size]).toEqual([[["cancel", 4, sent.id, 3]], 1, 2]);
  session.abandon(waiting, 3);
  expect([news(), held(), calls.size]).toEqual([[["b", "credited"]], 0, 1]);
  session.credited(1, 1);
  expect(frames()).toEqual(["0 call a"]);
});

test("the cast order is notified before each message and at the end of the session", () => {
  const { session, post, pending, waiter, frames } = agreed();
  const told: string[] = [];
  session.castOrder = { beforeMessage: () => void told.push("behind"), sessionEnded: () => void told.push("ended") };
  post("a");
  session.call(0, texts, "x", pending("x"));
  session.cast(0, 0, texts, "y", waiter("y"));
  expect([told, frames().length]).toEqual([["behind", "behind", "behind"], 3]);
  session.end(new DeliveryError("closed", "the end"));
  expect(told.at(-1)).toBe("ended");
});

test("the end of a session fails queued calls and returns queued messages once, and stops `sync` frames", () => {
  for (const reason of ["stopped", "closed"] as const) {
    const { session, frames, news, post, pending, held } = agreed({ creditMessages: 1 });
    post("a");
    post("b");
    session.sendSync(SyncKind.mark, 1);
    post("c", { call: pending("call") });
    frames();
    news();
    let sent = 0;
    session.afterAllSent(() => sent++);
    session.end(new DeliveryError(reason, "why"));
    session.end(new DeliveryError(reason, "again"));
    expect(news()).toEqual([
      ...(reason === "stopped" ? [["target ended"]] : []),
      ["b", "credited"],
      ["bounced", 0, "why"],
      ["c", "credited"],
      ["call", "failed", "why"],
      ["session ended"],
    ]);
    expect([held(), sent, session.isOver, session.ended?.message]).toEqual([0, 1, true, "why"]);
    session.sendSync(SyncKind.mark, 2);
    session.targetEnded();
    session.afterAllSent(() => sent++);
    expect([frames(), news(), sent]).toEqual([[], [], 2]);
  }
});

test("a session closes its lane only after all queued messages have been sent", () => {
  const { session, news, post } = agreed({ creditMessages: 1 });
  post("a");
  post("b");
  news();
  let sent = 0;
  session.afterAllSent(() => sent++);
  session.afterAllSent(() => sent++);
  session.close();
  expect([news(), sent, session.ended?.message]).toEqual([[], 0, "its sender has ended"]);
  session.credited(1, 1);
  expect([news(), sent]).toEqual([[["b", "credited"], ["closed"]], 2]);
  const idle = agreed();
  idle.session.close();
  expect(idle.news()).toEqual([["closed"]]);
  const before = agreed();
  before.session.end(new DeliveryError("stopped", "first"));
  before.news();
  before.session.close();
  expect([before.session.ended?.message, before.news()]).toEqual(["first", []]);
});

test("a session whose receiver has moved sends its queue, and does not report a later end of the receiver", () => {
  const { session, news, post, frames } = agreed({ creditMessages: 1 });
  post("a");
  post("b");
  news();
  frames();
  session.retire();
  session.retire();
  expect([news(), session.isOver, session.ended?.message]).toEqual([
    [["session ended"]],
    false,
    "its receiver has moved to another process",
  ]);
  session.credited(1, 1);
  session.targetEnded();
  session.close();
  expect([frames(), news()]).toEqual([["0 b"], [["b", "credited"]]]);
  session.end(new DeliveryError("stopped", "why"));
  expect(news()).toEqual([]);
});

test("a session expects another schema to be possible until the receiver has answered the binding", () => {
  const { session, news, post, frames } = sending();
  expect([session.isAskingForSchema, session.maySchemaDiffer]).toEqual([false, false]);
  session.slotOf(a);
  post("x");
  expect([session.isAskingForSchema, session.maySchemaDiffer, session.needsProtobuf(0)]).toEqual([true, true, false]);
  let sent = 0;
  session.afterAllSent(() => sent++);
  expect([session.bindingAnswered(1, undefined), sent]).toEqual([false, 0]);
  expect([session.bindingAnswered(0, undefined), sent, session.isAskingForSchema, session.maySchemaDiffer]).toEqual([
    true,
    1,
    false,
    false,
  ]);
  expect([session.bindingAnswered(0, undefined), session.bindingAnswered(0, other)]).toEqual([false, false]);
  expect([frames(), news().length]).toEqual([["0 x"], 2]);
});

test("a receiver with another schema gets the messages that it has dropped again, in the protobuf layout", () => {
  const { session, news, post, frames, pending, calls } = sending();
  session.slotOf(a);
  const [call, given] = [pending("call"), pending("given")];
  post("x");
  post("y", { slot: 1, call });
  session.sendSync(SyncKind.after, 3);
  session.slotOf(b);
  post("z", { slot: 2 });
  post("w", { slot: 0, call: given });
  session.abandon(given, 0);
  expect([frames().length, session.load]).toEqual([5, 4]);
  news();
  expect(session.bindingAnswered(0, other)).toBe(true);
  const flagged = `flags ${FrameFlag.protobuf}`;
  expect(frames()).toEqual([`0 ${flagged} x`, `1 ${flagged} call y`, `sync ${SyncKind.after} 3`, "2 z"]);
  expect(news()).toEqual([
    ["compare", a, other],
    ["bind", 4, 0, Layout.protobuf, "a"],
    ["bind", 4, 2, Layout.lockstep, "b"],
  ]);
  expect([session.load, calls.size, call.credit, session.needsProtobuf(1), session.needsProtobuf(2)]).toEqual([
    3,
    1,
    1,
    true,
    false,
  ]);
  session.bindingAnswered(2, undefined);
  expect([session.isAskingForSchema, session.maySchemaDiffer]).toEqual([false, true]);
  post("v", { protobuf: true });
  expect(frames()).toEqual([`0 ${flagged} v`]);
});

test("calls fail and messages come back, also later ones, if the receiver cannot read the interface", async () => {
  const { session, news, post, frames, pending, held, waiter } = sending({}, new DeliveryError("refused", "no"));
  session.slotOf(a);
  const given = pending("given");
  post("x");
  post("y", { call: pending("call") });
  frames();
  news();
  session.bindingAnswered(0, other);
  expect([news(), frames(), session.load]).toEqual([
    [
      ["compare", a, other],
      ["bind", 4, 0, Layout.none, "a"],
    ],
    [],
    0,
  ]);
  await turn();
  expect(news()).toEqual([
    ["bounced", 0, "no"],
    ["call", "failed", "no"],
  ]);
  session.call(1, texts, "x", pending("later"));
  session.call(1, texts, "x", given);
  session.abandon(given, 0);
  expect(session.cast(1, 0, texts, "x", waiter("cast"))).toBe(true);
  post("p");
  await turn();
  expect(news().filter(([what]) => what !== "cancel")).toEqual([
    ["cast", "credited"],
    ["p", "credited"],
    ["later", "failed", "no"],
    ["bounced", 1, "no"],
    ["bounced", 0, "no"],
  ]);
  expect([frames(), held()]).toEqual([[], 0]);
});

test("only the messages that cannot be translated to the protobuf layout fail or come back", async () => {
  const { session, news, post, frames, pending } = sending({}, undefined, false);
  session.slotOf(a);
  post("x", { slot: 1 });
  post("y", { call: pending("call") });
  post("z", { protobuf: true });
  frames();
  news();
  session.bindingAnswered(0, other);
  await turn();
  expect(frames()).toEqual([`0 flags ${FrameFlag.protobuf} z`]);
  expect(news().slice(2)).toEqual([
    ["bounced", 1, "e1 cannot be said"],
    ["call", "failed", "e0 cannot be said"],
  ]);
});

test("credit in bytes can be used up to the limit, and every returned byte gives new credit", () => {
  const { session, post, frames } = agreed({ creditBytes: 10 });
  post("aaaaa");
  expect(session.hasCredit).toBe(true);
  post("bbbbb");
  expect(session.hasCredit).toBe(false);
  session.credited(1, 1);
  expect(session.hasCredit).toBe(true);
  for (const text of ["c", "d", "e"]) post(text);
  expect([session.hasCredit, frames().at(-1)]).toEqual([false, "0 c"]);
  session.credited(0, 0);
  expect(frames()).toEqual([]);
  session.credited(1, 1);
  expect(frames()).toEqual(["0 d"]);
  session.credited(1, 1);
  expect(frames()).toEqual(["0 e"]);
});

test("an abandoned call without a credit waiter leaves the queue and frees its room in the send window", () => {
  const { session, frames, pending, held, calls } = agreed({ creditMessages: 1, sendWindowBytes: 100 });
  session.call(0, texts, "x", pending("x"));
  const late = pending("late");
  session.call(0, texts, "y", late);
  session.abandon(late, 0);
  expect([frames(), held(), calls.size]).toEqual([["0 call x"], 1, 1]);
  // The queue is empty, so even a message that is larger than the window has room.
  session.checkRoom(1000, "x.y");
});

test("a message in borrowed memory is copied if it waits for credit, or may have to be sent again", () => {
  const borrowed = (text: string, made: ReturnType<typeof sending>) => {
    const message = made.body(text);
    return { ...message, bytes: Buffer.from(message.bytes), keep: () => message };
  };
  const post = (text: string, made: ReturnType<typeof sending>): void => {
    const message = borrowed(text, made);
    made.session.post(0, message, undefined, undefined, undefined);
    message.bytes.fill(0);
  };
  const waiting = agreed({ creditMessages: 1 });
  post("sent", waiting);
  post("queued", waiting);
  expect(waiting.frames()).toEqual(["0 sent"]);
  waiting.session.credited(1, 4);
  expect(waiting.frames()).toEqual(["0 queued"]);

  const asking = sending();
  asking.session.slotOf(a);
  post("kept", asking);
  expect(asking.frames()).toEqual(["0 kept"]);
  asking.session.bindingAnswered(0, other);
  expect(asking.frames()).toEqual([`0 flags ${FrameFlag.protobuf} kept`]);
});

test("encoded messages can be posted without a waiter, and a posted call records its credit", () => {
  const { session, frames, pending, body } = agreed({ creditMessages: 2 });
  session.post(0, body("a"), undefined, undefined, undefined);
  const call = pending("call");
  session.post(0, body("bcd"), undefined, call, undefined);
  session.post(0, body("e"), undefined, undefined, undefined);
  expect([frames(), call.credit]).toEqual([["0 a", "0 call bcd"], 3]);
  session.credited(1, 1);
  expect(frames()).toEqual(["0 e"]);
});

const extension = { rank: 1, extent: 2, timeout: 3, trace: undefined, chain: [] };

test("the extension of a message precedes the arguments, and uses credit", () => {
  const { session, sent, pending, waiter, body } = agreed();
  const call = pending("call");
  session.call(0, texts, "x", call, extension);
  session.cast(0, 0, texts, "x", waiter("x"), extension);
  session.post(0, body("abc"), extension, undefined, undefined);
  const frames = sent();
  expect(frames.map(({ flags }) => flags)).toEqual([FrameFlag.extended, FrameFlag.extended, FrameFlag.extended]);
  for (const { r } of frames) expect(readExtension(r)).toEqual(extension);
  const size = extensionSize(extension) + codec.string.encode("x").length;
  expect(call.credit).toBe(size);
});

test("a label names the endpoint of a bound slot, or else the kind of the target", () => {
  const fresh = sending().session;
  expect(fresh.labelOf(0)).toBe("actor");
  const { session } = agreed();
  expect([0, 1, 2].map((slot) => session.labelOf(slot))).toEqual(["A.e0", "A.e1", "actor"]);
});

test("an answer for an interface that awaits no answer has no effect", () => {
  const { session, news } = sending();
  session.slotOf(a);
  news();
  expect([
    session.bindingAnswered(9, other),
    session.bindingAnswered(9, undefined),
    news(),
    session.isAskingForSchema,
  ]).toEqual([false, false, [], true]);
  session.bindingAnswered(0, undefined);
  session.slotOf(b);
  // The first interface is agreed for good; only the second one is asked for.
  expect([session.needsProtobuf(0), session.needsProtobuf(2), session.isAskingForSchema]).toEqual([false, false, true]);
});

test("messages of an agreed interface are sent while another interface awaits its answer", () => {
  const { session, post, frames } = agreed();
  session.slotOf(b);
  post("x");
  expect(frames()).toEqual(["0 x"]);
});

test("a closed session no longer waits for the schema of its receiver", () => {
  const { session } = sending();
  session.slotOf(a);
  expect(session.isAskingForSchema).toBe(true);
  session.close();
  expect([session.isAskingForSchema, session.ended?.reason]).toEqual([false, "closed"]);
});

test("all calls, casts and exceptions since the binding are sent again to a receiver with another schema", () => {
  const { session, frames, pending, waiter, sent } = sending();
  session.slotOf(a);
  const message = { ...texts, protobuf: texts.codec };
  session.call(0, message, "x", pending("x"));
  session.cast(1, 0, message, "y", waiter("y"));
  session.cast(1, FrameFlag.exception, message, "z", waiter("z"), extension);
  frames();
  session.bindingAnswered(0, other);
  expect(sent().map(({ flags, slot, b: call }) => [flags, slot, call > 0])).toEqual([
    [FrameFlag.protobuf, 0, true],
    [FrameFlag.protobuf, 1, false],
    // Exceptions have only one layout.
    [FrameFlag.exception | FrameFlag.extended, 1, false],
  ]);
  expect(session.isAskingForSchema).toBe(false);
});

test("a message that is sent again has the bytes of its first transmission", () => {
  const { session, sent, body } = sending();
  session.slotOf(a);
  const block = Uint8Array.of(1, 2, 3);
  session.post(0, { ...body("x"), blocks: [block], size: 4 }, undefined, undefined, undefined);
  expect(sent()[0]!.blocks[0]).toBe(block);
  block.fill(9);
  session.bindingAnswered(0, other);
  expect(sent().map(({ blocks }) => blocks.map((bytes) => [...bytes]))).toEqual([[[1, 2, 3]]]);
});

test("a message that is sent again uses credit only once, for its body and its extension", () => {
  const size = extensionSize(extension);
  const { session, body, pending } = sending({ creditBytes: 10 + 2 * size });
  session.slotOf(a);
  const call = pending("call");
  session.post(0, body("xxxxx"), extension, undefined, undefined);
  session.post(0, body("yyyy"), extension, call, undefined);
  session.bindingAnswered(0, other);
  expect([session.hasCredit, session.load, call.credit]).toEqual([true, 2, 4 + size]);
  session.post(0, body("z"), undefined, undefined, undefined);
  expect(session.hasCredit).toBe(false);
});

test("a call that is sent again in a longer translation records the credit of the translation", () => {
  const { session, body, pending } = sending();
  session.slotOf(a);
  const call = pending("call");
  session.post(0, body("x"), undefined, call, undefined);
  session.sender.translate = (_known, _endpoint, { bytes }) => {
    const longer = Buffer.concat([bytes, bytes, bytes]);
    return { bytes: longer, blocks: [], size: longer.length, isProtobuf: true };
  };
  session.bindingAnswered(0, other);
  expect(call.credit).toBe(3);
});

test("a call that has ended before the answer to the binding is not sent again", () => {
  const { session, body, pending, calls, frames } = sending();
  session.slotOf(a);
  const call = pending("call");
  session.post(0, body("x"), undefined, call, undefined);
  frames();
  calls.remove(call);
  session.bindingAnswered(0, other);
  expect(frames()).toEqual([]);
});

test("the error of a message that cannot be translated names the endpoint and has the cause", async () => {
  const { session, post, errors } = sending({}, undefined, false);
  session.slotOf(a);
  session.bindingAnswered(0, undefined);
  session.slotOf(b);
  post("x", { slot: 3 });
  session.bindingAnswered(2, other);
  await turn();
  const [error] = errors;
  expect([error?.reason, error?.message, error?.cause]).toEqual([
    "refused",
    "e1 cannot be said",
    new RangeError("e1 cannot be said"),
  ]);
});

test("messages that wait for credit fail or come back when the receiver cannot read the interface", async () => {
  const { session, news, post, frames, pending, held } = sending(
    { creditMessages: 1 },
    new DeliveryError("refused", "no"),
  );
  session.slotOf(a);
  const call = pending("call");
  post("x", { call });
  post("y");
  post("z", { call: pending("waiting") });
  expect(held()).toBe(3);
  frames();
  news();
  session.bindingAnswered(0, other);
  session.credited(1, 1);
  // The end of the link has already ended this call.
  call.id = 0;
  await turn();
  expect(frames()).toEqual([]);
  expect(news().slice(2)).toEqual([
    ["y", "credited"],
    ["z", "credited"],
    ["bounced", 0, "no"],
    ["waiting", "failed", "no"],
  ]);
  expect(held()).toBe(1);
});

describe("values of a newer schema", () => {
  const refusal = new CodecError("encode", "Color", "why");
  let encoded = 0;
  const refusing = (error: Error): OutboundMessage => ({
    label: "x.y",
    codec: {
      encodeInto: () => {
        encoded++;
        throw error;
      },
    },
    protobuf: texts.codec,
  });

  beforeEach(() => {
    encoded = 0;
    hasRead.messages = true;
    hasRead.unknownFields = true;
  });

  test("use the protobuf layout if the lockstep layout cannot represent them", () => {
    const { session, sent, waiter } = agreed();
    const point = codec.object("Point", { x: codec.int32 }) as Codec<unknown>;
    const message = { label: "x.y", codec: point, protobuf: protobufValue(point) };
    session.cast(0, 0, message, { x: 1 }, waiter("old"));
    session.cast(0, 0, message, { x: 1, [unknownFields]: Uint8Array.of(0xf8, 7, 1) }, waiter("new"));
    session.cast(0, 0, refusing(refusal), "x", waiter("unknown"));
    expect(sent().map(({ flags }) => flags)).toEqual([0, FrameFlag.protobuf, FrameFlag.protobuf]);
  });

  test("are encoded twice if needed, and all other values that a codec refuses fail at once", () => {
    const { session, sent, waiter } = agreed();
    const broken = new Error("broken");
    expect(() => session.cast(0, 0, refusing(broken), "x", waiter("x"))).toThrow(broken);
    expect(encoded).toBe(1);
    hasRead.messages = false;
    expect(() => session.cast(0, 0, refusing(refusal), "x", waiter("x"))).toThrow(refusal);
    expect([encoded, sent()]).toEqual([2, []]);
  });
});

describe("a receiver that moves", () => {
  test("leaves no unhandled messages if all messages are known to be handled", () => {
    const { session, frames, pending, calls, link, post } = agreed();
    post("a");
    session.credited(1, 1);
    const [given, another] = [pending("given"), pending("another")];
    post("b", { call: given });
    session.credited(1, 1);
    session.abandon(given, 0);
    // This call was sent by another session of the same link.
    calls.add(another, sending().session);
    frames();
    expect([session.retire(), session.unhandled, link.hasUnhandled, frames()]).toEqual([
      undefined,
      undefined,
      undefined,
      [],
    ]);
    expect(session.ended?.reason).toBe("closed");
    expect(session.retire()).toBe(undefined);
  });

  test.each<[string, (made: ReturnType<typeof agreed>) => void]>([
    ["a message that was not consumed", ({ post }) => post("a")],
    [
      "a call that was not answered",
      ({ post, pending, session }) => {
        post("a", { call: pending("call") });
        session.credited(1, 1);
      },
    ],
    ["an interface whose binding was not answered", ({ session }) => void session.slotOf(b)],
    [
      "casts that were sent over trees",
      ({ session }) => {
        session.castOrder = { beforeMessage: () => session.sendSync(SyncKind.after, 5), sessionEnded() {} };
      },
    ],
  ])("is asked whether it has handled %s", (_, leave) => {
    const made = agreed();
    leave(made);
    const { session, frames, link } = made;
    const leaving = session.retire();
    expect([leaving instanceof UnhandledMessages, leaving === session.unhandled, link.hasUnhandled]).toEqual([
      true,
      true,
      true,
    ]);
    expect([leaving?.isHandled, leaving?.sender]).toEqual([false, session.sender]);
    const all = frames();
    expect(all.at(-1)).toBe(`sync ${SyncKind.reached} 0`);
    if (session.castOrder !== undefined)
      expect(all).toEqual([`sync ${SyncKind.after} 5`, `sync ${SyncKind.reached} 0`]);
    session.end(new DeliveryError("closed", "the end"));
    expect(leaving?.isHandled).toBe(true);
  });

  test("confirms in the order of the questions, of which the last one is about the move", () => {
    const { session, post, frames } = agreed();
    const confirmed: string[] = [];
    post("a");
    session.afterHandling(() => confirmed.push("a"));
    post("b");
    session.afterHandling(() => confirmed.push("b"));
    expect(frames()).toEqual(["0 a", `sync ${SyncKind.reached} 0`, "0 b", `sync ${SyncKind.reached} 0`]);
    const leaving = session.retire()!;
    leaving.afterHandling(() => confirmed.push("move"));
    expect(frames()).toEqual([`sync ${SyncKind.reached} 0`]);
    session.reached();
    expect(confirmed).toEqual(["a"]);
    session.reached();
    session.reached();
    expect(confirmed).toEqual(["a", "b", "move"]);
    // A receiver that confirms what was not asked for does no harm.
    session.reached();
    session.afterHandling(() => confirmed.push("end"));
    session.end(new DeliveryError("closed", "the end"));
    session.afterHandling(() => confirmed.push("after the end"));
    expect(confirmed).toEqual(["a", "b", "move", "end", "after the end"]);
  });

  test("is finished when all calls of its session are answered, without waiting for other sessions", () => {
    const { session, post, pending, calls, frames } = agreed();
    const [own, another] = [pending("own"), pending("another")];
    post("a", { call: own });
    calls.add(another, sending().session);
    frames();
    const leaving = session.retire();
    let left = 0;
    leaving?.afterAnswers(() => left++);
    leaving?.markHandled();
    expect(left).toBe(0);
    leaving?.callEnded(own);
    expect(left).toBe(1);
  });
});

describe("a session to the new place of a moved receiver", () => {
  const unhandled = () => new UnhandledMessages(sending().session.sender, []);

  test("queues messages in order until all messages of the former session have been handled", () => {
    const { session, post, frames, news, waiter } = agreed();
    const leaving = unhandled();
    session.waitForFormer(leaving);
    expect(session.hasCredit).toBe(false);
    post("a");
    session.sendSync(SyncKind.mark, 7);
    expect(session.cast(0, 0, texts, "b", waiter("b"))).toBe(false);
    session.credited(1, 1);
    expect([frames(), news()]).toEqual([[], []]);
    leaving.markHandled();
    expect(frames()).toEqual(["0 a", `sync ${SyncKind.mark} 7`, "0 b"]);
    expect([news(), session.hasCredit]).toEqual([
      [
        ["a", "credited"],
        ["b", "credited"],
      ],
      true,
    ]);
    post("c");
    expect(frames()).toEqual(["0 c"]);
  });

  test("waits for the messages of all former sessions", () => {
    const { session, post, frames } = agreed();
    const [one, two] = [unhandled(), unhandled()];
    session.waitForFormer(one);
    session.waitForFormer(two);
    post("a");
    one.markHandled();
    expect(frames()).toEqual([]);
    two.markHandled();
    expect(frames()).toEqual(["0 a"]);
  });

  test("also holds back messages that already wait for credit", () => {
    const { session, post, frames, held } = agreed({ creditMessages: 1 });
    post("a");
    post("b");
    frames();
    const leaving = unhandled();
    session.waitForFormer(leaving);
    expect(session.load).toBe(2);
    session.credited(1, 1);
    expect(frames()).toEqual([]);
    leaving.markHandled();
    expect([frames(), held()]).toEqual([["0 b"], 0]);
  });

  test("does not wait for handled messages, and returns its queue if it ends while it waits", () => {
    const { session, post, frames, news } = agreed();
    const [done, leaving] = [unhandled(), unhandled()];
    done.markHandled();
    session.waitForFormer(done);
    post("a");
    expect(frames()).toEqual(["0 a"]);
    session.waitForFormer(leaving);
    post("b");
    news();
    session.end(new DeliveryError("closed", "the end"));
    expect(news()).toEqual([["b", "credited"], ["bounced", 0, "the end"], ["session ended"]]);
    leaving.markHandled();
    expect(frames()).toEqual([]);
  });
});
