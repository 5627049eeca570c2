/**
 * Tests that a peer which sends invalid bytes closes its own link with an error that gives the reason, and affects no
 * other link.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Layout } from "../../runtime/link/frame/binding.js";
import { writeText, writeU32, writeU64 } from "../../runtime/link/frame/control-body.js";
import {
  beginFrame,
  endFrame,
  FrameFlag,
  FrameKind,
  HELLO_MAGIC,
  PROTOCOL_VERSION,
  ProtocolError,
} from "../../runtime/link/frame/frame.js";
import { Link } from "../../runtime/link/link.js";
import type { PendingCall } from "../../runtime/link/outbound/pending-calls.js";
import { codec } from "../../runtime/wire/composed/index.js";
import { Writer } from "../../runtime/wire/writer.js";
import { Counter } from "../actor/counter.js";
import { World } from "../actor/world.js";
import { FakeHost, iface, linked, settled, texts } from "./fake-host.js";
import { onMemory, pipePair } from "./pipe-pair.js";

type Write = (w: Writer) => void;

/** The number of turns of the event loop after which written bytes have arrived. The two sides agree on shared memory first. */
const arrived = onMemory ? 15 : 4;

function frame(word1: number, a: number, b: number, body: Write = () => {}): Write {
  return (w) => {
    const at = beginFrame(w, word1, a, b);
    body(w);
    endFrame(w, at);
  };
}

const hello = (universe = 1n, version = PROTOCOL_VERSION, magic = HELLO_MAGIC, proc = 66n): Write =>
  frame(FrameKind.hello, version, 0, (w) => {
    writeU32(w, magic);
    writeU32(w, 0);
    writeU64(w, universe);
    writeU64(w, proc);
  });

const piece = (total: number, size: number): Write =>
  frame(FrameKind.piece, 0, total, (w) => {
    w.reserve(size);
  });

const open = (lane: number, name = "hostile"): Write =>
  frame(FrameKind.open, lane, 0, (w) => {
    for (const id of [66n, 2n]) writeU64(w, id);
    for (const word of [0, 0, 4096, 1 << 22, 256, 1 << 20]) writeU32(w, word);
    for (const id of [5n, 10n, 0n]) writeU64(w, id);
    for (const word of [0, 0]) writeU32(w, word);
    writeText(w, name);
  });

const bind = (lane: number, base: number, layout: number, ids: readonly number[] = []): Write =>
  frame(FrameKind.bind | (base << 16), lane, layout, (w) => {
    writeU64(w, layout === Layout.lockstep ? 0x1234_5678_9abc_def0n : 66n);
    writeText(w, "test/counter#Counter");
    if (layout !== Layout.protobuf) return;
    writeU32(w, ids.length);
    for (const id of ids) {
      writeU32(w, id);
      writeText(w, `endpoint${id}`);
    }
  });

function bytesOf(writes: readonly Write[]): Uint8Array {
  const w = new Writer();
  for (const write of writes) write(w);
  return w.copy(0);
}

/** Returns the error with which a link is closed when its peer sends the given frames. */
async function closedWith(bytes: Uint8Array, expected?: bigint): Promise<string | undefined> {
  const host = new FakeHost(10n, { maxFrame: 1 << 20 });
  const [mine, theirs] = pipePair();
  const link = new Link(host, expected);
  link.attach(mine);
  theirs.open({ buffer: () => new Uint8Array(1 << 16), received() {}, closed() {} });
  theirs.write([bytes], () => {});
  await settled();
  return host.ends[0]?.message;
}

