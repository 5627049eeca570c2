/**
 * Tests of the sending half of a link: frames are sent in batches and in order, with their blocks, as fast as the pipe
 * accepts them.
 */
import { expect, test } from "vitest";
import { coreContention } from "../../../runtime/link/core-contention.js";
import { beginFrame, FrameKind, HEADER_BYTES } from "../../../runtime/link/frame/frame.js";
import { CONTENDED_FLUSH_BYTES, FLUSH_BYTES, Outbox } from "../../../runtime/link/outbound/outbox.js";
import type { Pipe } from "../../../runtime/link/transport/pipe.js";

/** A pipe that records the frames of each write, and completes a write when the test says so. */
function slowPipe() {
  const writes: string[][] = [];
  const done: (() => void)[] = [];
  const pipe = {
    write: (chunks: readonly Uint8Array[], taken: () => void) => {
      expect(chunks.filter(({ length }) => length === 0)).toEqual([]);
      writes.push(framesIn(Buffer.concat(chunks)));
      done.push(taken);
    },
  } as Pipe;
  return { pipe, writes: () => writes.splice(0), took: () => done.shift()!(), waiting: () => done.length };
}

/** Describes frames by their kind, `a` and body, and blocks and pieces by their size. */
function framesIn(bytes: Buffer): string[] {
  const found: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32LE(at);
    const kind = bytes.readUInt32LE(at + 4) & 0xff;
    const body = bytes.subarray(at + HEADER_BYTES, at + length);
    const end = at + ((length + 7) & ~7);
    expect([end <= bytes.length, new Set(bytes.subarray(at + length, end)).size <= 1]).toEqual([true, true]);
    if (kind === FrameKind.piece) found.push(`piece ${body.length}`);
    else if (kind === FrameKind.block) found.push(`block ${body.length}`);
    else found.push(`${kind} ${bytes.readUInt32LE(at + 8)} ${body.length > 20 ? body.length : [...body].join()}`);
    at = end;
  }
  return found;
}

function frame(
  outbox: Outbox,
  kind: number,
  a: number,
  body: readonly number[] = [],
  blocks: readonly Uint8Array[] = [],
): void {
  const w = outbox.writer;
  const at = beginFrame(w, kind, a, 0);
  const start = w.reserve(body.length);
  w.bytes.set(body, start);
  w.blocks.push(...blocks);
  outbox.commit(at);
}

const sized = (outbox: Outbox, a: number, size: number) => frame(outbox, FrameKind.message, a, Array(size).fill(0));

const tick = () => new Promise((resolve) => setImmediate(resolve));

function attached() {
  const made = slowPipe();
  const outbox = new Outbox(2048);
  outbox.attach(made.pipe);
  return { outbox, ...made };
}

test("frames that were written before the pipe exists are sent when the pipe is attached", async () => {
  const { pipe, writes } = slowPipe();
  const outbox = new Outbox(2048);
  frame(outbox, FrameKind.message, 1, [1]);
  await tick();
  expect(outbox.unsentBytes).toBe(HEADER_BYTES + 8);
  outbox.attach(pipe);
  expect([writes(), outbox.unsentBytes]).toEqual([[["6 1 1"]], 0]);
});

test("frames of one tick are sent together at its end, and a large batch is sent at once", async () => {
  const { outbox, writes } = attached();
  frame(outbox, FrameKind.message, 1, [1]);
  frame(outbox, FrameKind.message, 2, [2]);
  expect(writes()).toEqual([]);
  await tick();
  expect(writes()).toEqual([["6 1 1", "6 2 2"]]);
  sized(outbox, 1, FLUSH_BYTES - HEADER_BYTES - 8);
  expect(writes()).toEqual([]);
  frame(outbox, FrameKind.message, 2, []);
  expect(writes()).toEqual([[`6 1 ${FLUSH_BYTES - HEADER_BYTES - 8}`, "6 2 "]]);
  await tick();
  expect(writes()).toEqual([]);
});

test("a slow pipe gets two batches, and then one batch of all further frames when a write completes", async () => {
  const { outbox, writes, took } = attached();
  for (const a of [1, 2, 3, 4]) {
    frame(outbox, FrameKind.message, a);
    await tick();
  }
  expect([writes(), outbox.unsentBytes]).toEqual([[["6 1 "], ["6 2 "]], 2 * HEADER_BYTES]);
  took();
  expect([writes(), outbox.unsentBytes]).toEqual([[["6 3 ", "6 4 "]], 0]);
  took();
  took();
  await tick();
  expect(writes()).toEqual([]);
  frame(outbox, FrameKind.message, 5);
  await tick();
  expect(writes()).toEqual([["6 5 "]]);
});

