/** Tests of the segments of a connection of a resumable link, and of the bytes that are kept for the next connection. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { ProtocolError } from "../../../runtime/link/frame/frame.js";
import { defaultResumableLimits, resumableLimits } from "../../../runtime/link/resumable/limits.js";
import { ResendBuffer } from "../../../runtime/link/resumable/resend-buffer.js";
import {
  MAX_SEGMENT_BYTES,
  newAckSegment,
  newEndSegment,
  newResetSegment,
  SEGMENT_HEADER,
  SegmentKind,
  SegmentReader,
  writeSegmentHeader,
} from "../../../runtime/link/resumable/segment.js";
import { UnsentWrites } from "../../../runtime/link/resumable/unsent-writes.js";

function segment(kind: number, size: number, body: Uint8Array = new Uint8Array(0)): Uint8Array {
  const header = new Uint8Array(SEGMENT_HEADER);
  writeSegmentHeader(header, 0, kind, size);
  return Buffer.concat([header, body]);
}

const numbered = (size: number, from = 0) => Uint8Array.from({ length: size }, (_, i) => (from + i) & 0xff);

/** Records the calls of a reader, with memory of a given size for data. */
function reading(memory = 64 * 1024) {
  const heard: (string | number)[] = [];
  const chunks: Buffer[] = [];
  const target = new Uint8Array(memory);
  let direct = 0;
  const reader: SegmentReader = new SegmentReader({
    buffer: () => target,
    data: (n) => {
      chunks.push(Buffer.from(target.subarray(0, n)));
      if (n > 16 * 1024) direct++;
    },
    ack: (received) => heard.push("ack", received),
    end: () => heard.push("end"),
    reset: (reason) => {
      heard.push("reset", reason);
      if (reason === "stop") reader.stop();
      if (reason === "throw") throw new Error("thrown");
      if (reason === "throw text") throw "text";
    },
    broken: (error) => heard.push("broken", `${error.name}: ${error.message}`),
    lost: (error) => heard.push("lost", String(error?.message)),
  });
  /** Feeds bytes in pieces of limited size. */
  const feed = (bytes: Uint8Array, piece = 1 << 30): void => {
    for (let at = 0; at < bytes.length; ) {
      const into = reader.buffer();
      const size = Math.min(into.length, piece, bytes.length - at);
      into.set(bytes.subarray(at, at + size));
      reader.received(size);
      at += size;
    }
  };
  return { reader, heard, data: () => Buffer.concat(chunks), feed, direct: () => direct };
}

test("a reader decodes segments from pieces of any size into memory of any size", () => {
  const sizes = [1, 95, 96, 97, 8191, 8192, 8193, 20_000];
  const all = Buffer.concat([
    newAckSegment(5),
    ...sizes.flatMap((size, i) => [segment(SegmentKind.data, size, numbered(size, i)), newAckSegment(2 ** 40 + i)]),
    newEndSegment(),
    newResetSegment("why: ü"),
  ]);
  for (const piece of [3, 1000, 8192, 1 << 30]) {
    for (const memory of [200, 64 * 1024]) {
      const { feed, heard, data } = reading(memory);
      feed(all, piece);
      expect(Buffer.compare(data(), Buffer.concat(sizes.map((size, i) => numbered(size, i))))).toBe(0);
      const acks = sizes.flatMap((_, i) => ["ack", 2 ** 40 + i]);
      expect(heard).toEqual(["ack", 5, ...acks, "end", "reset", "why: ü"]);
    }
  }
});

test("a large segment is read directly into its target memory, and the next segments are read as well", () => {
  const { feed, data, direct } = reading();
  feed(segment(SegmentKind.data, 60_000, numbered(60_000)));
  expect(direct()).toBe(1);
  feed(Buffer.concat([segment(SegmentKind.data, 2, numbered(2)), newAckSegment(1)]));
  expect(data().length).toBe(60_002);
});

test("only segments of at least 8192 bytes are read directly into their target memory", () => {
  for (const [size, where] of [
    [8191, "here"],
    [8192, "there"],
  ] as const) {
    const { reader, feed } = reading();
    const there = reading().reader.buffer();
    feed(segment(SegmentKind.data, size));
    expect([size, reader.buffer().length === there.length]).toEqual([size, where === "here"]);
  }
});