describe("a link is closed because of", () => {
  const cases: [string, Write[], string][] = [
    ["a frame before hello", [open(1)], "cannot read frame: kind 3 before hello"],
    ["another protocol", [hello(1n, 1, 0x47455420)], "cannot read hello: the peer does not speak this protocol"],
    [
      "another version of the protocol",
      [hello(1n, 99)],
      "cannot connect: the peer speaks version 99 of the protocol, this process 1; install the same version of " +
        "viceroy on both sides",
    ],
    ["another universe", [hello(2n)], "cannot connect: the peer is of another universe"],
    ["a second hello", [hello(), hello()], "cannot read hello: it came twice"],
    [
      "a hello whose length is damaged",
      [
        frame(FrameKind.hello, PROTOCOL_VERSION, 0, (w) => {
          for (const word of [HELLO_MAGIC, 0]) writeU32(w, word);
          for (const id of [1n, 66n]) writeU64(w, id);
          w.reserve(1);
        }),
      ],
      "cannot read hello: the message ends too early",
    ],
    ["an unknown kind of frame", [hello(), frame(200, 0, 0)], "cannot read frame: unknown kind 200"],
    [
      "a message on an unopened lane",
      [hello(), frame(FrameKind.message, 7, 0)],
      "cannot read message: lane 7 is not open",
    ],
    ["a lane number out of order", [hello(), open(9)], "cannot open lane 9: expected a free number, at most 1"],
    ["a lane opened twice", [hello(), open(1), open(1)], "cannot open lane 1: expected a free number, at most 2"],
    ["closing an unopened lane", [hello(), frame(FrameKind.close, 3, 0)], "cannot read frame: lane 3 is not open"],
    [
      "a body that is too short",
      [hello(), frame(FrameKind.open, 1, 0)],
      "cannot read open: the message ends too early",
    ],
    [
      "a body that is too long",
      [
        hello(),
        frame(FrameKind.gone, 1, 0, (w) => {
          writeText(w, "x");
          writeU32(w, 0);
        }),
      ],
      "cannot read gone: 4 bytes too many",
    ],
    [
      "a text that is longer than its frame",
      [hello(), frame(FrameKind.gone, 1, 0, (w) => writeU32(w, 0xffff_fff0))],
      "cannot read gone: the message ends too early",
    ],
    [
      "an extent out of order",
      [hello(), frame(FrameKind.extent, 5, 0, (w) => writeU32(w, 0))],
      "cannot number an extent 5: expected 1",
    ],
    [
      "an unknown layout",
      [hello(), open(1), bind(1, 0, 3)],
      "cannot bind lane 1: unknown layout 3; this process knows lockstep (0), protobuf (1) and none (2)",
    ],
    [
      "a list of endpoints that is longer than its frame",
      [
        hello(),
        open(1),
        frame(FrameKind.bind, 1, Layout.protobuf, (w) => {
          writeU64(w, 1n);
          writeText(w, "test/counter#Counter");
          writeU32(w, 0xffff_ffff);
        }),
      ],
      "cannot read bind: the message ends too early",
    ],
    ["an unknown answer to a binding", [hello(), frame(FrameKind.bound, 1, 2)], "cannot read bound: unknown verdict 2"],
  ];
  test.each(cases)("%s", async (_name, writes, message) => {
    expect(await closedWith(bytesOf(writes))).toBe(message);
  });

  test("another peer than expected", async () => {
    expect(await closedWith(bytesOf([hello()]), 67n)).toBe("cannot connect: the peer is another process than expected");
  });

  test.each<[string, Write[], string]>([
    ["an empty piece", [piece(8, 0)], "cannot read piece: expected 1 to 8 bytes of a block of 8, got 0 of one of 8"],
    [
      "more bytes than the block has left",
      [piece(8, 8 + 8)],
      "cannot read piece: expected 1 to 8 bytes of a block of 8, got 16 of one of 8",
    ],
    ["a different block", [piece(16, 8), piece(24, 8)], "expected 1 to 8 bytes of a block of 16, got 8 of one of 24"],
    ["a block of size 0", [piece(0, 0)], "together, got one of 0"],
    ["blocks over the limit", [piece(8, 8), piece(0xffff_ffff, 8)], "together, got one of 4294967295"],
    ["no piece of a block", [frame(FrameKind.block, 1, 0)], "cannot read block: it has not come in pieces"],
  ])("an invalid sequence of pieces: %s", async (_what, writes, text) => {
    expect(await closedWith(bytesOf([hello(), ...writes]))).toContain(text);
  });

  test("blocks that together exceed the limit", async () => {
    const block = frame(FrameKind.block, 0, 0, (w) => {
      const at = w.reserve(600_000);
      w.bytes.fill(0, at, at + 600_000);
    });
    expect(await closedWith(bytesOf([hello(), block, block]))).toBe("cannot read blocks: together too large");
  });
});

