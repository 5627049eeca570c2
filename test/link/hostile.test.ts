/** A peer that sends garbage closes its link with an error that says why, and harms nobody else. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { writeText, writeU32, writeU64 } from "../../runtime/link/control.js";
import { beginFrame, endFrame, Kind, MAGIC, PROTOCOL_VERSION } from "../../runtime/link/frame.js";
import { Link } from "../../runtime/link/link.js";
import { localPipe } from "../../runtime/link/local/pipe.js";
import type { Pipe } from "../../runtime/link/pipe.js";
import { Writer } from "../../runtime/wire/writer.js";
import { Counter } from "../actor/counter.js";
import { World } from "../actor/world.js";
import { FakeHost, settled } from "./fake-host.js";

type Write = (w: Writer) => void;

function frame(word1: number, a: number, b: number, body: Write = () => {}): Write {
  return (w) => {
    const at = beginFrame(w, word1, a, b);
    body(w);
    endFrame(w, at);
  };
}

const hello = (universe = 1n, version = PROTOCOL_VERSION, magic = MAGIC, proc = 66n): Write =>
  frame(Kind.hello, version, 0, (w) => {
    writeU32(w, magic);
    writeU32(w, 0);
    writeU64(w, universe);
    writeU64(w, proc);
  });

const open = (lane: number, name = "hostile"): Write =>
  frame(Kind.open, lane, 0, (w) => {
    for (const id of [66n, 2n]) writeU64(w, id);
    for (const word of [0, 0, 4096, 1 << 22, 256, 1 << 20]) writeU32(w, word);
    for (const id of [5n, 10n, 0n]) writeU64(w, id);
    for (const word of [0, 0]) writeU32(w, word);
    writeText(w, name);
  });

function bytesOf(writes: readonly Write[]): Uint8Array {
  const w = new Writer();
  for (const write of writes) write(w);
  return w.copy(0);
}

/** The error that a link is closed with when its peer sends this. */
async function closedWith(bytes: Uint8Array, expected?: bigint): Promise<string | undefined> {
  const host = new FakeHost(10n, { maxFrame: 1 << 20 });
  const [mine, theirs] = localPipe();
  const link = new Link(host, expected, false);
  link.attach(mine);
  theirs.open({ buffer: () => new Uint8Array(1 << 16), received() {}, closed() {} });
  theirs.write([bytes], () => {});
  await settled(5);
  return host.ends[0]?.message;
}

describe("a link is closed on", () => {
  const cases: [string, Write[], string][] = [
    ["a frame before hello", [open(1)], "cannot read frame: kind 3 before hello"],
    ["another protocol", [hello(1n, 1, 0x47455420)], "cannot read hello: the peer does not speak this protocol"],
    [
      "another version of it",
      [hello(1n, 99)],
      "cannot connect: the peer speaks version 99 of the protocol, this process 1; install the same version of " +
        "viceroy on both sides",
    ],
    ["a stranger's universe", [hello(2n)], "cannot connect: the peer is of another universe"],
    ["hello twice", [hello(), hello()], "cannot read hello: it came twice"],
    ["an unknown kind", [hello(), frame(200, 0, 0)], "cannot read frame: unknown kind 200"],
    ["a message on no lane", [hello(), frame(Kind.message, 7, 0)], "cannot read message: lane 7 is not open"],
    ["a lane out of order", [hello(), open(9)], "cannot open lane 9: expected a free number, at most 1"],
    ["a lane opened twice", [hello(), open(1), open(1)], "cannot open lane 1: expected a free number, at most 2"],
    ["closing no lane", [hello(), frame(Kind.close, 3, 0)], "cannot read frame: lane 3 is not open"],
    ["a body that is too short", [hello(), frame(Kind.open, 1, 0)], "cannot read open: it ends too early"],
    [
      "a body that is too long",
      [
        hello(),
        frame(Kind.gone, 1, 0, (w) => {
          writeText(w, "x");
          writeU32(w, 0);
        }),
      ],
      "cannot read gone: 4 bytes too many",
    ],
    [
      "a text that is longer than its frame",
      [hello(), frame(Kind.gone, 1, 0, (w) => writeU32(w, 0xffff_fff0))],
      "cannot read gone: it ends too early",
    ],
    [
      "an extent out of order",
      [hello(), frame(Kind.extent, 5, 0, (w) => writeU32(w, 0))],
      "cannot number an extent 5: expected 1",
    ],
  ];
  test.each(cases)("%s", async (_name, writes, message) => {
    expect((await closedWith(bytesOf(writes)))?.replace("the message ends too early", "it ends too early")).toBe(
      message,
    );
  });

  test("another peer than was expected", async () => {
    expect(await closedWith(bytesOf([hello()]), 67n)).toBe("cannot connect: the peer is another process than expected");
  });

  test("blocks that are together over the limit", async () => {
    const block = frame(Kind.block, 0, 0, (w) => {
      const at = w.reserve(600_000);
      w.bytes.fill(0, at, at + 600_000);
    });
    expect(await closedWith(bytesOf([hello(), block, block]))).toBe("cannot read blocks: together too large");
  });
});