test("blocks are sent before their frame, with padding and without copying", async () => {
  const { outbox, writes } = attached();
  frame(outbox, FrameKind.message, 1, [1]);
  frame(outbox, FrameKind.message, 2, [2], [new Uint8Array(13).fill(7), new Uint8Array(16)]);
  frame(outbox, FrameKind.message, 3, [3]);
  expect(outbox.unsentBytes).toBe(3 * (HEADER_BYTES + 8) + 2 * HEADER_BYTES + 16 + 16);
  await tick();
  expect(writes()).toEqual([["6 1 1", "block 13", "block 16", "6 2 2", "6 3 3"]]);
  const block = new Uint8Array(32);
  frame(outbox, FrameKind.message, 1, [1], [block]);
  const chunks: Uint8Array[] = [];
  outbox.attach({ write: (given: readonly Uint8Array[]) => chunks.push(...given) } as unknown as Pipe);
  expect(chunks.some((chunk) => chunk === block)).toBe(true);
});

test("a frame with very large blocks is overtaken by frames of other lanes, but not of its own lane", async () => {
  const { outbox, writes, took } = attached();
  frame(outbox, FrameKind.message, 1, [1], [new Uint8Array(400 * 1024)]);
  frame(outbox, FrameKind.message, 2, [2]);
  frame(outbox, FrameKind.message, 1, [3]);
  frame(outbox, FrameKind.reply, 1, [4]);
  await tick();
  const [first, second] = writes();
  expect(first).toEqual(["6 2 2", "7 1 4", `piece ${256 * 1024}`]);
  expect(second).toEqual([`piece ${144 * 1024}`, "block 0", "6 1 1", "6 1 3"]);
  expect(outbox.unsentBytes).toBe(0);
  took();
  took();
  frame(outbox, FrameKind.message, 1, [5]);
  await tick();
  expect(writes()).toEqual([["6 1 5"]]);
});

test("blocks just below the size of very large blocks are sent whole in the batch", async () => {
  const { outbox, writes } = attached();
  frame(outbox, FrameKind.message, 1, [1], [new Uint8Array(256 * 1024 - 8), new Uint8Array(7)]);
  await tick();
  expect(writes()).toEqual([[`block ${256 * 1024 - 8}`, "block 7", "6 1 1"]]);
});

test("a message on an ordered lane waits behind very large blocks, and all later frames wait too", async () => {
  const { outbox, writes } = attached();
  outbox.orderedLanes.add(9);
  frame(outbox, FrameKind.message, 1, [1], [new Uint8Array(300 * 1024)]);
  frame(outbox, FrameKind.message, 9, [2]);
  frame(outbox, FrameKind.message, 2, [3]);
  frame(outbox, FrameKind.reply, 9, [4]);
  await tick();
  expect(writes().flat()).toEqual([
    `piece ${256 * 1024}`,
    `piece ${44 * 1024}`,
    "block 0",
    "6 1 1",
    "6 9 2",
    "6 2 3",
    "7 9 4",
  ]);
});

test("frames that the getters of a value send are sent before the frame of the value", async () => {
  const { outbox, writes } = attached();
  const outer = outbox.writer;
  const at = beginFrame(outer, FrameKind.message, 1, 0);
  outbox.beginValue();
  const second = outbox.writer;
  frame(outbox, FrameKind.message, 2, [2], [new Uint8Array(8)]);
  const inner = beginFrame(second, FrameKind.message, 3, 0);
  outbox.beginValue();
  frame(outbox, FrameKind.message, 4, [4]);
  outbox.endValue(second);
  outbox.commit(inner);
  outbox.flush();
  await tick();
  expect(writes()).toEqual([]);
  outbox.endValue(outer);
  outbox.commit(at);
  frame(outbox, FrameKind.message, 5);
  await tick();
  expect(writes().flat()).toEqual(["block 8", "6 2 2", "6 4 4", "6 3 ", "6 1 ", "6 5 "]);
});

