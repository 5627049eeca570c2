/** Tests of the effect of each kind of frame on the receiving half of a link, with a recorded link and host. */
import { expect, test } from "vitest";
import { DeliveryError } from "../../../runtime/link/errors.js";
import { Layout } from "../../../runtime/link/frame/binding.js";
import { writeText, writeU32, writeU64 } from "../../../runtime/link/frame/control-body.js";
import {
  beginFrame,
  endFrame,
  FrameFlag,
  FrameKind,
  HELLO_MAGIC,
  PROTOCOL_VERSION,
  ProtocolError,
} from "../../../runtime/link/frame/frame.js";
import type { Lane } from "../../../runtime/link/inbound/lane.js";
import type { LaneRequest } from "../../../runtime/link/inbound/lane-request.js";
import { LinkReceiver } from "../../../runtime/link/inbound/link-receiver.js";
import type { Link } from "../../../runtime/link/link.js";
import type { PendingCall } from "../../../runtime/link/outbound/pending-calls.js";
import { PendingCalls } from "../../../runtime/link/outbound/pending-calls.js";
import type { Reader } from "../../../runtime/wire/reader.js";
import { Writer } from "../../../runtime/wire/writer.js";

const bodyOf = (r: Reader) => [...r.bytes.subarray(r.position, r.end)];

/** Creates a receiver whose link and host record their calls. */
function receiving({
  introduced: isIntroduced = true,
  dialled: isDialler = false,
  peer = undefined as bigint | undefined,
} = {}) {
  const told: unknown[][] = [];
  const note =
    (name: string) =>
    (...what: unknown[]): number =>
      told.push([name, ...what]);
  const destination = {
    bind: (_: Lane, binding: object) => note("bind")(binding),
    message: (_: Lane, slot: number, call: number, flags: number, r: Reader, size: number) =>
      note("message")(
        slot,
        call,
        flags,
        bodyOf(r),
        r.blocks?.map((block) => [...block]),
        size,
      ),
    cancel: (_: Lane, call: number, reason: number) => note("cancel")(call, reason),
    laneClosed: (lane: Lane) => note("lane closed")(lane.isOpen),
  };
  const calls = new PendingCalls();
  const host = {
    universe: 1n,
    id: 10n,
    linkOpened: (_: Link, over: number) => note("opened")(over),
    linkClosed: (_: Link, error: Error | undefined) => note("ended")(error?.message),
    laneOpened: (_: Link, request: LaneRequest) => {
      told.push(["lane", request]);
      return destination;
    },
    readError: (r: Reader) => {
      const [reason] = bodyOf(r);
      return reason === 0
        ? new Error("thrown")
        : new DeliveryError(reason === 1 ? "stopped" : "refused", "not delivered");
    },
    meshQueried: (_: Link, question: number, mesh: bigint) => note("asked")(question, mesh),
    meshQueryAnswered: (_: Link, question: number, exists: boolean) => note("told")(question, exists),
    portHolderChanged: (_: Link, ...what: unknown[]) => note("port")(...what),
    laneSynced: (_: Lane, ...what: unknown[]) => note("synced")(...what),
    treeFrameReceived: (_: Link, frame: object, r: Reader) => note("tree")(frame, bodyOf(r)),
    relayFrameReceived: (_: Link, frame: { bytes: Uint8Array }) =>
      note("relayed")({ ...frame, bytes: [...frame.bytes] }),
  };
  const state = {
    host,
    limits: { maxFrame: 1 << 20 },
    isIntroduced,
    isDialler,
    peer,
    dialNumber: 0,
    calls,
    fault: undefined as Error | undefined,
    lanes: [undefined] as unknown[],
    sessions: [undefined] as unknown[],
    extents: [{}],
    streams: new Map<number, unknown>(),
    endCall: (call: PendingCall) => {
      note("end of call")(call.id);
      calls.remove(call);
    },
    freeLane: note("forgotten"),
    closeSession: (session: { lane: number }) => note("close session")(session.lane),
    sendClosed: note("send closed"),
    destroy: (error: Error) => note("destroy")(error.message),
  };
  const receiver = new LinkReceiver(state as unknown as Link);
  const framed = (
    kind: number,
    a = 0,
    b = 0,
    body: (w: Writer) => void = () => {},
    more: { slot?: number; flags?: number } = {},
  ): Uint8Array => {
    const w = new Writer(256);
    const { slot = 0, flags = 0 } = more;
    const at = beginFrame(w, kind | (flags << 8) | (slot << 16), a, b);
    body(w);
    endFrame(w, at);
    return w.copy(0);
  };
  const frame = (...parts: Parameters<typeof framed>) => feed(framed(...parts));
  const feed = (bytes: Uint8Array): void => {
    for (let at = 0; at < bytes.length; ) {
      const into = receiver.buffer();
      const size = Math.min(into.length, bytes.length - at);
      into.set(bytes.subarray(at, at + size));
      receiver.received(size);
      at += size;
    }
  };
  /** A pending call of a session on lane 1. */
  const pending = (isAbandoned = false): PendingCall => {
    const session = {
      lane: 1,
      credited: note("credited"),
      targetEnded: note("target ended"),
    };
    const call: PendingCall = {
      id: 0,
      session: undefined,
      credit: 30,
      isAbandoned,
      answered: (r) => void note("answered")(bodyOf(r), r.protobuf),
      failed: (error) => void note("failed")(error.message),
      item: (r, size) => void note("item")(bodyOf(r), r.protobuf, size),
      ended: () => void note("ended stream")(),
    };
    calls.add(call, session as never);
    return call;
  };
  const news = (): unknown[][] => told.splice(0);
  return { frame, framed, feed, receiver, state, pending, news, note };
}

