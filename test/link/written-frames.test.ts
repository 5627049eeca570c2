/** Tests of the frames that a link writes, and of its lanes, calls and end. */
import { beforeEach, describe, expect, test } from "vitest";
import { DeliveryError, MessageSizeError } from "../../runtime/link/errors.js";
import { Layout } from "../../runtime/link/frame/binding.js";
import { readText, readU32, readU64 } from "../../runtime/link/frame/control-body.js";
import { FrameFlag, FrameKind, HEADER_BYTES, HELLO_MAGIC, PROTOCOL_VERSION } from "../../runtime/link/frame/frame.js";
import { Link } from "../../runtime/link/link.js";
import type { PendingCall } from "../../runtime/link/outbound/pending-calls.js";
import type { Session, SessionTarget } from "../../runtime/link/outbound/session.js";
import type { Codec } from "../../runtime/wire/codec.js";
import { CodecError } from "../../runtime/wire/codec-error.js";
import { codec } from "../../runtime/wire/composed/index.js";
import { hasRead } from "../../runtime/wire/protobuf/has-read.js";
import { unknownFields } from "../../runtime/wire/protobuf/unknown-fields.js";
import { protobufValue } from "../../runtime/wire/protobuf-messages.js";
import { Reader } from "../../runtime/wire/reader.js";
import { headerOf, recordedLink } from "../cast/recorded-link.js";
import { FakeHost, FakeSender, linked, settled } from "./fake-host.js";
import { pipePair } from "./pipe-pair.js";

/** Creates a link whose frames are recorded instead of sent. */
function linkOf(limits = {}) {
  const host = new FakeHost(10n, limits);
  let held = 0;
  Object.assign(host, { keepAlive: { hold: () => held++, release: () => held-- } });
  const link = new Link(host, 11n);
  const { link: recorded, sent } = recordedLink();
  const orderedLanes = new Set<number>();
  const outbox = { ...recorded.outbox, orderedLanes, beginValue: () => {}, endValue: () => {}, end: () => {} };
  Object.assign(link, { outbox });
  return { link, host, sent, ordered: orderedLanes, held: () => held };
}

function readerOf(bytes: Uint8Array): Reader {
  const r = new Reader();
  r.reset(bytes, new DataView(bytes.buffer), 0, bytes.length, undefined);
  return r;
}

/** Returns the error text of the lockstep layout for a value that it refuses. */
function lockstepRefusal(of: Codec<unknown>, value: unknown): string {
  try {
    of.encode(value);
  } catch (error) {
    return (error as Error).message;
  }
  return expect.fail("it takes the value");
}

const target = (more: Partial<SessionTarget> = {}): SessionTarget => ({
  kind: "actor",
  proc: 11n,
  number: 5n,
  rank: 6,
  owner: 7n,
  fingerprint: 8n,
  ...more,
});

function helloOf(link: Link) {
  const bytes = link.outbox.writer.copy(0);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const r = new Reader();
  r.reset(bytes, view, HEADER_BYTES, view.getUint32(0, true));
  const header = [view.getUint32(4, true), view.getUint32(8, true), view.getUint32(12, true)];
  const body = [readU32(r), readU32(r), readU64(r), readU64(r), readU32(r), readU32(r), r.end - r.position];
  return [header, body];
}

test("a link begins with a `hello` frame that has the id of the proc and the numbers of dialled links", () => {
  const waiting = new Link(new FakeHost(10n), undefined);
  const header = [FrameKind.hello, PROTOCOL_VERSION, 0];
  expect([waiting.isDialler, waiting.dialNumber, waiting.peer]).toEqual([false, 0, undefined]);
  expect(helloOf(waiting)).toEqual([header, [HELLO_MAGIC, 0, 1n, 10n, 0, 0, 0]]);
  const dialling = new Link(new FakeHost(10n), 11n, { number: 3, over: 2 });
  expect([dialling.isDialler, dialling.dialNumber, dialling.peer]).toEqual([true, 3, 11n]);
  expect(helloOf(dialling)).toEqual([header, [HELLO_MAGIC, 0, 1n, 10n, 3, 2, 0]]);
});

