/** Frames are cut out of a stream of bytes, however it comes. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { beginFrame, endFrame, HEADER, ProtocolError } from "../../runtime/link/frame.js";
import { Inbox } from "../../runtime/link/inbox.js";
import { RECEIVE_BUFFER } from "../../runtime/link/receive-memory.js";
import { Writer } from "../../runtime/wire/writer.js";

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
    placeOf: () => undefined,
    frame(word1, a, b, bytes, view, start, end, own) {
      expect(view.buffer).toBe(bytes.buffer);
      expect(start % 8).toBe(0);
      seen.push({ word1, a, b, body: [...bytes.subarray(start, end)] });
      owned.push(own);
    },
  });
  return { inbox, seen, owned };
}

test("frames come out whole and in order, whatever pieces the stream comes in", () => {
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

test("frames around the size of the receive buffer come out whole; larger ones in memory of their own", () => {
  const sizes = [10, -1, 0, 1, 7, 8, 9, 4096, 3, 65_536, 0].map((n) => RECEIVE_BUFFER - HEADER + n);
  const bodies = [...sizes, 5, 0, 100_000].map((n, i) => new Uint8Array(n).fill(i + 1));
  for (const piece of [1024, 65_536, 65_000, 4097, 13_107]) {
    const { inbox, seen, owned } = collector();
    feed(inbox, frames(bodies), [piece]);
    expect(seen.map(({ a, body }) => [a, body.length, new Set(body).size <= 1 && (body[0] ?? 0)])).toEqual(
      bodies.map((body, i) => [i, body.length, body.length === 0 ? 0 : i + 1]),
    );
    expect(owned).toEqual(bodies.map((body) => body.length + HEADER > RECEIVE_BUFFER));
  }
});

test("a length no frame can have is refused", () => {
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

test("nothing is handed out after stop, not even what has come", () => {
  const seen: number[] = [];
  const inbox: Inbox = new Inbox(1000, {
    placeOf: () => undefined,
    frame(_word1, a) {
      seen.push(a);
      inbox.stop();
    },
  });
  feed(inbox, frames([new Uint8Array(3), new Uint8Array(3)]), [1000]);
  expect(seen).toEqual([0]);
});
