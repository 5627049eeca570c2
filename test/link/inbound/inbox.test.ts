/** Tests that a stream of bytes is split into frames, whatever pieces it arrives in. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { coreContention } from "../../../runtime/link/core-contention.js";
import { beginFrame, endFrame, HEADER_BYTES, ProtocolError } from "../../../runtime/link/frame/frame.js";
import { Inbox } from "../../../runtime/link/inbound/inbox.js";
import {
  isShared,
  memoryToReadInto,
  RECEIVE_BUFFER,
  SHORT_READ_BYTES,
  takeOwnMemory,
} from "../../../runtime/link/inbound/receive-memory.js";
import { Writer } from "../../../runtime/wire/writer.js";

interface Seen {
  readonly word1: number;
  readonly a: number;
  readonly b: number;
  readonly body: number[];
}

function frames(bodies: readonly Uint8Array[]): Uint8Array {
  const w = new Writer();
  for (const [i, body] of bodies.entries()) {
    const at = beginFrame(w, 6, i, i * 2);
    const start = w.reserve(body.length);
    w.bytes.set(body, start);
    endFrame(w, at);
  }
  return w.copy(0);
}

/** Feeds a stream in pieces of the given sizes, over and over. */
function feed(inbox: Inbox, stream: Uint8Array, pieces: readonly number[]): void {
  for (let at = 0, i = 0; at < stream.length; i++) {
    const target = inbox.buffer();
    const size = Math.min(target.length, pieces[i % pieces.length]!, stream.length - at);
    target.set(stream.subarray(at, at + size));
    inbox.received(size);
    at += size;
  }
}

function collector(maxFrame = 1 << 20): { inbox: Inbox; seen: Seen[]; owned: boolean[] } {
  const seen: Seen[] = [];
  const owned: boolean[] = [];
  const inbox = new Inbox(maxFrame, {
    memoryFor: () => undefined,
    handleFrame(word1, a, b, bytes, view, start, end, own) {
      expect(view.buffer).toBe(bytes.buffer);
      expect(start % 8).toBe(0);
      seen.push({ word1, a, b, body: [...bytes.subarray(start, end)] });
      owned.push(own);
    },
  });
  return { inbox, seen, owned };
}

test("frames are complete and in order, whatever pieces the stream comes in", () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 30 }),
      fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 10 }),
      (bodies, pieces) => {
        const { inbox, seen } = collector();
        feed(inbox, frames(bodies), pieces);
        expect(seen).toEqual(bodies.map((body, i) => ({ word1: 6, a: i, b: i * 2, body: [...body] })));
      },
    ),
    { numRuns: 200 },
  );
});

test("frames around the size of the receive buffer are complete; larger ones have memory of their own", () => {
  const sizes = [10, -1, 0, 1, 7, 8, 9, 4096, 3, 65_536, 0].map((n) => SHORT_READ_BYTES - HEADER_BYTES + n);
  const bodies = [...sizes, 5, 0, 100_000].map((n, i) => new Uint8Array(n).fill(i + 1));
  for (const piece of [1024, 65_536, 65_000, 4097, 13_107]) {
    const { inbox, seen, owned } = collector();
    feed(inbox, frames(bodies), [piece]);
    expect(seen.map(({ a, body }) => [a, body.length, new Set(body).size <= 1 && (body[0] ?? 0)])).toEqual(
      bodies.map((body, i) => [i, body.length, body.length === 0 ? 0 : i + 1]),
    );
    expect(owned).toEqual(bodies.map((body) => body.length + HEADER_BYTES > SHORT_READ_BYTES));
  }
});

test("a frame with an invalid length is refused", () => {
  for (const [length, text] of [
    [15, "cannot read frame: invalid length: expected at least 16 bytes, got 15"],
    [1001, "cannot read frame: invalid length: expected at most 1000 bytes, got 1001"],
  ] as const) {
    const { inbox } = collector(1000);
    const bytes = new Uint8Array(16);
    new DataView(bytes.buffer).setUint32(0, length, true);
    expect(() => feed(inbox, bytes, [16])).toThrow(new ProtocolError(text));
  }
});

test("no frame is handled after `stop`, including received ones", () => {
  const seen: number[] = [];
  const inbox: Inbox = new Inbox(1000, {
    memoryFor: () => undefined,
    handleFrame(_word1, a) {
      seen.push(a);
      inbox.stop();
    },
  });
  feed(inbox, frames([new Uint8Array(3), new Uint8Array(3)]), [1000]);
  expect(seen).toEqual([0]);
});