test("answers, credit and the like for what does not exist change nothing", async () => {
  const strays = [
    frame(Kind.reply, 77, 0),
    frame(Kind.error, 77, 0),
    frame(Kind.item, 77, 0),
    frame(Kind.end, 77, 0),
    frame(Kind.credit, 77, 5, (w) => writeU32(w, 5)),
    frame(Kind.streamCredit, 77, 5, (w) => writeU32(w, 5)),
    frame(Kind.cancel, 77, 5),
    frame(Kind.closed, 77, 0),
    frame(Kind.tell, 77, 1),
  ];
  expect(await closedWith(bytesOf([hello(), ...strays, open(1)]))).toBe(undefined);
});

/** A proc with an actor, and the far end of a pipe to it. */
function victim(): { world: World; pipe: Pipe; received: () => number } {
  const world = new World();
  world.spawn("counter", Counter, [0], [world.root]);
  const [mine, theirs] = localPipe();
  world.root.proc.attach(mine);
  let received = 0;
  theirs.open({
    buffer: () => new Uint8Array(1 << 16),
    received: (n) => {
      received += n;
    },
    closed() {},
  });
  return { world, pipe: theirs, received: () => received };
}

test("garbage of any kind never throws out of a link, and other links go on", async () => {
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
        const [mine, theirs] = localPipe();
        new Link(host, undefined, false).attach(mine);
        theirs.open({ buffer: () => new Uint8Array(1 << 16), received() {}, closed() {} });
        theirs.write([start, bytes, tail], () => {});
        await settled(3);
        expect(host.ends.length).toBeLessThanOrEqual(1);
      },
    ),
    { numRuns: 300 },
  );
  const { world, pipe } = victim();
  pipe.write([bytesOf([frame(Kind.message, 1, 1)])], () => {});
  await settled();
  const counter = world.spawn("another", Counter, [4], [world.root]);
  expect(await counter.value.callOne()).toBe(4);
  world.close();
});

test("mutated frames of a real conversation never throw out of a link", async () => {
  const conversation = bytesOf([
    hello(1n),
    open(1),
    frame(Kind.bind, 1, 0, (w) => {
      writeU64(w, 0x1234_5678_9abc_def0n);
      writeText(w, "test/counter#Counter");
    }),
    frame(Kind.message, 1, 1),
    frame(Kind.message | (1 << 16), 1, 2),
    frame(Kind.cancel, 1, 2),
    frame(Kind.close, 1, 0),
  ]);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat({ max: conversation.length - 1 }), fc.integer({ min: 1, max: 255 })), {
        minLength: 1,
        maxLength: 4,
      }),
      async (mutations) => {
        const { world, pipe } = victim();
        const bytes = conversation.slice();
        new DataView(bytes.buffer).setBigUint64(24, world.universe, true);
        for (const [at, flip] of mutations) bytes[at]! ^= flip;
        pipe.write([bytes], () => {});
        await settled(4);
        world.close();
      },
    ),
    { numRuns: 300 },
  );
});
