/** What pipes through shared memory promise beyond what all pipes do. */
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { systemRandom } from "../../../../runtime/link/clock.js";
import { inProcessPipePair } from "../../../../runtime/link/transport/in-process/pipe.js";
import type { Pipe } from "../../../../runtime/link/transport/pipe.js";
import {
  joinSharedMemory,
  offerSharedMemory,
  usesSharedMemory,
} from "../../../../runtime/link/transport/shared-memory/pipe.js";
import { cases } from "../../../profile.js";
import { settled } from "../../fake-host.js";
import { ByteRecorder } from "../byte-recorder.js";
import { memory, missing, none, pair } from "./pipe-ends.js";

const run = describe.skipIf(missing !== undefined);

function pattern(size: number, seed: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let i = 0; i < size; i++) bytes[i] = (i * 31 + seed + (i >> 8) * 7) & 0xff;
  return bytes;
}

run("a pipe in shared memory", () => {
  test("is used as soon as both sides have it; what was written before comes first", async () => {
    const { near, far } = pair();
    near.write([Buffer.from("early, ")], () => {});
    const here = new ByteRecorder(near);
    const there = new ByteRecorder(far);
    near.write([Buffer.from("before, ")], () => {});
    far.write([Buffer.from("answer")], () => {});
    await here.bytes(6);
    expect(usesSharedMemory(near) && usesSharedMemory(far)).toBe(true);
    near.write([Buffer.from("after")], () => {});
    await there.bytes(20);
    expect(there.all.toString()).toBe("early, before, after");
    expect(here.all.toString()).toBe("answer");
    near.destroy();
    await there.end;
  });

  test("carries what is larger than its rings, in order, both ways at once", async () => {
    const { near, far } = pair(4096);
    const here = new ByteRecorder(near);
    const there = new ByteRecorder(far);
    const [a, b] = [pattern(1_000_003, 1), pattern(700_001, 2)];
    let done = 0;
    near.write([a.subarray(0, 10), a.subarray(10)], () => done++);
    far.write([b], () => done++);
    await Promise.all([there.bytes(a.length), here.bytes(b.length)]);
    await settled();
    expect(there.all.equals(a) && here.all.equals(b)).toBe(true);
    expect(done).toBe(2);
    far.destroy();
    await here.end;
  });

  test("does not take more than there is room for until the other side reads", async () => {
    const { near, far } = pair(4096);
    const here = new ByteRecorder(near);
    const there = new ByteRecorder(far);
    far.write([Buffer.from("up")], () => {});
    await here.bytes(2);
    let done = 0;
    // In one turn of the event loop: the other side cannot read meanwhile.
    for (let i = 0; i < 10; i++) near.write([pattern(1000, i)], () => done++);
    await Promise.resolve();
    expect(done).toBe(4);
    await there.bytes(10_000);
    await settled();
    expect(done).toBe(10);
    near.destroy();
    await there.end;
  });

  test("closing sends everything first; what was written before the end arrives", async () => {
    const { near, far } = pair(4096);
    const here = new ByteRecorder(near);
    const there = new ByteRecorder(far);
    far.write([Buffer.from("up")], () => {});
    await here.bytes(2);
    const words = pattern(50_000, 3);
    let done = 0;
    near.write([words], () => done++);
    near.close();
    near.write([Buffer.from("too late")], () => done++);
    expect(await there.end).toBeUndefined();
    expect(there.all.equals(words)).toBe(true);
    await here.end;
    expect(done).toBe(2);
  });

  test("destroying it ends it at once, and everything that was written is told of", async () => {
    const { near, far } = pair(4096);
    const here = new ByteRecorder(near);
    const there = new ByteRecorder(far);
    far.write([Buffer.from("up")], () => {});
    await here.bytes(2);
    let done = 0;
    near.write([pattern(50_000, 4)], () => done++);
    near.destroy(new Error("enough"));
    expect((await here.end)?.message).toBe("enough");
    expect((await there.end)?.message).toBe("the connection was reset");
    expect(done).toBe(1);
    far.write([Buffer.from("nobody")], () => done++);
    await settled();
    expect(done).toBe(2);
  });

  test("gives back its memory and its descriptors", async () => {
    const count = () => [
      readdirSync("/proc/self/fd").length,
      readFileSync("/proc/self/maps", "utf8").split("viceroy-link").length,
    ];
    const before = count();
    for (let i = 0; i < 50; i++) {
      const { near, far } = pair();
      const ends = [new ByteRecorder(near), new ByteRecorder(far)];
      if (i % 2 === 0) {
        far.write([Buffer.from("up")], () => {});
        await ends[0]!.bytes(2);
      }
      (i % 3 === 0 ? near : far).destroy();
      await Promise.all(ends.map(({ end }) => end));
    }
    await settled();
    expect(count()).toEqual(before);
  });

  test("touches few pages of its memory, however long it is used for little", async () => {
    const { near, far } = pair();
    const there = new ByteRecorder(far);
    void new ByteRecorder(near);
    for (let i = 1; i <= 2000; i++) {
      near.write([pattern(500, i)], () => {});
      await there.bytes(i * 500);
    }
    // 1 MB has gone through 256 KiB: of the head one page, of the ring as far as it goes before it begins anew, and a message.
    expect(touched()).toBeLessThanOrEqual(4 + 16 + 4);
    expect(touched()).toBeGreaterThan(4);
    near.destroy();
    await there.end;
  });

  test("of random sizes, in random pieces, closed at random moments, is the bytes that were written", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat({ max: 9000 }), fc.nat({ max: 2 })), { maxLength: 30 }),
        fc.boolean(),
        async (writes, backwards) => {
          const { near, far } = pair(4096);
          const ends = [near, far].map((pipe) => ({ pipe, heard: new ByteRecorder(pipe) }));
          if (backwards) ends.reverse();
          const [from, to] = ends as [{ pipe: Pipe; heard: ByteRecorder }, { pipe: Pipe; heard: ByteRecorder }];
          const written: Buffer[] = [];
          for (const [i, [size, pause]] of writes.entries()) {
            const bytes = pattern(size, i);
            written.push(bytes);
            from.pipe.write([bytes.subarray(0, size >> 1), bytes.subarray(size >> 1)], () => {});
            await settled(pause);
          }
          from.pipe.close();
          await to.heard.end;
          expect(to.heard.all.equals(Buffer.concat(written))).toBe(true);
          await from.heard.end;
        },
      ),
      { numRuns: cases(100, 3000) },
    );
  });
});

