/** Tests of the promises that pipes in shared memory make in addition to the promises of all pipes. */
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
  test("is used as soon as both sides have it, and bytes that were written before arrive first", async () => {
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

  test("carries writes that are larger than its rings in order, in both directions at once", async () => {
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

  test("completes only the writes that fit into the ring until the other side reads", async () => {
    const { near, far } = pair(4096);
    const here = new ByteRecorder(near);
    const there = new ByteRecorder(far);
    far.write([Buffer.from("up")], () => {});
    await here.bytes(2);
    let done = 0;
    // All writes happen in one turn of the event loop, so that the other side cannot read meanwhile.
    for (let i = 0; i < 10; i++) near.write([pattern(1000, i)], () => done++);
    await Promise.resolve();
    expect(done).toBe(4);
    await there.bytes(10_000);
    await settled();
    expect(done).toBe(10);
    near.destroy();
    await there.end;
  });

  test("writes at once what fits into the ring, unless earlier bytes wait or the pipe is closed", async () => {
    const { near, far } = pair(4096);
    const here = new ByteRecorder(near);
    const there = new ByteRecorder(far);
    // The memory is not agreed yet, and the sockets below cannot write at once.
    expect(near.writeNow!(pattern(100, 0), 100)).toBe(0);
    far.write([Buffer.from("up")], () => {});
    await here.bytes(2);
    const words = pattern(6000, 5);
    expect(near.writeNow!(words, 1000)).toBe(1000);
    const taken = near.writeNow!(words.subarray(1000), 5000);
    expect(taken).toBe(3096);
    near.write([words.subarray(1000 + taken)], () => {});
    expect(near.writeNow!(pattern(1, 0), 1)).toBe(0);
    await there.bytes(6000);
    await settled();
    expect(near.writeNow!(pattern(10, 6), 10)).toBe(10);
    near.close();
    expect(near.writeNow!(pattern(1, 0), 1)).toBe(0);
    expect(await there.end).toBeUndefined();
    expect(there.all.equals(Buffer.concat([words, pattern(10, 6)]))).toBe(true);
  });

  test("delivers all bytes that were written before its close, and drops later writes", async () => {
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

  test("ends both ends at once when it is destroyed, and completes pending and later writes", async () => {
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

  test("releases its memory and its file descriptors when it ends", async () => {
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

  test("touches few pages of its memory while only small writes pass through it", async () => {
    const { near, far } = pair();
    const there = new ByteRecorder(far);
    void new ByteRecorder(near);
    for (let i = 1; i <= 2000; i++) {
      near.write([pattern(500, i)], () => {});
      await there.bytes(i * 500);
    }
    // 1 MB has passed through a ring of 256 KiB. It touches one page of the head, the part of the ring that is used
    // before the ring starts again, and one message.
    expect(touched()).toBeLessThanOrEqual(4 + 16 + 4);
    expect(touched()).toBeGreaterThan(4);
    near.destroy();
    await there.end;
  });

  test("delivers exactly the written bytes for random sizes and pauses, in either direction", async () => {
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

/** Returns the resident KiB of the memory of a channel. Both ends are mapped here and share their pages. */
function touched(): number {
  const [first = ""] = readFileSync("/proc/self/smaps", "utf8")
    .split(/^(?=[\da-f]+-[\da-f]+ )/m)
    .filter((m) => m.includes("viceroy-link"));
  return Number(/^Rss:\s+(\d+) kB$/m.exec(first)?.[1]);
}

describe("a pipe that does not use shared memory", () => {
  test.skipIf(missing !== undefined)(
    "carries all bytes over the socket when the joining side refuses the offer of shared memory",
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

  test("is the plain socket when the offering side has no shared memory", async () => {
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

  test("sends a write from a done callback after all writes that were waiting before", async () => {
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
    // These bytes are no offer, so the waiting writes go over the socket.
    socket.write([Buffer.from("hi")], () => {});
    await here.bytes(20);
    expect(here.all.toString()).toBe("first, second, third");
    socket.destroy();
  });

  test("delivers the bytes of a joining side that closes before it receives an offer", async () => {
    const [socket, other] = inProcessPipePair();
    const here = new ByteRecorder(offerSharedMemory(socket, systemRandom, memory));
    const far = joinSharedMemory(other, memory);
    far.write([Buffer.from("busy")], () => {});
    far.close();
    await here.end;
    expect(here.all.toString()).toBe("busy");
  });
});