const hello =
  ({ magic = HELLO_MAGIC, universe = 1n, proc = 66n, more = [] as readonly number[] } = {}) =>
  (w: Writer): void => {
    writeU32(w, magic);
    writeU32(w, 0);
    writeU64(w, universe);
    writeU64(w, proc);
    for (const word of more) writeU32(w, word);
  };

const open =
  (kind = 0, extra = 0) =>
  (w: Writer): void => {
    for (const id of [66n, 2n]) writeU64(w, id);
    for (const word of [3, 4, 100, 200, 300, 400]) writeU32(w, word);
    for (const id of [5n, 6n, 7n]) writeU64(w, id);
    for (const word of [8, kind]) writeU32(w, word);
    writeText(w, "sender");
    for (let i = 0; i < extra; i++) writeU32(w, 0);
  };

const bytes =
  (...all: readonly number[]) =>
  (w: Writer): void => {
    const at = w.reserve(all.length);
    w.bytes.set(all, at);
  };

/** A receiver with lane 1 open. */
function withLane() {
  const made = receiving();
  made.frame(FrameKind.open, 1, 0, open());
  made.news();
  return made;
}

test("a peer introduces itself with its id and the number of the link", () => {
  const { frame, state, news } = receiving({ introduced: false });
  frame(FrameKind.hello, PROTOCOL_VERSION, 0, hello({ more: [4, 3] }));
  expect([state.peer, state.isIntroduced, state.dialNumber, news()]).toEqual([66n, true, 4, [["opened", 3]]]);
  const old = receiving({ introduced: false, peer: 66n });
  old.frame(FrameKind.hello, PROTOCOL_VERSION, 0, hello());
  expect([old.state.dialNumber, old.news()]).toEqual([0, [["opened", 0]]]);
  const dialler = receiving({ introduced: false, dialled: true });
  dialler.frame(FrameKind.hello, PROTOCOL_VERSION, 0, hello({ more: [4, 3] }));
  expect([dialler.state.dialNumber, dialler.news()]).toEqual([0, [["opened", 0]]]);
});