test("a frame may have exactly the largest length", () => {
  const { inbox, seen } = collector(1000);
  feed(inbox, frames([new Uint8Array(1000 - HEADER_BYTES)]), [5000]);
  expect(seen.length).toBe(1);
});

test("the padding of a large frame may come byte by byte, before the next frame", () => {
  const size = SHORT_READ_BYTES + 1;
  const stream = frames([new Uint8Array(size).fill(1), new Uint8Array(3).fill(2)]);
  const { inbox, seen } = collector();
  feed(inbox, stream.subarray(0, HEADER_BYTES + size), [SHORT_READ_BYTES]);
  expect(seen.length).toBe(1);
  feed(inbox, stream.subarray(HEADER_BYTES + size), [1]);
  expect(seen.map(({ a, body }) => [a, body.length])).toEqual([
    [0, size],
    [1, 3],
  ]);
});

test("a thread that waits for its core reads more at a time, except after a large frame", () => {
  coreContention.isContended = true;
  try {
    const { inbox, seen, owned } = collector();
    expect(inbox.buffer().length).toBe(RECEIVE_BUFFER);
    // The first three are complete in one read. The beginning of the fourth is copied, because it is large.
    const bodies = [100_000, 10, 90_000, 200_000, 20].map((n, i) => new Uint8Array(n).fill(i + 1));
    const stream = frames(bodies);
    feed(inbox, stream.subarray(0, 200_000), [200_000]);
    expect([seen.length, owned]).toEqual([3, [false, false, false]]);
    const rest = inbox.buffer();
    expect(rest.length).toBeLessThan(200_000);
    feed(inbox, stream.subarray(200_000, 200_000 + rest.length), [rest.length]);
    expect(owned.at(-1)).toBe(true);
    expect(inbox.buffer().length).toBe(SHORT_READ_BYTES);
    feed(inbox, stream.subarray(200_000 + rest.length), [7]);
    expect(seen.map(({ body }) => [body.length, body[0]])).toEqual(bodies.map(({ length }, i) => [length, i + 1]));
    expect(inbox.buffer().length).toBe(RECEIVE_BUFFER);
  } finally {
    coreContention.isContended = false;
  }
});

test("a large frame is not handled after `stop`", () => {
  const stream = frames([new Uint8Array(100_000)]);
  const { inbox, seen } = collector();
  feed(inbox, stream.subarray(0, 90_000), [SHORT_READ_BYTES]);
  inbox.stop();
  feed(inbox, stream.subarray(90_000), [SHORT_READ_BYTES]);
  expect(seen).toEqual([]);
});

describe("receive memory", () => {
  const shared = memoryToReadInto().bytes.buffer;

  test("is shared by all links, and an inbox has its own memory while a frame is incomplete", () => {
    const { inbox, seen } = collector();
    const stream = frames([new Uint8Array(3).fill(1), new Uint8Array(20).fill(2)]);
    expect(inbox.buffer().buffer).toBe(shared);
    feed(inbox, stream.subarray(0, 30), [100]);
    const own = inbox.buffer();
    expect([seen.length, own.buffer === shared, own.byteOffset]).toEqual([1, false, 6]);
    feed(inbox, stream.subarray(30), [100]);
    expect([seen.length, inbox.buffer().buffer === shared]).toEqual([2, true]);
    // The inbox has released its own memory for the next inbox that needs some.
    expect(takeOwnMemory().bytes.buffer).toBe(own.buffer);
  });

  test("is not reused by other links while its frames are being handled", () => {
    const other = collector();
    const seen: number[][] = [];
    const inbox = new Inbox(1000, {
      memoryFor: () => undefined,
      handleFrame(_word1, _a, _b, bytes, _view, start, end) {
        // The handler makes another link of the same thread read, as a link does that forwards what it has read.
        for (let i = 0; i < 2; i++) feed(other.inbox, frames([new Uint8Array(100).fill(0xee)]), [100, 1000]);
        seen.push([...bytes.subarray(start, end)]);
      },
    });
    feed(inbox, frames([Uint8Array.of(1, 2), Uint8Array.of(3, 4), Uint8Array.of(5, 6)]), [1000]);
    expect(seen).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
    expect([other.seen.length, isShared(memoryToReadInto())]).toEqual([6, true]);
  });

  test("is free again after a handler has thrown", () => {
    const inbox = new Inbox(1000, {
      memoryFor: () => undefined,
      handleFrame() {
        throw new Error("broken");
      },
    });
    expect(() => feed(inbox, frames([new Uint8Array(3)]), [1000])).toThrow("broken");
    expect(isShared(memoryToReadInto())).toBe(true);
  });
});