test("frames that the getters of a value send are sent even if the value is refused", async () => {
  const { outbox, writes } = attached();
  const outer = outbox.writer;
  const at = beginFrame(outer, FrameKind.message, 1, 0);
  outbox.beginValue();
  frame(outbox, FrameKind.message, 2, [2]);
  outbox.endValue(outer);
  outer.restore(at, 0);
  await tick();
  expect(writes()).toEqual([["6 2 2"]]);
});

test("an outbox that has ended sends nothing more and drops waiting frames", async () => {
  const { outbox, writes, took } = attached();
  for (const a of [1, 2, 3]) {
    frame(outbox, FrameKind.message, a, [], [new Uint8Array(300 * 1024)]);
    await tick();
  }
  writes();
  outbox.end();
  expect(outbox.unsentBytes).toBe(0);
  took();
  took();
  frame(outbox, FrameKind.message, 4);
  frame(outbox, FrameKind.message, 5, [], [new Uint8Array(300 * 1024)]);
  await tick();
  expect([writes(), outbox.unsentBytes]).toEqual([[], 0]);
});

test("`finish` calls back once, when all frames have been handed to the pipe", async () => {
  const { outbox, writes, took } = attached();
  let finished = 0;
  outbox.finish(() => finished++);
  expect(finished).toBe(1);
  for (const a of [1, 2, 3]) {
    frame(outbox, FrameKind.message, a);
    await tick();
  }
  outbox.finish(() => finished++);
  expect(finished).toBe(1);
  writes();
  took();
  expect([writes(), finished]).toEqual([[["6 3 "]], 2]);
  took();
  expect(finished).toBe(2);
  const { pipe } = slowPipe();
  const early = new Outbox(2048);
  early.finish(() => finished++);
  expect(finished).toBe(2);
  early.attach(pipe);
  expect(finished).toBe(3);
  const ended = new Outbox(2048);
  frame(ended, FrameKind.message, 1);
  ended.end();
  ended.finish(() => finished++);
  expect(finished).toBe(4);
});

test("`finish` does not call back while a value is being encoded", async () => {
  const { outbox, writes } = attached();
  const outer = outbox.writer;
  const at = beginFrame(outer, FrameKind.message, 1, 0);
  outbox.beginValue();
  let finished = 0;
  outbox.finish(() => finished++);
  expect(finished).toBe(0);
  outbox.endValue(outer);
  outbox.commit(at);
  await tick();
  expect(writes()).toEqual([["6 1 "]]);
});

test("a thread that waits for its core sends larger batches", () => {
  coreContention.isContended = true;
  try {
    const { outbox, writes } = attached();
    sized(outbox, 1, FLUSH_BYTES - HEADER_BYTES);
    sized(outbox, 2, CONTENDED_FLUSH_BYTES - FLUSH_BYTES - HEADER_BYTES - 8);
    expect(writes()).toEqual([]);
    frame(outbox, FrameKind.message, 3, []);
    expect(writes().flat()).toHaveLength(3);
  } finally {
    coreContention.isContended = false;
  }
});

test("a batch of exactly the size limit is sent at once, and a smaller batch at the end of the tick", async () => {
  const { outbox, writes } = attached();
  sized(outbox, 1, FLUSH_BYTES - HEADER_BYTES);
  expect(writes().flat()).toEqual([`6 1 ${FLUSH_BYTES - HEADER_BYTES}`]);
  sized(outbox, 1, 40 * 1024);
  frame(outbox, FrameKind.message, 2, [2], [new Uint8Array(8)]);
  frame(outbox, FrameKind.message, 3, [3]);
  expect(writes()).toEqual([]);
  await tick();
  expect(writes()).toEqual([[`6 1 ${40 * 1024}`, "block 8", "6 2 2", "6 3 3"]]);
});

test("the completion of a write does not send the next batch before the end of its tick", async () => {
  const { outbox, writes, took } = attached();
  frame(outbox, FrameKind.message, 1);
  await tick();
  writes();
  frame(outbox, FrameKind.message, 2);
  took();
  frame(outbox, FrameKind.message, 3);
  expect(writes()).toEqual([]);
  await tick();
  expect(writes()).toEqual([["6 2 ", "6 3 "]]);
});