test("frames about calls, streams, lanes or questions that do not exist do not close the link", async () => {
  const strays = [
    frame(FrameKind.reply, 77, 0),
    frame(FrameKind.error, 77, 0),
    frame(FrameKind.item, 77, 0),
    frame(FrameKind.end, 77, 0),
    frame(FrameKind.credit, 77, 5, (w) => writeU32(w, 5)),
    frame(FrameKind.streamCredit, 77, 5, (w) => writeU32(w, 5)),
    frame(FrameKind.cancel, 77, 5),
    frame(FrameKind.closed, 77, 0),
    frame(FrameKind.tell, 77, 1),
  ];
  expect(await closedWith(bytesOf([hello(), ...strays, open(1)]))).toBe(undefined);
});

/** Creates a proc with an actor, and the far end of a pipe to the proc. */
function victim() {
  const world = new World();
  const counter = world.spawn<typeof Counter, never>("counter", Counter, [0], [world.root], {});
  const [mine, theirs] = pipePair();
  const link = world.root.proc.attach(mine);
  theirs.open({ buffer: () => new Uint8Array(1 << 16), received() {}, closed() {} });
  return { world, counter, link, pipe: theirs };
}

test("random bytes never make a link throw, and a proc that receives an invalid frame still serves calls", async () => {
  const start = bytesOf([hello(1n), open(1)]);
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          word1: fc.oneof(fc.integer({ min: 0, max: 0x1f_ffff }), fc.integer()),
          a: fc.oneof(fc.constantFrom(0, 1, 2), fc.nat()),
          b: fc.nat(),
          body: fc.uint8Array({ maxLength: 120 }),
        }),
        { maxLength: 12 },
      ),
      fc.uint8Array({ maxLength: 40 }),
      async (frames, tail) => {
        const bytes = bytesOf(
          frames.map(({ word1, a, b, body }) =>
            frame(word1 >>> 0, a, b, (w) => {
              const at = w.reserve(body.length);
              w.bytes.set(body, at);
            }),
          ),
        );
        const host = new FakeHost(10n);
        const [mine, theirs] = pipePair();
        new Link(host, undefined).attach(mine);
        theirs.open({ buffer: () => new Uint8Array(1 << 16), received() {}, closed() {} });
        theirs.write([start, bytes, tail], () => {});
        await settled(arrived);
        expect(host.ends.length).toBeLessThanOrEqual(1);
      },
    ),
    { numRuns: 300 },
  );
  const { world, pipe } = victim();
  pipe.write([bytesOf([frame(FrameKind.message, 1, 1)])], () => {});
  await settled();
  const counter = world.spawn("another", Counter, [4], [world.root]);
  expect(await counter.value.callOne()).toBe(4);
  world.close();
});

/** Up to four positions in bytes of a given length, and what is flipped there. */
const mutationsOf = (length: number) =>
  fc.array(fc.tuple(fc.nat({ max: length - 1 }), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 4 });