test.each<readonly [string, (made: ReturnType<typeof receiving>) => void]>([
  ["cannot read frame: kind 6 before hello", ({ frame }) => frame(FrameKind.message)],
  ["cannot read frame: kind 22 before hello", ({ frame }) => frame(FrameKind.block)],
  [
    "cannot read hello: the peer does not speak this protocol",
    ({ frame }) => frame(FrameKind.hello, 1, 0, hello({ magic: 1 })),
  ],
  [
    "cannot connect: the peer speaks version 2 of the protocol, this process 1; install the same version of viceroy on both sides",
    ({ frame }) => frame(FrameKind.hello, 2, 0, hello()),
  ],
  [
    "cannot connect: the peer is of another universe",
    ({ frame }) => frame(FrameKind.hello, 1, 0, hello({ universe: 2n })),
  ],
  [
    "cannot connect: the peer is another process than expected",
    ({ frame }) => frame(FrameKind.hello, 1, 0, hello({ proc: 67n })),
  ],
  ["cannot read hello: the message ends too early", ({ frame }) => frame(FrameKind.hello, 1)],
  [
    "cannot read hello: the message ends too early",
    ({ frame }) => frame(FrameKind.hello, 1, 0, (w) => writeU32(w, HELLO_MAGIC)),
  ],
  ["cannot read hello: the message ends too early", ({ frame }) => frame(FrameKind.hello, 1, 0, hello({ more: [4] }))],
])("%s", (why, send) => {
  const made = receiving({ introduced: false, peer: 66n });
  send(made);
  expect(made.news()).toEqual([["destroy", why]]);
  expect(made.state.fault).toEqual(new ProtocolError(why));
  expect([made.state.fault?.name, made.state.isIntroduced]).toEqual(["ProtocolError", false]);
  // The receiver handles no more frames.
  made.frame(FrameKind.hello, PROTOCOL_VERSION, 0, hello());
  expect(made.news()).toEqual([]);
});

test.each<readonly [string, (made: ReturnType<typeof receiving>) => void]>([
  ["cannot read hello: it came twice", ({ frame }) => frame(FrameKind.hello, 1, 0, hello())],
  ["cannot read message: lane 7 is not open", ({ frame }) => frame(FrameKind.message, 7)],
  ["cannot read frame: lane 7 is not open", ({ frame }) => frame(FrameKind.sync, 7)],
  ["cannot read frame: lane 7 is not open", ({ frame }) => frame(FrameKind.bind, 7)],
  ["cannot read frame: lane 7 is not open", ({ frame }) => frame(FrameKind.close, 7)],
  ["cannot open lane 0: expected a free number, at most 2", ({ frame }) => frame(FrameKind.open, 0, 0, open())],
  ["cannot open lane 1: expected a free number, at most 2", ({ frame }) => frame(FrameKind.open, 1, 0, open())],
  ["cannot open lane 3: expected a free number, at most 2", ({ frame }) => frame(FrameKind.open, 3, 0, open())],
  ["cannot read open: 4 bytes too many", ({ frame }) => frame(FrameKind.open, 2, 0, open(0, 1))],
  [
    "cannot bind lane 1: unknown layout 3; this process knows lockstep (0), protobuf (1) and none (2)",
    ({ frame }) => frame(FrameKind.bind, 1, 3),
  ],
  ["cannot read bind: the message ends too early", ({ frame }) => frame(FrameKind.bind, 1, 0)],
  ["cannot read bound: unknown verdict 2", ({ frame }) => frame(FrameKind.bound, 1, 2)],
  ["cannot read bound: the message ends too early", ({ frame }) => frame(FrameKind.bound, 1, 1)],
  ["cannot read bound: 4 bytes too many", ({ frame }) => frame(FrameKind.bound, 1, 0, bytes(1, 2, 3, 4))],
  ["cannot number an extent 2: expected 1", ({ frame }) => frame(FrameKind.extent, 2)],
  ["cannot read extent: the message ends too early", ({ frame }) => frame(FrameKind.extent, 1, 0, bytes(1, 0, 0, 0))],
  ["cannot read gone: the message ends too early", ({ frame }) => frame(FrameKind.gone, 1)],
  ["cannot read bounce: the message ends too early", ({ frame }) => frame(FrameKind.bounce, 1)],
  ["cannot read hold: the message ends too early", ({ frame }) => frame(FrameKind.hold)],
  ["cannot read ask: the message ends too early", ({ frame }) => frame(FrameKind.ask, 1, 0, bytes(1, 2, 3, 4))],
  ["cannot read relay: the message ends too early", ({ frame }) => frame(FrameKind.relay, 1, 2, bytes(1, 2, 3, 4))],
  [
    "cannot read credit: the message ends too early",
    ({ frame, state }) => {
      state.sessions[1] = {};
      frame(FrameKind.credit, 1, 5);
    },
  ],
  [
    "cannot read streamCredit: the message ends too early",
    ({ frame, state }) => {
      state.streams.set(1, {});
      frame(FrameKind.streamCredit, 1, 5);
    },
  ],
  ["cannot read frame: unknown kind 31", ({ frame }) => frame(31)],
  ["cannot read frame: unknown kind 43", ({ frame }) => frame(43)],
])("%s", (why, send) => {
  const made = withLane();
  send(made);
  expect(made.news()).toEqual([["destroy", why]]);
  expect(made.state.fault).toBeInstanceOf(ProtocolError);
});