test("blocks of exactly the size of very large blocks are sent in pieces, and the remaining pieces wait", async () => {
  const { outbox, writes, took } = attached();
  frame(outbox, FrameKind.message, 1, [1], [new Uint8Array(256 * 1024)]);
  frame(outbox, FrameKind.message, 2, [2], [new Uint8Array(900 * 1024)]);
  await tick();
  const pieces = [`piece ${256 * 1024}`, `piece ${256 * 1024}`];
  expect(writes().flat()).toEqual([pieces[0], "block 0", "6 1 1", `piece ${256 * 1024 - HEADER_BYTES - 8}`]);
  expect(outbox.unsentBytes).toBe(900 * 1024 - (256 * 1024 - HEADER_BYTES - 8) + HEADER_BYTES + 8);
  took();
  took();
  while (outbox.unsentBytes > 0) took();
  expect(writes().flat().slice(0, 2)).toEqual(pieces);
});

test("an answer overtakes very large blocks even if its call has the number of an ordered lane", async () => {
  const { outbox, writes } = attached();
  outbox.orderedLanes.add(9);
  frame(outbox, FrameKind.message, 1, [1], [new Uint8Array(300 * 1024)]);
  frame(outbox, FrameKind.reply, 9, [2]);
  await tick();
  expect(writes()[0]).toEqual(["7 9 2", `piece ${256 * 1024}`]);
});

test("a pipe that completes every write at once gets all pieces of a very large block", async () => {
  const outbox = new Outbox(2048);
  const writes: string[] = [];
  outbox.attach({
    write: (chunks: readonly Uint8Array[], taken: () => void) => {
      writes.push(...framesIn(Buffer.concat(chunks)));
      taken();
    },
  } as Pipe);
  frame(outbox, FrameKind.message, 1, [1], [new Uint8Array(600 * 1024)]);
  await tick();
  expect([writes, outbox.unsentBytes]).toEqual([
    [`piece ${256 * 1024}`, `piece ${256 * 1024}`, `piece ${88 * 1024}`, "block 0", "6 1 1"],
    0,
  ]);
});

test("a pipe that can write at once gets batches so, and what it does not take as the next write", async () => {
  const { pipe, writes, took } = slowPipe();
  const now: string[] = [];
  let room = 1000;
  pipe.writeNow = (bytes, length) => {
    const taken = Math.min(room, length);
    now.push(Buffer.from(bytes.subarray(0, taken)).toString("hex"));
    return taken;
  };
  const outbox = new Outbox(2048);
  outbox.attach(pipe);
  frame(outbox, FrameKind.message, 1, [1]);
  frame(outbox, FrameKind.message, 2, [2]);
  await tick();
  expect(now.splice(0).flatMap((hex) => framesIn(Buffer.from(hex, "hex")))).toEqual(["6 1 1", "6 2 2"]);
  expect([writes(), outbox.unsentBytes]).toEqual([[], 0]);
  // The pipe takes the first frame and no more, so that the rest is again whole frames.
  room = HEADER_BYTES + 8;
  frame(outbox, FrameKind.message, 3, [3]);
  frame(outbox, FrameKind.message, 4, [4]);
  await tick();
  expect(now.splice(0).flatMap((hex) => framesIn(Buffer.from(hex, "hex")))).toEqual(["6 3 3"]);
  expect([writes(), outbox.unsentBytes]).toEqual([[["6 4 4"]], 0]);
  took();
  // A long batch is one write, too. Blocks are not copied into a batch.
  room = Number.POSITIVE_INFINITY;
  sized(outbox, 5, FLUSH_BYTES);
  expect(now.splice(0).flatMap((hex) => framesIn(Buffer.from(hex, "hex")))).toEqual([`6 5 ${FLUSH_BYTES}`]);
  frame(outbox, FrameKind.message, 6, [], [new Uint8Array(8)]);
  await tick();
  expect([now, writes()]).toEqual([[], [["block 8", "6 6 "]]]);
});

test("`finish` calls back after a batch that the pipe has written at once", async () => {
  const outbox = new Outbox(2048);
  const order: string[] = [];
  const writeNow = (_: Uint8Array, length: number) => {
    order.push("written");
    return length;
  };
  outbox.attach({ writeNow } as Partial<Pipe> as Pipe);
  frame(outbox, FrameKind.message, 1);
  outbox.finish(() => order.push("finished"));
  expect(order).toEqual(["written", "finished"]);
});