test("a new session takes a free lane and sends its sender, its target and the credit limits", () => {
  const { link, sent, ordered } = linkOf({ creditMessages: 1, creditBytes: 2, streamItems: 3, streamBytes: 4 });
  const sender = new FakeSender();
  const session = link.openSession(sender, target(), "key");
  expect([session.lane, session.key, session.target, link.sessions[1]]).toEqual([1, "key", target(), session]);
  const [open] = sent();
  expect(headerOf(open!)).toEqual([FrameKind.open, 0, 0, 1, 0]);
  const { r } = open!;
  expect([readU64(r), readU64(r), readU32(r), readU32(r)]).toEqual([10n, 2n, 0, 0]);
  expect([readU32(r), readU32(r), readU32(r), readU32(r)]).toEqual([1, 2, 3, 4]);
  expect([readU64(r), readU64(r), readU64(r), readU32(r), readU32(r)]).toEqual([5n, 7n, 8n, 6, 0]);
  expect([readText(r), r.end - r.position]).toEqual(["sender", 0]);
  link.openSession(sender, target({ kind: "port" }), "key");
  const port = sent()[0]!.r;
  port.take(16 + 8 + 16 + 24 + 4);
  expect([readU32(port), [...ordered]]).toEqual([1, []]);
});

test("only the lanes to the agent of a proc keep the order behind all earlier frames", () => {
  const { link, ordered } = linkOf();
  link.openSession(new FakeSender(), target({ number: 0n }), 1);
  link.openSession(new FakeSender(), target({ number: 0n, kind: "port" }), 2);
  expect([...ordered]).toEqual([1]);
  link.freeLane(1);
  link.openSession(new FakeSender(), target(), 3);
  expect([...ordered]).toEqual([]);
});

test("the number of a closed lane is used again, once, after the peer has confirmed the close", () => {
  const { link, sent } = linkOf();
  const [first, second] = [
    link.openSession(new FakeSender(), target(), 1),
    link.openSession(new FakeSender(), target(), 2),
  ];
  sent();
  link.closeSession(first);
  expect(sent().map(headerOf)).toEqual([[FrameKind.close, 0, 0, 1, 0]]);
  link.freeLane(1);
  link.freeLane(1);
  link.freeLane(9);
  link.closeSession(first);
  expect([sent(), link.sessions[1]]).toEqual([[], undefined]);
  const next = [3, 4].map((key) => link.openSession(new FakeSender(), target(), key).lane);
  expect([next, second.lane]).toEqual([[1, 3], 2]);
});

test("an extent is sent once, and keeps its number", () => {
  const { link, sent } = linkOf();
  const numbers = [{ gpus: 4 }, { hosts: 2, gpus: 4 }, { gpus: 4 }, { gpus: 5 }].map((extent) =>
    link.numberOfExtent(extent),
  );
  expect(numbers).toEqual([1, 2, 1, 3]);
  const frames = sent();
  expect(frames.map(headerOf)).toEqual([1, 2, 3].map((number) => [FrameKind.extent, 0, 0, number, 0]));
  const { r } = frames[1]!;
  expect([readU32(r), readText(r), readU32(r), readText(r), readU32(r)]).toEqual([2, "hosts", 2, "gpus", 4]);
});