test("a lane is opened for the sender and target of the frame, and its messages reach the destination", () => {
  const { frame, news, state } = receiving();
  frame(FrameKind.open, 1, 0, open());
  const sender = { universe: 1n, proc: 66n, mesh: 2n, rank: 3, incarnation: 4, name: "sender" };
  const target = { kind: "actor", proc: 10n, number: 5n, rank: 8, owner: 6n, fingerprint: 7n };
  const credit = { messages: 100, bytes: 200, streamItems: 300, streamBytes: 400 };
  expect(news()).toEqual([["lane", { sender, target, credit }]]);
  frame(FrameKind.open, 2, 0, open(1));
  expect(news()).toEqual([["lane", { sender, target: { ...target, kind: "port" }, credit }]]);
  frame(FrameKind.message, 1, 9, bytes(1, 2, 3), { slot: 300, flags: 5 });
  expect(news()).toEqual([["message", 300, 9, 5, [1, 2, 3], undefined, 3]]);
  frame(FrameKind.cancel, 1, 9, undefined, { slot: 2 });
  frame(FrameKind.cancel, 9, 9, undefined, { slot: 2 });
  frame(FrameKind.sync, 1, 12, undefined, { slot: 1 });
  expect(news()).toEqual([
    ["cancel", 9, 2],
    ["synced", 1, 12],
  ]);
  frame(FrameKind.close, 1);
  expect([news(), state.lanes[1]]).toEqual([
    [
      ["send closed", 1],
      ["lane closed", false],
    ],
    undefined,
  ]);
  frame(FrameKind.open, 1, 0, open());
  expect(news()).toHaveLength(1);
});

test("blocks belong to the next message, and count towards its size", () => {
  const { frame, news } = withLane();
  frame(FrameKind.block, 0, 0, bytes(1, 2, 3));
  frame(FrameKind.block, 0, 0, bytes(4, 5));
  frame(FrameKind.message, 1, 0, bytes(9));
  frame(FrameKind.message, 1, 0, bytes(8));
  expect(news()).toEqual([
    [
      "message",
      0,
      0,
      0,
      [9],
      [
        [1, 2, 3],
        [4, 5],
      ],
      6,
    ],
    ["message", 0, 0, 0, [8], undefined, 1],
  ]);
  // Blocks may have as many bytes as a frame, and no more.
  const half = (w: Writer): void => void w.reserve(1 << 19);
  frame(FrameKind.block, 0, 0, half);
  frame(FrameKind.block, 0, 0, half);
  frame(FrameKind.message, 1, 0, bytes(7));
  expect(news().map(([what, , , , , blocks]) => [what, (blocks as unknown[]).length])).toEqual([["message", 2]]);
  const whole = (w: Writer): void => void w.reserve(600_000);
  frame(FrameKind.block, 0, 0, whole);
  expect(news()).toEqual([]);
  frame(FrameKind.block, 0, 0, whole);
  expect(news()).toEqual([["destroy", "cannot read blocks: together too large"]]);
});

test("a block that comes in pieces belongs to the message that refers to it", () => {
  const { frame, news } = withLane();
  frame(FrameKind.piece, 0, 5, bytes(1, 2));
  frame(FrameKind.message, 1, 0, bytes(9));
  frame(FrameKind.piece, 0, 5, bytes(3, 4, 5));
  frame(FrameKind.block, 1);
  frame(FrameKind.message, 1, 0, bytes(8));
  expect(news()).toEqual([
    ["message", 0, 0, 0, [9], undefined, 1],
    ["message", 0, 0, 0, [8], [[1, 2, 3, 4, 5]], 6],
  ]);
  const size = 200_000;
  frame(FrameKind.piece, 0, size, (w) => void w.reserve(size));
  frame(FrameKind.block, 1);
  frame(FrameKind.message, 1, 0, bytes(8));
  expect(news()[0]!.at(-1)).toBe(size + 1);
});