/** KiB of memory of channels that are there. Both ends are mapped here, and share their pages. */
function touched(): number {
  const [first = ""] = readFileSync("/proc/self/smaps", "utf8")
    .split(/^(?=[\da-f]+-[\da-f]+ )/m)
    .filter((m) => m.includes("viceroy-link"));
  return Number(/^Rss:\s+(\d+) kB$/m.exec(first)?.[1]);
}

describe("where one side has no shared memory", () => {
  test.skipIf(missing !== undefined)(
    "what the other offers is not taken, and the socket carries everything",
    async () => {
      const { near, far } = pair(4096, memory, none);
      const here = new ByteRecorder(near);
      const there = new ByteRecorder(far);
      near.write([pattern(100_000, 1)], () => {});
      far.write([pattern(100_000, 2)], () => {});
      await Promise.all([here.bytes(100_000), there.bytes(100_000)]);
      expect(there.all.equals(pattern(100_000, 1)) && here.all.equals(pattern(100_000, 2))).toBe(true);
      expect(usesSharedMemory(near) || usesSharedMemory(far)).toBe(false);
      near.close();
      await there.end;
    },
  );

  test("nothing is offered: the pipe is the socket", async () => {
    const [socket, other] = inProcessPipePair();
    const near = offerSharedMemory(socket, systemRandom, none);
    expect(near).toBe(socket);
    const far = joinSharedMemory(other, memory);
    const here = new ByteRecorder(near);
    const there = new ByteRecorder(far);
    far.write([Buffer.from("waits for the other to begin")], () => {});
    near.write([Buffer.from("hi")], () => {});
    await Promise.all([there.bytes(2), here.bytes(28)]);
    expect(there.all.toString()).toBe("hi");
    near.close();
    expect(await there.end).toBeUndefined();
  });

  test("what is written because something that waited was taken comes behind all that waited", async () => {
    const [socket, other] = inProcessPipePair();
    const taking: Pipe = {
      open: (sink) => other.open(sink),
      write(chunks, done) {
        other.write(
          chunks.map((chunk) => chunk.slice()),
          () => {},
        );
        done();
      },
      close: () => other.close(),
      destroy: (error) => other.destroy(error),
      ref() {},
      unref() {},
    };
    const far = joinSharedMemory(taking, memory);
    const here = new ByteRecorder(socket);
    new ByteRecorder(far);
    far.write([Buffer.from("first, ")], () => far.write([Buffer.from("third")], () => {}));
    far.write([Buffer.from("second, ")], () => {});
    // What is no offer.
    socket.write([Buffer.from("hi")], () => {});
    await here.bytes(20);
    expect(here.all.toString()).toBe("first, second, third");
    socket.destroy();
  });

  test("who closes before the other has said anything has said what he had to say", async () => {
    const [socket, other] = inProcessPipePair();
    const here = new ByteRecorder(offerSharedMemory(socket, systemRandom, memory));
    const far = joinSharedMemory(other, memory);
    far.write([Buffer.from("busy")], () => {});
    far.close();
    await here.end;
    expect(here.all.toString()).toBe("busy");
  });
});