test("a `bind` frame lists the endpoints only in the protobuf layout, and `bound` describes another schema", () => {
  const { link, sent } = linkOf();
  const known = { firstSlot: 3, key: "a#B", fingerprint: 9n, endpoints: [{ id: 4, name: "e" }] };
  link.sendBind(5, { ...known, layout: Layout.lockstep });
  link.sendBind(5, { ...known, layout: Layout.protobuf });
  link.sendBound(5, 3, undefined);
  link.sendBound(5, 3, { fingerprint: 8n, description: "{}" });
  const [plain, named, same, other] = sent();
  expect(headerOf(plain!)).toEqual([FrameKind.bind, 0, 3, 5, Layout.lockstep]);
  expect([readU64(plain!.r), readText(plain!.r), plain!.r.end - plain!.r.position]).toEqual([9n, "a#B", 0]);
  expect(headerOf(named!)).toEqual([FrameKind.bind, 0, 3, 5, Layout.protobuf]);
  const { r } = named!;
  expect([readU64(r), readText(r), readU32(r), readU32(r), readText(r)]).toEqual([9n, "a#B", 1, 4, "e"]);
  expect([headerOf(same!), same!.r.end - same!.r.position]).toEqual([[FrameKind.bound, 0, 3, 5, 0], 0]);
  expect(headerOf(other!)).toEqual([FrameKind.bound, 0, 3, 5, 1]);
  expect([readU64(other!.r), readText(other!.r)]).toEqual([8n, "{}"]);
});

test("an answer is a value, nothing, an error or an end, and its flag tells if the credit was already returned", () => {
  const { link, sent } = linkOf({ maxFrame: 1000 });
  expect(link.sendReply(FrameKind.reply, 7, false, undefined, "ignored")).toBe(0);
  const size = link.sendReply(FrameKind.item, 7, true, codec.string, "x");
  link.sendError(7, false, (w) => void w.reserve(3));
  link.sendError(7, true, () => {});
  link.sendEnd(7);
  const frames = sent();
  expect(frames.map(headerOf)).toEqual([
    [FrameKind.reply, 0, 0, 7, 0],
    [FrameKind.item, FrameFlag.credited, 0, 7, 0],
    [FrameKind.error, 0, 0, 7, 0],
    [FrameKind.error, FrameFlag.credited, 0, 7, 0],
    [FrameKind.end, FrameFlag.credited, 0, 7, 0],
  ]);
  expect(codec.string.decodeFrom(frames[1]!.r)).toBe("x");
  expect(size).toBe(codec.string.encode("x").length);
  const blocks = link.sendReply(FrameKind.reply, 7, false, codec.bytes, new Uint8Array(900));
  expect(blocks).toBeGreaterThanOrEqual(900);
  sent();
});

test("the size of an answer includes its blocks, and excludes frames that were written before", () => {
  const { link } = linked();
  const small = codec.string.encode("x").length;
  expect([1, 2, 3].map((id) => link.sendReply(FrameKind.reply, id, false, codec.string, "x"))).toEqual([
    small,
    small,
    small,
  ]);
  const bytes = new Uint8Array(100_000);
  const { link: recorded, sent } = linkOf();
  const size = recorded.sendReply(FrameKind.reply, 7, false, codec.bytes, bytes);
  const [frame] = sent();
  expect([frame!.blocks.length, size]).toEqual([1, bytes.length + frame!.r.end - frame!.r.position]);
});

