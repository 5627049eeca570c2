/**
 * Tests of the sending half of a link: frames are sent in batches and in order, with their blocks, as fast as the pipe
 * accepts them.
 */
import { expect, test } from "vitest";
import { beginFrame, FrameKind, HEADER_BYTES } from "../../../runtime/link/frame/frame.js";
import { FLUSH_BYTES, Outbox } from "../../../runtime/link/outbound/outbox.js";
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

test("what was written before there is a pipe goes out when there is one", async () => {
  const { pipe, writes } = slowPipe();
  const outbox = new Outbox(2048);
  frame(outbox, FrameKind.message, 1, [1]);
  await tick();
  expect(outbox.unsentBytes).toBe(HEADER_BYTES + 8);
  outbox.attach(pipe);
  expect([writes(), outbox.unsentBytes]).toEqual([[["6 1 1"]], 0]);
});

test("what is written in one tick goes out together at its end; a large batch goes at once", async () => {
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

test("two batches go ahead of a pipe that is slow; the rest goes as one when it has caught up", async () => {
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

test("blocks stand before their frame, padded, and are not copied", async () => {
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

test("a frame with very large blocks lets others pass, but not those of its lane", async () => {
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

test("what is just below that size goes with the batch", async () => {
  const { outbox, writes } = attached();
  frame(outbox, FrameKind.message, 1, [1], [new Uint8Array(256 * 1024 - 8), new Uint8Array(7)]);
  await tick();
  expect(writes()).toEqual([[`block ${256 * 1024 - 8}`, "block 7", "6 1 1"]]);
});

test("an order that comes after all that was sent before waits behind what is large, and holds up what follows", async () => {
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

test("what the getters of a value send goes out before the frame that the value is in", async () => {
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

test("what getters have sent goes out also when their value was refused", async () => {
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

test("nothing goes out after the end, and what waits is dropped", async () => {
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

test("whoever waits until all was handed to the pipe is told, once", async () => {
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

test("nobody is told that all was handed over while a value is being encoded", async () => {
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

test("a batch goes at once when it is exactly as large as it may be, and not because of what went before it", async () => {
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

test("a pipe that takes a batch early does not send the next one before the end of its tick", async () => {
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

test("blocks of exactly that size go in pieces, and what is left of them waits", async () => {
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

test("only messages come after all that was sent before: an answer whose call has the number of such a lane passes", async () => {
  const { outbox, writes } = attached();
  outbox.orderedLanes.add(9);
  frame(outbox, FrameKind.message, 1, [1], [new Uint8Array(300 * 1024)]);
  frame(outbox, FrameKind.reply, 9, [2]);
  await tick();
  expect(writes()[0]).toEqual(["7 9 2", `piece ${256 * 1024}`]);
});

test("a pipe that takes everything at once gets very large blocks whole", async () => {
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