test("mutated frames of a valid conversation close the link as a broken protocol or not at all, and the actor serves calls", async () => {
  const conversation = bytesOf([
    hello(1n),
    open(1),
    bind(1, 0, Layout.lockstep),
    bind(1, 30, Layout.protobuf, [2, 4, 1, 99]),
    frame(FrameKind.message | (FrameFlag.protobuf << 8) | (30 << 16), 1, 3),
    frame(FrameKind.message | (FrameFlag.protobuf << 8) | (31 << 16), 1, 4, (w) => {
      const at = w.reserve(3);
      w.bytes.set([0x0a, 0x01, 0x61], at);
    }),
    frame(FrameKind.message, 1, 1),
    frame(FrameKind.message | (1 << 16), 1, 2),
    frame(FrameKind.cancel, 1, 2),
    frame(FrameKind.close, 1, 0),
  ]);
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(mutationsOf(conversation.length), async (mutations) => {
      const { world, counter, link, pipe } = victim();
      const bytes = conversation.slice();
      new DataView(bytes.buffer).setBigUint64(24, world.universe, true);
      for (const [at, flip] of mutations) bytes[at]! ^= flip;
      pipe.write([bytes], () => {});
      await settled(arrived);
      if (link.fault !== undefined) {
        expect(link.fault).toBeInstanceOf(ProtocolError);
        // A mutated frame may end the link in order, and what follows it is refused.
        expect([link.fault.message, "its process has closed the link"]).toContain(link.ended?.message);
        refused++;
      }
      expect((await counter.log.callOne())[0]).toBe("init");
      world.close();
    }),
    { numRuns: 300 },
  );
  expect(refused).toBeGreaterThan(100);
});

test("messages before a mutated frame are delivered unchanged and in order", async () => {
  const messages = Array.from({ length: 12 }, (_, i) => Buffer.alloc(i * 7 + 1, i));
  const frames = [hello(), open(1)].concat(
    messages.map((body) =>
      frame(FrameKind.message, 1, 0, (w) => {
        const at = w.reserve(body.length);
        w.bytes.set(body, at);
      }),
    ),
  );
  const ends = frames.map((_, i) => bytesOf(frames.slice(0, i + 1)).length);
  const conversation = bytesOf(frames);
  await fc.assert(
    fc.asyncProperty(mutationsOf(conversation.length), async (mutations) => {
      const host = new FakeHost(10n);
      const received: string[] = [];
      host.sink.message = (lane, _slot, _call, _flags, r, size) => {
        // The body of a mutated frame need not be a text. Actors answer it with an error.
        received.push(Buffer.from(r.bytes.subarray(r.position, r.end)).toString("hex"));
        lane.consumed(size);
      };
      const [mine, theirs] = pipePair();
      const link = new Link(host, undefined);
      link.attach(mine);
      theirs.open({ buffer: () => new Uint8Array(1 << 16), received() {}, closed() {} });
      const bytes = conversation.slice();
      for (const [at, flip] of mutations) bytes[at]! ^= flip;
      theirs.write([bytes], () => {});
      await settled(arrived);
      const first = bytes.findIndex((byte, i) => byte !== conversation[i]);
      const untouched = first < 0 ? frames.length : ends.filter((end) => end <= first).length;
      const before = messages.slice(0, Math.max(0, untouched - 2));
      expect(received.slice(0, before.length)).toEqual(before.map((body) => body.toString("hex")));
      if (first < 0) expect([received.length, link.ended]).toEqual([messages.length, undefined]);
      if (link.fault !== undefined) expect(link.fault).toBeInstanceOf(ProtocolError);
      mine.destroy();
    }),
    { numRuns: 300 },
  );
});

/** Returns the answer to raw frames for a counter, and the end of the link. */
async function attack(...writes: readonly Write[]): Promise<{ kinds: number[]; ended: string | undefined }> {
  const world = new World();
  world.spawn<typeof Counter, never>("counter", Counter, [3], [world.root], {});
  const mesh = [...world.ordered][0]!;
  const [mine, theirs] = pipePair();
  const link = world.root.proc.attach(mine);
  const kinds: number[] = [];
  const page = new Uint8Array(1 << 16);
  theirs.open({
    buffer: () => page,
    received: (n) => {
      const view = new DataView(page.buffer);
      for (let at = 0; at < n; at += (view.getUint32(at, true) + 7) & ~7) kinds.push(view.getUint32(at + 4, true));
    },
    closed() {},
  });
  const to = (proc: bigint): Write =>
    frame(FrameKind.open, 1, 0, (w) => {
      for (const id of [66n, 2n]) writeU64(w, id);
      for (const word of [0, 0, 4096, 1 << 22, 256, 1 << 20]) writeU32(w, word);
      for (const id of [mesh, proc, 0n]) writeU64(w, id);
      for (const word of [0, 0]) writeU32(w, word);
      writeText(w, "hostile");
    });
  theirs.write([bytesOf([hello(world.universe), to(world.root.proc.id), ...writes])], () => {});
  await settled();
  const ended = link.ended?.message;
  const cell = world.root.proc.cell(mesh)!;
  // The actor keeps running, whatever frames have arrived.
  expect(cell.lifecycle.state).toBe("running");
  world.close();
  return { kinds: kinds.map((word) => word & 0xff).filter((kind) => kind !== FrameKind.hello), ended };
}