describe("answers of a newer schema", () => {
  const point = codec.object("Point", { x: codec.int32 });
  const color = codec.enumeration("Color", ["red"]) as Codec<unknown>;

  beforeEach(() => {
    hasRead.messages = true;
    hasRead.unknownFields = true;
  });

  test("use the protobuf layout if the lockstep layout cannot represent them", () => {
    const { link, sent } = linkOf();
    link.sendReply(FrameKind.reply, 7, true, point, { x: 1 });
    link.sendReply(FrameKind.reply, 7, true, point, { x: 1, [unknownFields]: Uint8Array.of(0xf8, 7, 1) });
    // The enum value is unknown to this process, and has the form in which it was read.
    const unknown = protobufValue(color).decodeFrom(readerOf(Uint8Array.of(8, 5)));
    link.sendReply(FrameKind.item, 7, false, color, unknown);
    expect(sent().map(headerOf)).toEqual([
      [FrameKind.reply, FrameFlag.credited, 0, 7, 0],
      [FrameKind.reply, FrameFlag.credited | FrameFlag.protobuf, 0, 7, 0],
      [FrameKind.item, FrameFlag.protobuf, 0, 7, 0],
    ]);
  });

  test("that no layout can represent fail with the error of the lockstep layout, and other errors pass through", () => {
    const { link, sent } = linkOf();
    const refusal = new CodecError("encode", "Color", "why");
    let encoded = 0;
    const refusing = (error: Error, more = {}) =>
      ({
        ...more,
        encodeInto: () => {
          encoded++;
          throw error;
        },
      }) as never;
    expect(() => link.sendReply(FrameKind.reply, 7, false, color, "no color")).toThrow(
      expect.objectContaining({ name: "CodecError", message: lockstepRefusal(color, "no color") }),
    );
    // A codec that does not encode whole values has no other layout.
    expect(() => link.sendReply(FrameKind.reply, 7, false, refusing(refusal), 1)).toThrow(refusal);
    const broken = new Error("broken");
    expect(() => link.sendReply(FrameKind.reply, 7, false, refusing(broken, { protoForm: 1 }), 1)).toThrow(broken);
    // Until values of a newer schema have been read, no value is treated as one.
    const unknown = protobufValue(color).decodeFrom(readerOf(Uint8Array.of(8, 5)));
    hasRead.messages = false;
    expect(() => link.sendReply(FrameKind.reply, 7, false, color, unknown)).toThrow(CodecError);
    expect([encoded, sent()]).toEqual([2, []]);
  });
});

test("an answer that cannot be encoded or is too large leaves no bytes in the outbox", () => {
  const { link, sent } = linkOf({ maxFrame: 1000 });
  expect(() => link.sendReply(FrameKind.reply, 7, false, codec.string, 5)).toThrow();
  expect(() => link.sendReply(FrameKind.reply, 7, false, codec.string, "x".repeat(1000))).toThrow(
    new MessageSizeError(
      `cannot send the answer: its message has ${codec.string.encode("x".repeat(1000)).length} bytes, more than the limit ` +
        "of 1000 for a frame; send it in parts",
    ),
  );
  const broken = new Error("broken");
  const fail = () =>
    link.sendError(7, false, () => {
      throw broken;
    });
  expect(fail).toThrow(broken);
  expect([sent(), link.outbox.writer.position]).toEqual([[], 0]);
});

test("control frames have the expected headers and bodies", () => {
  const { link, sent } = linkOf();
  link.sendStreamCredit(7, 3, 40);
  link.sendCancel(5, 7, 2);
  link.sendGone(5, "stopped", "it has stopped");
  link.sendBounce(5, 9, new DeliveryError("refused", "no"));
  link.sendClosed(5);
  link.sendAsk(6, 20n);
  link.sendTell(6, true);
  link.sendTell(6, false);
  link.sendHold(true, 1n, "holder", 2n);
  link.sendHold(false, 1n, "holder", 2n);
  link.sendRelay({ to: 1n, from: 2n, channel: 3, op: 4, bytes: Uint8Array.of(5, 6) });
  const frames = sent();
  expect(frames.map(headerOf)).toEqual([
    [FrameKind.streamCredit, 0, 0, 7, 3],
    [FrameKind.cancel, 0, 2, 5, 7],
    [FrameKind.gone, 0, 0, 5, 3],
    [FrameKind.bounce, 0, 9, 5, 5],
    [FrameKind.closed, 0, 0, 5, 0],
    [FrameKind.ask, 0, 0, 6, 0],
    [FrameKind.tell, 0, 0, 6, 1],
    [FrameKind.tell, 0, 0, 6, 0],
    [FrameKind.hold, 0, 0, 0, 0],
    [FrameKind.release, 0, 0, 0, 0],
    [FrameKind.relay, 0, 0, 3, 4],
  ]);
  const [credit, , gone, bounce, , ask, , , hold, release, relay] = frames.map(({ r }) => r);
  expect([readU32(credit!), readText(gone!), readText(bounce!), readU64(ask!)]).toEqual([
    40,
    "it has stopped",
    "no",
    20n,
  ]);
  for (const r of [hold!, release!]) expect([readU64(r), readU64(r), readText(r)]).toEqual([1n, 2n, "holder"]);
  expect([readU64(relay!), readU64(relay!), [...relay!.bytes.subarray(relay!.position)]]).toEqual([1n, 2n, [5, 6]]);
});