test("blocks have their own memory", () => {
  const { frame, state } = withLane();
  const blocks: Uint8Array[] = [];
  (state.lanes[1] as Lane).destination = {
    message: (_l: unknown, _s: unknown, _c: unknown, _f: unknown, r: Reader) => void blocks.push(...(r.blocks ?? [])),
  } as never;
  frame(FrameKind.block, 0, 0, bytes(1, 2, 3));
  frame(FrameKind.message, 1);
  frame(FrameKind.block, 0, 0, bytes(7, 7, 7));
  frame(FrameKind.message, 1);
  expect(blocks.map((block) => [...block])).toEqual([
    [1, 2, 3],
    [7, 7, 7],
  ]);
  expect(blocks[0]!.buffer.byteLength).toBe(3);
});

test("an answer ends its call and returns its credit, unless the flag `credited` is set", () => {
  const { frame, news, pending } = receiving();
  const one = pending();
  const { id } = one;
  frame(FrameKind.reply, id, 0, bytes(1, 2));
  frame(FrameKind.reply, id, 0, bytes(1, 2));
  expect(news()).toEqual([
    ["end of call", id],
    ["credited", 1, 30],
    ["answered", [1, 2], false],
  ]);
  const other = pending();
  frame(FrameKind.reply, other.id, 0, bytes(3), { flags: FrameFlag.credited | FrameFlag.protobuf });
  expect(news().slice(1)).toEqual([["answered", [3], true]]);
  const given = pending(true);
  frame(FrameKind.reply, given.id, 0, bytes(3));
  expect(news().slice(1)).toEqual([["credited", 1, 30]]);
});

test("an error ends its call, and the session is informed if the receiver has ended", () => {
  for (const [reason, message, ended] of [
    [0, "thrown", false],
    [1, "not delivered", true],
    [2, "not delivered", false],
  ] as const) {
    const { frame, news, pending } = receiving();
    const one = pending();
    const { id } = one;
    frame(FrameKind.error, id, 0, bytes(reason));
    frame(FrameKind.error, id, 0, bytes(reason));
    expect(news()).toEqual([
      ...(ended ? [["target ended"]] : []),
      ["end of call", id],
      ["credited", 1, 30],
      ["failed", message],
    ]);
    const given = pending(true);
    frame(FrameKind.error, given.id, 0, bytes(0), { flags: FrameFlag.credited });
    expect(news()).toHaveLength(1);
  }
});

test("a call receives stream items until `end`, which ends the call", () => {
  const { frame, news, pending } = receiving();
  const one = pending();
  const { id } = one;
  frame(FrameKind.item, id, 0, bytes(1));
  frame(FrameKind.block, 0, 0, bytes(5, 5));
  frame(FrameKind.item, id, 0, bytes(2), { flags: FrameFlag.protobuf });
  expect(news()).toEqual([
    ["item", [1], false, 1],
    ["item", [2], true, 3],
  ]);
  frame(FrameKind.end, id);
  frame(FrameKind.end, id);
  frame(FrameKind.item, id, 0, bytes(1));
  expect(news()).toEqual([["end of call", id], ["credited", 1, 30], ["ended stream"]]);
  const given = pending(true);
  frame(FrameKind.item, given.id, 0, bytes(1));
  frame(FrameKind.end, given.id, 0, undefined, { flags: FrameFlag.credited });
  expect(news()).toHaveLength(1);
});

test("credit is given to the session or the stream that the frame names", () => {
  const { frame, news, state, note } = receiving();
  state.sessions.push({ credited: note("session") });
  state.streams.set(4, { credited: note("stream") });
  const size = (w: Writer) => writeU32(w, 50);
  frame(FrameKind.credit, 1, 3, size);
  frame(FrameKind.streamCredit, 4, 2, size);
  frame(FrameKind.credit, 9, 3, size);
  frame(FrameKind.streamCredit, 9, 2, size);
  expect(news()).toEqual([
    ["session", 3, 50],
    ["stream", 2, 50],
  ]);
});

test("credit for no message confirms that a receiver has handled all messages", () => {
  const { frame, news, state, note } = receiving();
  state.sessions.push({ credited: note("credited"), reached: note("handled") });
  const none = (w: Writer) => writeU32(w, 0);
  frame(FrameKind.credit, 1, 0, none);
  // For lanes that were freed, the frame has no effect.
  frame(FrameKind.credit, 9, 0, none);
  expect(news()).toEqual([["handled"]]);
});

