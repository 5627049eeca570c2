/**
 * Tests that a peer which breaks the protocol of shared memory ends its own link with an error that gives the reason,
 * and affects no other link.
 */
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inProcessPipePair } from "../../../../runtime/link/transport/in-process/pipe.js";
import {
  ANSWER_BYTES,
  type ChannelOffer,
  readAnswer,
  writeOffer,
} from "../../../../runtime/link/transport/shared-memory/channel-offer.js";
import {
  joinSharedMemory,
  RING_BYTES,
  usesSharedMemory,
} from "../../../../runtime/link/transport/shared-memory/pipe.js";
import { rdmaAddonState } from "../../../../runtime/native/rdma-addon.js";
import { cases } from "../../../profile.js";
import { settled } from "../../fake-host.js";
import { ByteRecorder } from "../byte-recorder.js";
import { hostile, Layout, memory, missing, pair } from "./pipe-ends.js";

const broken = "the connection was ended: the peer has written positions that cannot be into shared memory";
const [ours, theirs] = [Layout.rings[0], Layout.rings[1]];

describe.skipIf(missing !== undefined)("a hostile peer that joins a channel", () => {
  async function taken(bytes = 4096) {
    const { near, far } = hostile(bytes);
    const here = new ByteRecorder(near);
    await far.take();
    await settled();
    expect(usesSharedMemory(near)).toBe(true);
    return { near, far, here };
  }

  test.each([
    ["a head beyond the ring", theirs + Layout.head, 4097n],
    ["a head of all ones", theirs + Layout.head, -1n],
    ["a beginning in the middle", theirs + Layout.start, 1n],
    ["a beginning beyond the head", theirs + Layout.start, 8192n],
  ])("ends the link when it writes %s", async (_what, at, value) => {
    const { far, here } = await taken();
    if (at !== theirs + Layout.head) far.setWord(theirs + Layout.head, 10n);
    far.setWord(at, value);
    far.wake();
    expect((await here.end)?.message).toBe(broken);
    far.close();
  });

  test("ends the link when it claims to have read bytes that were not written", async () => {
    const { near, far, here } = await taken();
    far.setWord(ours + Layout.tail, 1n << 40n);
    near.write([Buffer.alloc(4096), Buffer.alloc(1)], () => {});
    expect((await here.end)?.message).toBe(broken);
    far.close();
  });

  test("ends the link when it claims to have read fewer bytes than before", async () => {
    const { near, far, here } = await taken();
    near.write([Buffer.alloc(4096)], () => {});
    far.setWord(ours + Layout.tail, 4000n);
    near.write([Buffer.alloc(2000)], () => {});
    far.setWord(ours + Layout.tail, 3000n);
    near.write([Buffer.alloc(3000)], () => {});
    expect((await here.end)?.message).toBe(broken);
    far.close();
  });

  test("ends the link when it sends over the socket after it has used the channel", async () => {
    const { far, here } = await taken();
    far.setWord(theirs + Layout.head, 5n);
    far.wake();
    await here.bytes(5);
    far.say(Buffer.from("and more"));
    expect((await here.end)?.message).toBe(
      "the connection was ended: the peer has sent bytes by the socket after those in shared memory",
    );
    far.close();
  });

  test("makes this side wait only for the bytes that it has announced for the socket", async () => {
    const { far, here } = await taken();
    far.setWord(Layout.before[1], 4n);
    far.setWord(theirs + Layout.head, 5n);
    far.wake();
    await settled();
    expect(here.all.length).toBe(0);
    far.say(Buffer.from("four"));
    await here.bytes(9);
    expect(here.all.toString("latin1")).toBe("four\0\0\0\0\0");
    far.close();
    await here.end;
  });

  test("does no harm with wrong sleep flags and needless wake-ups", async () => {
    const { near, far, here } = await taken();
    for (let i = 0; i < 100; i++) {
      far.setWord(ours + Layout.asleep, BigInt(i));
      far.setWord(ours + Layout.wanting, BigInt(i));
      near.write([Buffer.alloc(100)], () => {});
      far.wake();
    }
    await settled();
    expect(here.all.length).toBe(0);
    near.destroy();
    await here.end;
    far.close();
  });

  test("harms no other link when it writes random words into the shared memory", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.tuple(
            fc.oneof(fc.constantFrom(...words()), fc.nat({ max: 3 * 4096 - 8 })),
            fc.oneof(fc.bigInt({ min: 0n, max: 20_000n }), fc.bigInt({ min: 0n, max: (1n << 64n) - 1n })),
          ),
          { minLength: 1, maxLength: 40 },
        ),
        async (writes) => {
          const { near, far, here } = await taken();
          let ended = false;
          void here.end.then(() => {
            ended = true;
          });
          for (const [at, value] of writes) {
            far.setWord(at, value);
            near.write([Buffer.alloc(600)], () => {});
            far.wake();
            await settled(2);
          }
          if (!ended) near.destroy();
          const error = await here.end;
          expect([undefined, broken]).toContain(error?.message);
          far.close();
        },
      ),
      { numRuns: cases(150, 5000) },
    );
    const { near, far } = pair();
    const there = new ByteRecorder(far);
    near.write([Buffer.from("unharmed")], () => {});
    await there.bytes(8);
    near.destroy();
    await there.end;
  });
});