const call = (told: string[] = []): PendingCall => ({
  id: 0,
  session: undefined,
  credit: 0,
  isAbandoned: false,
  answered() {},
  failed: ({ message }) => void told.push(message),
  item() {},
  ended() {},
});

test("a call keeps the process alive until the call ends or is abandoned", () => {
  const { link, held } = linkOf();
  const session = link.openSession(new FakeSender(), target(), 1);
  const [one, given] = [call(), call()];
  for (const pending of [one, given]) {
    link.calls.add(pending, session);
    link.holdProcess();
  }
  link.abandonCall(given);
  link.abandonCall(given);
  expect([held(), given.isAbandoned, link.calls.size]).toEqual([1, true, 2]);
  link.endCall(given);
  link.endCall(one);
  expect([held(), link.calls.size]).toEqual([0, 0]);
  link.holdProcess();
  link.releaseProcess();
  expect(held()).toBe(0);
});

test("the end of an abandoned call does not release the process a second time", () => {
  const { link, held } = linkOf();
  const session = link.openSession(new FakeSender(), target(), 1);
  const all = [call(), call(), call()];
  for (const pending of all) {
    link.calls.add(pending, session);
    link.holdProcess();
  }
  link.abandonCall(all[0]!);
  link.abandonCall(all[1]!);
  expect(held()).toBe(1);
  link.endCall(all[0]!);
  link.endCall(all[1]!);
  expect(held()).toBe(1);
  link.endCall(all[2]!);
  expect(held()).toBe(0);
});

test("a moved receiver is finished when each of its calls has been answered or abandoned", () => {
  const { link } = linkOf();
  const [moved, stays] = [1, 2].map((key) => link.openSession(new FakeSender(), target(), key)) as [Session, Session];
  const [answered, given, other, alone] = [call(), call(), call(), call()];
  for (const [pending, session] of [
    [answered, moved],
    [given, moved],
    [other, stays],
    [alone, stays],
  ] as const) {
    link.calls.add(pending, session);
    link.holdProcess();
  }
  alone.session = undefined;
  const leaving = moved.retire();
  expect(link.hasUnhandled).toBe(true);
  let over = 0;
  leaving?.afterAnswers(() => over++);
  leaving?.markHandled();
  for (const pending of [other, alone]) {
    link.abandonCall(pending);
    link.endCall(pending);
  }
  link.endCall(answered);
  expect(over).toBe(0);
  link.abandonCall(given);
  expect(over).toBe(1);
});

test("`whenAllSent` resolves when all sessions of the link have sent everything", async () => {
  const { link } = linkOf();
  const sessions = [1, 2, 3].map((key) => link.openSession(new FakeSender(), target(), key)) as Session[];
  link.freeLane(sessions[1]!.lane);
  await link.whenAllSent();
  for (const session of sessions) session.slotOf({ key: "a", name: "A", fingerprint: 1n, endpoints: [] });
  let sent = false;
  const all = link.whenAllSent().then(() => {
    sent = true;
  });
  sessions[0]!.bindingAnswered(0, undefined);
  await settled(1);
  expect(sent).toBe(false);
  sessions[2]!.bindingAnswered(0, undefined);
  await all;
});