test.each([
  ["data of nothing", SegmentKind.data, 0],
  ["data that is too large", SegmentKind.data, MAX_SEGMENT_BYTES + 1],
  ["a confirmation that is too short", SegmentKind.ack, 7],
  ["a confirmation that is too long", SegmentKind.ack, 9],
  ["an end with a body", SegmentKind.end, 1],
  ["a reason that is too long", SegmentKind.reset, 513],
  ["an end as long as a confirmation", SegmentKind.end, 8],
  ["an unknown kind", 4, 0],
  ["an unknown kind as long as a confirmation", 4, 8],
])("%s ends the link with a protocol error", (_, kind, size) => {
  const { feed, heard } = reading();
  feed(segment(kind, size));
  expect(heard).toEqual(["broken", `ProtocolError: cannot read segment: kind ${kind} cannot have ${size} bytes`]);
  feed(newEndSegment());
  expect(heard).toHaveLength(2);
});

test("the largest data segment is read, and a reason is cut to the largest size and read", () => {
  const { feed, heard, data } = reading();
  feed(segment(SegmentKind.data, MAX_SEGMENT_BYTES, new Uint8Array(MAX_SEGMENT_BYTES)));
  feed(newResetSegment("x".repeat(600)));
  expect([data().length, heard]).toEqual([MAX_SEGMENT_BYTES, ["reset", "x".repeat(512)]]);
});

test("an acknowledgement above the largest safe integer ends the link with a protocol error", () => {
  const { feed, heard } = reading();
  feed(newAckSegment(Number.MAX_SAFE_INTEGER));
  const bytes = Buffer.from(newAckSegment(0));
  bytes.writeBigUInt64LE(BigInt(Number.MAX_SAFE_INTEGER) + 1n, SEGMENT_HEADER);
  feed(bytes);
  expect(heard).toEqual([
    "ack",
    Number.MAX_SAFE_INTEGER,
    "broken",
    "ProtocolError: cannot read ack: 9007199254740992 bytes",
  ]);
});

test("a stopped reader delivers nothing more, neither received bytes nor the end of the connection", () => {
  const { reader, feed, heard, data } = reading();
  feed(Buffer.concat([newResetSegment("stop"), newEndSegment(), segment(SegmentKind.data, 20_000, numbered(20_000))]));
  reader.closed(new Error("x"));
  expect([heard, data().length]).toEqual([["reset", "stop"], 0]);
  const other = reading();
  other.feed(segment(SegmentKind.data, 20_000, numbered(5)));
  other.reader.stop();
  const into = other.reader.buffer();
  into.fill(1);
  other.reader.received(9000);
  expect([...other.data()]).toEqual([0, 1, 2, 3, 4]);
});

test("an error of a segment handler ends the link, and the end of a connection is reported once", () => {
  for (const [reason, told] of [
    ["throw", "Error: thrown"],
    ["throw text", "Error: text"],
  ] as const) {
    const { reader, feed, heard } = reading();
    feed(newResetSegment(reason));
    reader.closed();
    expect(heard).toEqual(["reset", reason, "broken", told]);
  }
  const { reader, heard } = reading();
  reader.closed(new Error("cut"));
  reader.closed();
  expect(heard).toEqual(["lost", "cut"]);
});

test("a reader keeps the start of an incomplete segment until the rest arrives", () => {
  const { feed, heard } = reading();
  const bytes = Buffer.concat([newAckSegment(1), newAckSegment(2), newAckSegment(3)]);
  for (const [from, to] of [
    [0, 13],
    [13, 14],
    [14, 27],
    [27, bytes.length],
  ]) {
    feed(bytes.subarray(from, to));
  }
  expect(heard).toEqual(["ack", 1, "ack", 2, "ack", 3]);
});

/** Returns the data of the segments of a buffer. */
function taken(buffer: ResendBuffer, limit: number): Uint8Array | undefined {
  const chunks: Uint8Array[] = [];
  const size = buffer.takeSegment(chunks, limit);
  if (size === 0) return chunks.length === 0 ? undefined : expect.fail("chunks of nothing");
  const bytes = Buffer.concat(chunks);
  const header = Buffer.alloc(SEGMENT_HEADER);
  writeSegmentHeader(header, 0, SegmentKind.data, size);
  expect(bytes.subarray(0, SEGMENT_HEADER)).toEqual(header);
  expect(bytes.length).toBe(SEGMENT_HEADER + size);
  return bytes.subarray(SEGMENT_HEADER);
}

function addAll(buffer: ResendBuffer, bytes: Uint8Array, limit = 1 << 30): void {
  for (let at = 0; at < bytes.length; ) at += buffer.add(bytes.subarray(at), limit);
}