describe("the agreement on a layout", () => {
  const value = (slot: number, flags: number, call = 1): Write =>
    frame(FrameKind.message | (flags << 8) | (slot << 16), 1, call);

  test("a lockstep message closes the link if its interface was bound in the protobuf layout", async () => {
    const { kinds, ended } = await attack(bind(1, 0, Layout.protobuf, [2]), value(0, 0));
    expect(kinds).toEqual([]);
    expect(ended).toBe(
      "cannot read message: slot 0 of its lane was agreed to be in the protobuf layout, and it is in another one",
    );
  });

  test("a protobuf message is handled even if its interface was bound in the lockstep layout", async () => {
    const { kinds, ended } = await attack(bind(1, 0, Layout.lockstep), value(1, FrameFlag.protobuf));
    expect(kinds).toEqual([FrameKind.bound, FrameKind.reply]);
    expect(ended).toBe(undefined);
  });

  test("an undecodable call gets an error despite a matching fingerprint, and the link stays open", async () => {
    const garbage = (flags: number): Write =>
      frame(FrameKind.message | (flags << 8) | (2 << 16), 1, 1, (w) => {
        const at = w.reserve(7);
        w.bytes.fill(0xff, at, at + 7);
      });
    expect(await attack(bind(1, 0, Layout.lockstep), garbage(0))).toEqual({
      kinds: [FrameKind.bound, FrameKind.error],
      ended: undefined,
    });
    expect(await attack(bind(1, 0, Layout.lockstep), garbage(FrameFlag.protobuf))).toEqual({
      kinds: [FrameKind.bound, FrameKind.error],
      ended: undefined,
    });
  });

  test("a binding with another fingerprint gets a `bound` frame, and later calls get no answer yet", async () => {
    const stranger = frame(FrameKind.bind, 1, Layout.lockstep, (w) => {
      writeU64(w, 1n);
      writeText(w, "test/counter#Counter");
    });
    expect(await attack(stranger, value(1, 0), value(1, FrameFlag.protobuf))).toEqual({
      kinds: [FrameKind.bound],
      ended: undefined,
    });
  });

  test("an answer names its own layout, independent of the layout of the call", async () => {
    const layouts: boolean[] = [];
    const { other, open, sender, near } = linked();
    const session = open();
    session.slotOf(iface);
    await settled();
    const call: PendingCall = {
      id: 0,
      session: undefined,
      credit: 0,
      isAbandoned: false,
      answered: (r) => void layouts.push(r.protobuf),
      failed() {},
      item() {},
      ended() {},
    };
    session.call(0, texts, "x", call);
    await settled();
    other.sendReply(FrameKind.reply | (FrameFlag.protobuf << 8), call.id, false, codec.string, "y");
    await settled();
    expect(layouts).toEqual([true]);
    expect(near.ends).toEqual([]);
    expect(sender.bounces).toEqual([]);
  });

  test("a `bound` frame for a slot that awaits no answer closes the link", async () => {
    const { other, open, near } = linked();
    const session = open();
    await settled();
    other.sendBound(session.lane, 0, { fingerprint: 1n, description: "{}" });
    await settled();
    expect(near.ends.map((end) => end?.message)).toEqual(["cannot read bound: slot 0 of lane 1 does not wait for it"]);
  });
});