test("sessions that end with their link send no frames", () => {
  const { link, sent } = linkOf();
  const sender = new FakeSender();
  const [, other] = [1, 2].map((key) => link.openSession(sender, target(), key));
  sender.sessionEnded = () => other!.close();
  sent();
  link.end(new DeliveryError("closed", "x"));
  expect(sent()).toEqual([]);
});

test("the end of a link fails its calls and ends its sessions and lanes, once", () => {
  const { link, held } = linkOf();
  const session = link.openSession(new FakeSender(), target(), 1);
  const told: string[] = [];
  const [one, given] = [call(told), call(told)];
  for (const pending of [one, given]) {
    link.calls.add(pending, session);
    link.holdProcess();
  }
  link.abandonCall(given);
  const lane = { isOpen: true, destination: { laneClosed: () => told.push("lane closed") } };
  link.lanes.push(undefined, lane as never);
  link.streams.set(1, {} as never);
  const error = new DeliveryError("peer-down", "gone");
  link.end(error);
  link.end(new DeliveryError("closed", "again"));
  expect([link.ended, session.ended, told, held(), lane.isOpen]).toEqual([
    error,
    error,
    ["gone", "lane closed"],
    0,
    false,
  ]);
  expect([link.sessions.length, link.lanes.length, link.streams.size, link.calls.size]).toEqual([1, 1, 0, 0]);
  link.closeSession(session);
});

test("the peer knows extents by the numbers that the link has sent", async () => {
  const { link, other } = linked();
  link.numberOfExtent({ gpus: 4 });
  link.numberOfExtent({ hosts: 2, gpus: 4 });
  await settled();
  expect(other.extents).toEqual([{}, { gpus: 4 }, { hosts: 2, gpus: 4 }]);
});

test("a link that has ended sends nothing, even if its pipe is still open", async () => {
  const { link, far } = linked();
  await settled();
  link.end(new DeliveryError("peer-down", "gone"));
  link.sendTell(1, true);
  await settled();
  expect(far.answers).toEqual([]);
  // A link that never had a pipe can be destroyed as well.
  new Link(new FakeHost(10n), 11n).destroy(new Error("x"));
});

test("an unreachable link reports its end to the host, and closes a pipe that is attached later", async () => {
  const host = new FakeHost(10n);
  const link = new Link(host, 11n);
  link.failUnreachable(new DeliveryError("peer-down", "no way"));
  expect([host.ends.map((error) => error?.message), link.ended?.message]).toEqual([["no way"], "no way"]);
  const [near, far] = pipePair();
  let ended = 0;
  far.open({ buffer: () => new Uint8Array(64), received: () => expect.fail("bytes"), closed: () => ended++ });
  link.attach(near);
  await settled();
  expect(ended).toBe(1);
});

test("a closed link sends one `bye` as its last frame, and no `bye` if the link had already ended", async () => {
  const host = new FakeHost(10n);
  const link = new Link(host, 11n);
  expect(link.isClosing).toBe(false);
  link.close("done");
  link.close("done");
  expect(link.isClosing).toBe(true);
  const [near, far] = pipePair();
  const heard: number[] = [];
  const memory = new Uint8Array(4096);
  let bytes = Buffer.alloc(0);
  far.open({
    buffer: () => memory,
    received: (n) => {
      bytes = Buffer.concat([bytes, memory.subarray(0, n)]);
    },
    closed: () => {
      for (let at = 0; at < bytes.length; at += (bytes.readUInt32LE(at) + 7) & ~7)
        heard.push(bytes.readUInt32LE(at + 4));
    },
  });
  link.end(new DeliveryError("closed", "done"));
  link.attach(near);
  await settled();
  expect(heard).toEqual([FrameKind.hello, FrameKind.bye]);
  const over = linkOf();
  over.link.end(new DeliveryError("closed", "x"));
  over.link.close("late");
  expect([over.link.isClosing, over.sent()]).toEqual([false, []]);
});