function words(): number[] {
  const control = [Layout.head, Layout.start, Layout.tail, Layout.asleep, Layout.wanting];
  return [...Layout.before, ...Layout.rings.flatMap((ring) => control.map((word) => ring + word))];
}

describe.skipIf(missing !== undefined)("an offer of shared memory", () => {
  /** The offset of the pid in an offer. docs/reference/protocol.md, *shared memory*, defines it. */
  const PID_AT = 12;

  /** Sends an offer, and checks that the socket carries bytes if it is refused. @returns whether it is accepted */
  async function offered(offer: ChannelOffer, change: (bytes: Uint8Array) => void = () => {}): Promise<boolean> {
    const [socket, other] = inProcessPipePair();
    const here = new ByteRecorder(socket);
    const far = joinSharedMemory(other, memory);
    const there = new ByteRecorder(far);
    const bytes = writeOffer(offer);
    change(bytes);
    socket.write([bytes.subarray(0, 7), bytes.subarray(7)], () => {});
    await here.bytes(ANSWER_BYTES);
    const taken = readAnswer(here.all);
    expect(usesSharedMemory(far)).toBe(taken);
    if (!taken) {
      socket.write([Buffer.from("by the socket")], () => {});
      await there.bytes(13);
      expect(there.all.toString()).toBe("by the socket");
    }
    socket.destroy();
    await there.end;
    return taken;
  }

  /** Creates a channel with a valid offer. */
  function real(bytes = 8192) {
    const { near, far } = hostile(bytes);
    const here = new ByteRecorder(near);
    return {
      far,
      end: async () => {
        near.destroy();
        await here.end;
      },
    };
  }

  test("is accepted if it is valid", async () => {
    const { far, end } = real();
    expect(await offered(await far.offer)).toBe(true);
    await end();
  });

  /** Returns the ids of the threads of this process. The system finds the same descriptors under each of these ids. */
  const threads = () => readdirSync("/proc/self/task").map(Number);

  test("is accepted if it is valid and has the id of a thread in place of the pid", async () => {
    const { far, end } = real();
    const offer = await far.offer;
    const pid = threads().find((thread) => thread !== offer.pid)!;
    expect(await offered({ ...offer, pid })).toBe(true);
    await end();
  });

  test.each<[string, (offer: ChannelOffer) => ChannelOffer]>([
    ["with another token", (offer) => ({ ...offer, token: offer.token.map((byte) => byte ^ 1) })],
    ["of another size", (offer) => ({ ...offer, bytes: 4096 })],
    ["of a size that cannot be", (offer) => ({ ...offer, bytes: 5000 })],
    ["of all the memory there is", (offer) => ({ ...offer, bytes: 2 ** 31 })],
    ["of a process that is not there", (offer) => ({ ...offer, pid: 4_194_305 })],
    ["of process 0", (offer) => ({ ...offer, pid: 0 })],
    ["of no descriptor", (offer) => ({ ...offer, memory: 1_000_000 })],
    ["whose memory is a pipe", (offer) => ({ ...offer, memory: offer.waker })],
    ["whose pipe is memory", (offer) => ({ ...offer, waker: offer.memory })],
  ])("%s is refused", async (_what, change) => {
    const { far, end } = real();
    expect(await offered(change(await far.offer))).toBe(false);
    await end();
  });

  test("of another version is refused", async () => {
    const { far, end } = real();
    expect(await offered(await far.offer, (bytes) => (bytes[4] = 2))).toBe(false);
    await end();
  });

  test("whose memory is a regular file is refused, and the file does not change", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "viceroy-shared-"));
    const { far, end } = real();
    const offer = await far.offer;
    const file = path.join(folder, "precious");
    const size = 4096 + 2 * offer.bytes;
    const content = Buffer.alloc(size, 7);
    content.set(offer.token);
    writeFileSync(file, content);
    const descriptor = openSync(file, "r+");
    expect(await offered({ ...offer, memory: descriptor })).toBe(false);
    closeSync(descriptor);
    expect(readFileSync(file).equals(content)).toBe(true);
    rmSync(folder, { recursive: true });
    await end();
  });

  test("with randomly changed bytes is refused", async () => {
    const { far, end } = real();
    const offer = writeOffer(await far.offer);
    await fc.assert(
      fc.asyncProperty(
        // The magic number stays, because the bytes would be no offer without it. The descriptors for waking stay as
        // well, because any pipe of the same user is valid there.
        fc.array(
          fc.tuple(
            fc.oneof(fc.integer({ min: 4, max: 19 }), fc.integer({ min: 32, max: 47 })),
            fc.integer({ min: 1, max: 255 }),
          ),
          {
            minLength: 1,
            maxLength: 5,
          },
        ),
        async (flips) => {
          const flip = (bytes: Uint8Array) => {
            for (const [at, bits] of flips) bytes[at]! ^= bits;
          };
          const changed = Buffer.from(offer);
          flip(changed);
          fc.pre(!changed.equals(offer));
          const before = threads();
          const taken = await offered(await far.offer, flip);
          // An offer that differs only in its pid is valid if the pid is by chance that of a thread of this process.
          const pid = changed.readUInt32LE(PID_AT);
          changed.writeUInt32LE(process.pid, PID_AT);
          fc.pre(!changed.equals(offer) || ![...before, ...threads()].includes(pid));
          expect(taken).toBe(false);
        },
      ),
      { numRuns: cases(100, 3000) },
    );
    await end();
  });
});

test.skipIf(missing !== undefined)("the addon throws for invalid arguments and for calls on a closed channel", () => {
  const { Channel } = rdmaAddonState().addon!;
  expect(() => new Channel(1000, new Uint8Array(16))).toThrow(
    "invalid bytes: expected a power of two from 4096 to 2^24, got 1000",
  );
  expect(() => new Channel(4096, new Uint8Array(15))).toThrow("invalid token: expected 16 bytes, got 15");
  const channel = new Channel(RING_BYTES, new Uint8Array(16));
  expect(() => channel.write(new Uint8Array(4), 5)).toThrow("invalid from: expected an offset into the bytes");
  expect(() => channel.read("text" as never)).toThrow("invalid target: expected a typed array");
  channel.close();
  channel.close();
  expect(() => channel.write(new Uint8Array(4), 0)).toThrow("cannot write to a channel that is closed");
  expect(() => channel.read(new Uint8Array(4))).toThrow("cannot read from a channel that is closed");
  expect(() => channel.begin(0, () => true)).toThrow("cannot begin a channel twice, nor one that is closed");
});