test("a resend buffer returns the added bytes from each offset at which sending starts again", () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("add" as const), size: fc.integer({ min: 1, max: 150_000 }) }),
    fc.record({ kind: fc.constant("add" as const), size: fc.integer({ min: 1, max: 300 }) }),
    fc.record({ kind: fc.constant("take" as const), size: fc.integer({ min: 1, max: 100_000 }) }),
    fc.record({ kind: fc.constant("confirm" as const), size: fc.nat(1000) }),
    fc.record({ kind: fc.constant("rewind" as const), size: fc.nat(1000) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const buffer = new ResendBuffer();
      const all: Uint8Array[] = [];
      let [start, sent, end] = [0, 0, 0];
      for (const { kind, size } of steps) {
        if (kind === "add") {
          const bytes = numbered(size, end * 7);
          addAll(buffer, bytes, 60_000);
          all.push(bytes);
          end += size;
        } else if (kind === "take") {
          const data = taken(buffer, size);
          expect(data === undefined).toBe(sent === end);
          if (data === undefined) continue;
          expect(Buffer.compare(data, Buffer.concat(all).subarray(sent, sent + data.length))).toBe(0);
          sent += data.length;
        } else if (kind === "confirm") {
          start += Math.floor(((sent - start) * size) / 1000);
          buffer.confirm(start);
        } else {
          start += Math.floor(((sent - start) * size) / 1000);
          sent = start;
          buffer.rewind(start);
        }
        expect([buffer.start, buffer.sent, buffer.end, buffer.size]).toEqual([start, sent, end, end - start]);
      }
      buffer.clear();
      expect([buffer.size, buffer.sent, taken(buffer, 1)]).toEqual([0, end, undefined]);
    }),
    { numRuns: 40 },
  );
});

test("sending can start again at any byte: inside a segment, between segments and after the last one", () => {
  const make = () => {
    const buffer = new ResendBuffer();
    for (const [size, from] of [
      [1000, 0],
      [500, 1000],
      [300, 1500],
    ] as const) {
      addAll(buffer, numbered(size, from));
      expect(taken(buffer, 1 << 20)?.length).toBe(size);
    }
    return buffer;
  };
  for (const offset of [0, 1, 999, 1000, 1001, 1250, 1499, 1500, 1799]) {
    const buffer = make();
    buffer.rewind(offset);
    // The peer acknowledges the same offset once more.
    buffer.confirm(offset);
    expect([buffer.start, buffer.sent, buffer.end]).toEqual([offset, offset, 1800]);
    expect(taken(buffer, 1 << 20)).toEqual(Buffer.from(numbered(1800 - offset, offset)));
    expect([buffer.sent, taken(buffer, 1)]).toEqual([1800, undefined]);
    // Sending restarts from the acknowledged offset.
    buffer.rewind(1600);
    expect(taken(buffer, 1 << 20)).toEqual(Buffer.from(numbered(200, 1600)));
  }
  const all = make();
  all.rewind(1800);
  expect([all.sent, taken(all, 1)]).toEqual([1800, undefined]);
  addAll(all, numbered(5));
  expect(taken(all, 1)).toEqual(Buffer.from(numbered(5)));
});

test("bytes of several small segments are sent again in segments of about the requested size", () => {
  const buffer = new ResendBuffer();
  for (let i = 0; i < 5; i++) {
    addAll(buffer, numbered(100));
    taken(buffer, 1);
  }
  buffer.rewind(0);
  expect([100, 150, 1000].map((limit) => taken(buffer, limit)?.length)).toEqual([100, 200, 200]);
});

test("unacknowledged bytes stay intact when other bytes of the same page are acknowledged", () => {
  const buffer = new ResendBuffer();
  for (const from of [0, 100]) {
    addAll(buffer, numbered(100, from));
    taken(buffer, 1);
  }
  buffer.confirm(100);
  addAll(buffer, numbered(150, 200));
  taken(buffer, 1);
  buffer.rewind(100);
  expect(taken(buffer, 1 << 20)).toEqual(Buffer.from(numbered(250, 100)));
});

test("a resend buffer takes no more bytes than its limit and no more than fit into its page", () => {
  const buffer = new ResendBuffer();
  expect([buffer.add(numbered(100), 10), buffer.add(numbered(10), 10), buffer.end]).toEqual([10, 10, 20]);
  expect(buffer.add(new Uint8Array(100_000), 100_000)).toBe(64 * 1024 - SEGMENT_HEADER - 20);
});