test("a stopped receiver ignores further bytes", () => {
  const { feed, receiver, news, state } = receiving();
  receiver.stop();
  feed(new Uint8Array(16).fill(0xff));
  expect([news(), state.fault]).toEqual([[], undefined]);
});

test("frames that arrive in one read with an invalid frame are handled before it, and ignored behind it", () => {
  const { framed, feed, news, state } = receiving();
  const tell = (question: number) => framed(FrameKind.tell, question, 1);
  feed(Buffer.concat([tell(3), framed(FrameKind.message, 7), tell(4), framed(FrameKind.bye)]));
  const why = "cannot read message: lane 7 is not open";
  expect(news()).toEqual([
    ["told", 3, true],
    ["destroy", why],
  ]);
  expect(state.fault).toEqual(new ProtocolError(why));
});

test("frames in one read behind a frame that makes the host end the link are ignored", () => {
  const { framed, feed, receiver, news, state } = receiving();
  state.host.meshQueryAnswered = (_, question) => {
    if (question === 4) receiver.closed(new Error("enough"));
    return 0;
  };
  feed(Buffer.concat([framed(FrameKind.tell, 4, 1), framed(FrameKind.message, 7), framed(FrameKind.bye)]));
  expect([news(), state.fault]).toEqual([[["ended", "enough"]], undefined]);
});

test("a binding has endpoints only in the protobuf layout", () => {
  const { frame, news } = withLane();
  const named = (w: Writer): void => {
    writeU64(w, 9n);
    writeText(w, "a#B");
  };
  const listed = (w: Writer): void => {
    named(w);
    writeU32(w, 2);
    for (const id of [4, 5]) {
      writeU32(w, id);
      writeText(w, `e${id}`);
    }
  };
  frame(FrameKind.bind, 1, Layout.lockstep, named, { slot: 3 });
  frame(FrameKind.bind, 1, Layout.none, named, { slot: 3 });
  frame(FrameKind.bind, 1, Layout.protobuf, listed, { slot: 3 });
  const known = { firstSlot: 3, key: "a#B", fingerprint: 9n };
  const endpoints = [
    { id: 4, name: "e4" },
    { id: 5, name: "e5" },
  ];
  expect(news()).toEqual([
    ["bind", { ...known, layout: Layout.lockstep, endpoints: [] }],
    ["bind", { ...known, layout: Layout.none, endpoints: [] }],
    ["bind", { ...known, layout: Layout.protobuf, endpoints }],
  ]);
});

test("the answer to a binding is given to its session, and is refused if no answer was expected", () => {
  const { frame, news, state } = receiving();
  const bounds: unknown[] = [];
  const session = (answer: boolean, isOver = false) => ({
    isOver,
    bindingAnswered: (...what: unknown[]) => {
      bounds.push(what);
      return answer;
    },
  });
  state.sessions.push(session(true), session(false), session(false, true));
  const other = (w: Writer): void => {
    writeU64(w, 8n);
    writeText(w, "{}");
  };
  frame(FrameKind.bound, 1, 1, other, { slot: 6 });
  frame(FrameKind.bound, 1, 0, undefined, { slot: 7 });
  frame(FrameKind.bound, 3, 0);
  frame(FrameKind.bound, 9, 0);
  expect([bounds, news()]).toEqual([
    [
      [6, { fingerprint: 8n, description: "{}" }],
      [7, undefined],
    ],
    [],
  ]);
  frame(FrameKind.bound, 2, 0, undefined, { slot: 7 });
  expect(news()).toEqual([["destroy", "cannot read bound: slot 7 of lane 2 does not wait for it"]]);
});

test("the peer numbers its extents, which are frozen", () => {
  const { frame, state } = receiving();
  frame(FrameKind.extent, 1, 0, (w) => {
    writeU32(w, 2);
    for (const [name, size] of [
      ["hosts", 2],
      ["gpus", 4],
    ] as const) {
      writeText(w, name);
      writeU32(w, size);
    }
  });
  frame(FrameKind.extent, 2, 0, (w) => writeU32(w, 0));
  expect(state.extents).toEqual([{}, { hosts: 2, gpus: 4 }, {}]);
  expect(Object.isFrozen(state.extents[1])).toBe(true);
});

test("`gone` ends the session, and `bounce` is reported to the sender", () => {
  const { frame, news, state, note } = receiving();
  const session = (isOver = false) => ({
    lane: 1,
    isOver,
    end: ({ reason, message }: DeliveryError) => note("end")(reason, message),
    targetEnded: note("target ended"),
    sender: {
      bounced: (_: unknown, slot: number, { reason, message }: DeliveryError) => note("bounced")(slot, reason, message),
    },
  });
  state.sessions.push(session(), session(true));
  const why = (w: Writer) => writeText(w, "why");
  frame(FrameKind.gone, 1, 3, why);
  frame(FrameKind.gone, 1, 99, why);
  frame(FrameKind.gone, 2, 3, why);
  frame(FrameKind.gone, 9, 3, why);
  expect(news()).toEqual([
    ["end", "stopped", "why"],
    ["close session", 1],
    ["end", "unknown", "why"],
    ["close session", 1],
  ]);
  frame(FrameKind.bounce, 1, 3, why, { slot: 4 });
  frame(FrameKind.bounce, 1, 5, why, { slot: 4 });
  frame(FrameKind.bounce, 1, 99, why, { slot: 4 });
  frame(FrameKind.bounce, 9, 3, why, { slot: 4 });
  expect(news()).toEqual([
    ["target ended"],
    ["bounced", 4, "stopped", "why"],
    ["bounced", 4, "refused", "why"],
    ["target ended"],
    ["bounced", 4, "unknown", "why"],
  ]);
});

test("frames about meshes, ports, relays and trees are passed to the host", () => {
  const { frame, news } = receiving();
  frame(FrameKind.ask, 3, 0, (w) => writeU64(w, 20n));
  frame(FrameKind.tell, 3, 1);
  frame(FrameKind.tell, 4, 0);
  frame(FrameKind.closed, 5);
  const port = (w: Writer): void => {
    writeU64(w, 1n);
    writeU64(w, 2n);
    writeText(w, "holder");
  };
  frame(FrameKind.hold, 0, 0, port);
  frame(FrameKind.release, 0, 0, port);
  frame(FrameKind.relay, 6, 7, (w) => {
    writeU64(w, 1n);
    writeU64(w, 2n);
    bytes(3, 4)(w);
  });
  frame(FrameKind.tree, 1, 2, bytes(5), { slot: 3, flags: 4 });
  frame(FrameKind.treeFlush, 1, 2);
  expect(news()).toEqual([
    ["asked", 3, 20n],
    ["told", 3, true],
    ["told", 4, false],
    ["forgotten", 5],
    ["port", 1n, "holder", 2n, true],
    ["port", 1n, "holder", 2n, false],
    ["relayed", { to: 1n, from: 2n, channel: 6, op: 7, bytes: [3, 4] }],
    ["tree", { kind: FrameKind.tree, flags: 4, slot: 3, a: 1, b: 2 }, [5]],
    ["tree", { kind: FrameKind.treeFlush, flags: 0, slot: 0, a: 1, b: 2 }, []],
  ]);
});

test("the end of a pipe after `bye` is reported without an error, and any other end with an error", () => {
  const { receiver, frame, news } = receiving();
  frame(FrameKind.bye);
  receiver.closed(new Error("cut"));
  frame(FrameKind.tell, 3, 1);
  expect(news()).toEqual([["ended", undefined]]);
  const other = receiving();
  other.receiver.closed();
  const cut = receiving();
  cut.receiver.closed(new Error("cut"));
  expect([other.news(), cut.news()]).toEqual([
    [["ended", "the connection ended without a farewell"]],
    [["ended", "cut"]],
  ]);
});

test("a thrown value that is not an Error is reported as an Error", () => {
  const { frame, news, state } = receiving();
  state.host.meshQueried = () => {
    throw "text";
  };
  frame(FrameKind.ask, 3, 0, (w) => writeU64(w, 20n));
  expect([news(), state.fault]).toEqual([[["destroy", 'threw "text"']], new Error('threw "text"')]);
  const own = new RangeError("own");
  const other = receiving();
  other.state.host.meshQueried = () => {
    throw own;
  };
  other.frame(FrameKind.ask, 3, 0, (w) => writeU64(w, 20n));
  expect(other.state.fault).toBe(own);
});