test("bytes that are added before they are sent share segments of about the requested size", () => {
  const buffer = new ResendBuffer();
  for (let i = 0; i < 10; i++) addAll(buffer, numbered(100));
  expect(taken(buffer, 1)?.length).toBe(1000);
  addAll(buffer, new Uint8Array(200_000));
  expect(taken(buffer, 1)!.length).toBeLessThanOrEqual(64 * 1024);
  expect(taken(buffer, 100_000)!.length).toBeGreaterThanOrEqual(100_000);
});

test("the memory of acknowledged bytes is used again", () => {
  const buffer = new ResendBuffer();
  const pages = new Set<ArrayBufferLike>();
  for (let i = 0; i < 200; i++) {
    addAll(buffer, new Uint8Array(5000));
    const chunks: Uint8Array[] = [];
    buffer.takeSegment(chunks, 1 << 20);
    for (const chunk of chunks) pages.add(chunk.buffer);
    buffer.confirm(buffer.end);
  }
  expect(pages.size).toBe(1);
  // Some bytes are always unacknowledged, so free pages are kept.
  for (let i = 0; i < 200; i++) {
    addAll(buffer, new Uint8Array(5000));
    const chunks: Uint8Array[] = [];
    buffer.takeSegment(chunks, 1 << 20);
    for (const chunk of chunks) pages.add(chunk.buffer);
    buffer.confirm(buffer.end - 1);
  }
  expect(pages.size).toBeLessThanOrEqual(4);
});

test("a resend buffer copies added bytes, so that later changes of their memory have no effect", () => {
  const buffer = new ResendBuffer();
  const bytes = numbered(10);
  addAll(buffer, bytes);
  bytes.fill(0xee);
  expect([...taken(buffer, 100)!]).toEqual([...numbered(10)]);
});

test("unsent writes are copied in order as far as there is room, and complete when they are fully copied", () => {
  const unsent = new UnsentWrites();
  const buffer = new ResendBuffer();
  const done: string[] = [];
  expect([unsent.isEmpty, unsent.copyNext(buffer, 10)]).toEqual([true, false]);
  unsent.add([numbered(3), new Uint8Array(0), numbered(4, 3)], () => done.push("a"));
  unsent.add([numbered(2, 7)], () => done.push("b"));
  unsent.add([numbered(2, 9)], () => done.push("c"));
  expect([unsent.isEmpty, unsent.copyNext(buffer, 0)]).toEqual([false, false]);
  const call = () => {
    for (const one of unsent.takeDone()) one();
    return done.splice(0).join("");
  };
  const steps: [number, string][] = [];
  while (buffer.end < 9 && unsent.copyNext(buffer, 2)) steps.push([buffer.end, call()]);
  expect(steps).toEqual([
    [2, ""],
    [3, ""],
    [3, ""],
    [5, ""],
    [7, "a"],
    [9, "b"],
  ]);
  expect(unsent.copyNext(buffer, 1)).toBe(true);
  expect([unsent.isEmpty, call()]).toEqual([false, ""]);
  expect(taken(buffer, 100)).toEqual(Buffer.from(numbered(10)));
  for (const one of unsent.clear()) one();
  expect([done, unsent.isEmpty, unsent.clear()]).toEqual([["c"], true, []]);
});

test("UnsentWrites.clear returns the done callbacks of all writes, also of copied writes", () => {
  const unsent = new UnsentWrites();
  const done: string[] = [];
  unsent.add([numbered(1)], () => done.push("a"));
  unsent.add([numbered(1)], () => done.push("b"));
  unsent.copyNext(new ResendBuffer(), 10);
  for (const one of unsent.clear()) one();
  expect([done, unsent.isEmpty]).toEqual([["a", "b"], true]);
});

test("a write without bytes completes, and no segment is sent for it", () => {
  const unsent = new UnsentWrites();
  const buffer = new ResendBuffer();
  let done = 0;
  unsent.add([new Uint8Array(0)], () => done++);
  expect(unsent.copyNext(buffer, 10)).toBe(true);
  for (const one of unsent.takeDone()) one();
  const chunks: Uint8Array[] = [];
  expect([buffer.takeSegment(chunks, 10), chunks, done]).toEqual([0, [], 1]);
});

test("limits of resumable links must be whole numbers of at least 1", () => {
  expect(resumableLimits()).toEqual(defaultResumableLimits);
  expect(resumableLimits({ ackMs: 1 })).toEqual({ ...defaultResumableLimits, ackMs: 1 });
  for (const value of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(() => resumableLimits({ giveUpMs: value })).toThrow(
      new RangeError(`cannot limit a link: giveUpMs must be a whole number of at least 1, got ${value}`),
    );
  }
  expect(new ProtocolError("x").name).toBe("ProtocolError");
});
