/** Tests that large blocks are sent in pieces between other frames, in order, and are assembled again. */
import { expect, test } from "vitest";
import { FrameKind, HEADER_BYTES, ProtocolError } from "../../../runtime/link/frame/frame.js";
import { BlockAssembler } from "../../../runtime/link/inbound/block-assembler.js";
import { BARRIER, BulkQueue, orderKeyOf } from "../../../runtime/link/outbound/bulk-queue.js";

const KiB = 1024;
const numbered = (size: number, from = 0) => Uint8Array.from({ length: size }, (_, i) => (from + i) & 0xff);

/** Describes a batch: pieces by their size, blocks by their origin, and frames by their kind. */
function describeBatch(chunks: readonly Uint8Array[]): string[] {
  const bytes = Buffer.concat(chunks);
  const found: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32LE(at);
    const kind = bytes.readUInt32LE(at + 4);
    if (kind === FrameKind.piece) found.push(`${length - HEADER_BYTES} of ${bytes.readUInt32LE(at + 12)}`);
    else found.push(kind === FrameKind.block ? `block ${bytes.readUInt32LE(at + 8)}` : `frame ${kind}`);
    at += (length + 7) & ~7;
  }
  return found;
}

function frame(kind: number, size = HEADER_BYTES): Uint8Array {
  const bytes = Buffer.alloc(size);
  bytes.writeUInt32LE(size, 0);
  bytes.writeUInt32LE(kind, 4);
  return bytes;
}

const batch = (bulk: BulkQueue): string[] => {
  const chunks: Uint8Array[] = [];
  bulk.takePieces(chunks);
  expect(chunks.filter(({ length }) => length === 0)).toEqual([]);
  return describeBatch(chunks);
};

test("blocks are sent in pieces of a batch's size, followed by their frame", () => {
  const bulk = new BulkQueue();
  expect([bulk.isEmpty, bulk.waitingBytes, batch(bulk)]).toEqual([true, 0, []]);
  bulk.add(1, frame(100), [numbered(300 * KiB), numbered(13)]);
  expect([bulk.isEmpty, bulk.waitingBytes]).toEqual([false, 300 * KiB + 13 + HEADER_BYTES]);
  expect(batch(bulk)).toEqual([`${256 * KiB} of ${300 * KiB}`]);
  expect(bulk.waitingBytes).toBe(44 * KiB + 13 + HEADER_BYTES);
  expect(batch(bulk)).toEqual([`${44 * KiB} of ${300 * KiB}`, "13 of 13", "block 1", "block 1", "frame 100"]);
  expect([bulk.isEmpty, bulk.waitingBytes]).toEqual([true, 0]);
});

test("several frames are sent one after another, as far as a batch has room", () => {
  const bulk = new BulkQueue();
  bulk.add(1, frame(100), [numbered(200 * KiB)]);
  bulk.add(2, frame(101), [numbered(200 * KiB)]);
  bulk.add(3, frame(102, 8 * KiB), []);
  const left = 56 * KiB - HEADER_BYTES;
  expect(batch(bulk)).toEqual([`${200 * KiB} of ${200 * KiB}`, "block 1", "frame 100", `${left} of ${200 * KiB}`]);
  expect(batch(bulk)).toEqual([`${200 * KiB - left} of ${200 * KiB}`, "block 1", "frame 101", "frame 102"]);
  expect(bulk.isEmpty).toBe(true);
});

test("pieces contain the bytes of their block, and the last piece is padded with zeros", () => {
  const bulk = new BulkQueue();
  const block = numbered(300 * KiB + 5);
  bulk.add(1, frame(100), [block]);
  const chunks: Uint8Array[] = [];
  while (!bulk.isEmpty) bulk.takePieces(chunks);
  const bytes = Buffer.concat(chunks);
  const second = HEADER_BYTES + 256 * KiB;
  const got = Buffer.concat([
    bytes.subarray(HEADER_BYTES, second),
    bytes.subarray(second + HEADER_BYTES, second + HEADER_BYTES + 44 * KiB + 5),
  ]);
  expect(Buffer.compare(got, block)).toBe(0);
  expect([...bytes.subarray(second + HEADER_BYTES + 44 * KiB + 5, second + HEADER_BYTES + 44 * KiB + 8)]).toEqual([
    0, 0, 0,
  ]);
});

test("a frame is queued behind queued frames of its key", () => {
  const bulk = new BulkQueue();
  bulk.add(1, frame(100), [numbered(8)]);
  bulk.add(1, frame(101), [numbered(256 * KiB)]);
  expect([bulk.mustWait(1), bulk.mustWait(2), bulk.mustWait(BARRIER)]).toEqual([true, false, true]);
  batch(bulk);
  expect([bulk.isEmpty, bulk.mustWait(1)]).toEqual([false, true]);
  batch(bulk);
  expect([bulk.isEmpty, bulk.mustWait(1), bulk.mustWait(2)]).toEqual([true, false, false]);
  bulk.add(BARRIER, frame(102), []);
  expect([bulk.mustWait(1), bulk.mustWait(2)]).toEqual([true, true]);
  batch(bulk);
  expect([bulk.isEmpty, bulk.mustWait(1)]).toEqual([true, false]);
});

test("messages are ordered within their lane, answers within their call, and barriers among all frames", () => {
  const lane = [FrameKind.message, FrameKind.bind, FrameKind.cancel];
  const answers = [FrameKind.reply, FrameKind.error, FrameKind.item, FrameKind.end];
  const free = [
    ...[FrameKind.credit, FrameKind.streamCredit, FrameKind.open, FrameKind.extent],
    ...[FrameKind.ask, FrameKind.tell, FrameKind.hold, FrameKind.relay],
  ];
  for (const kind of lane) expect(orderKeyOf(kind, 7)).toBe(7);
  for (const kind of answers) expect(orderKeyOf(kind, 7)).toBe(-8);
  for (const kind of free) expect(orderKeyOf(kind, 7)).toBe(Number.POSITIVE_INFINITY);
  const named = new Set<number>([...lane, ...answers, ...free]);
  for (const kind of Object.values(FrameKind)) if (!named.has(kind)) expect(orderKeyOf(kind, 7)).toBeNaN();
});

test("a block is assembled from pieces, in place or copied", () => {
  const pieces = new BlockAssembler(100);
  const bytes = numbered(20);
  pieces.pieceReceived(10, bytes, 2, 5, false);
  const place = pieces.memoryFor(10, 4);
  place.set([50, 51, 52, 53]);
  pieces.pieceReceived(10, place, 0, 4, true);
  expect(() => pieces.takeBlock()).toThrow(new ProtocolError("cannot read block: it has not come in pieces"));
  pieces.pieceReceived(10, bytes, 0, 3, false);
  pieces.pieceReceived(2, bytes, 7, 9, false);
  expect([[...pieces.takeBlock()], [...pieces.takeBlock()]]).toEqual([
    [2, 3, 4, 50, 51, 52, 53, 0, 1, 2],
    [7, 8],
  ]);
});

test.each([
  ["of another block", 11, 1, "expected 1 to 7 bytes of a block of 10, got 1 of one of 11"],
  ["without bytes", 10, 0, "expected 1 to 7 bytes of a block of 10, got 0 of one of 10"],
  ["that is too long", 10, 8, "expected 1 to 7 bytes of a block of 10, got 8 of one of 10"],
])("a piece %s is refused", (_, total, size, why) => {
  const pieces = new BlockAssembler(100);
  pieces.pieceReceived(10, numbered(3), 0, 3, false);
  expect(() => pieces.memoryFor(total, size)).toThrow(new ProtocolError(`cannot read piece: ${why}`));
  expect(pieces.memoryFor(10, 7).length).toBe(7);
});

test("the total size of the blocks that no message has taken is limited", () => {
  const pieces = new BlockAssembler(100);
  const tooMuch = (total: number) =>
    new ProtocolError(`cannot read piece: expected blocks of at most 100 bytes together, got one of ${total}`);
  expect(() => pieces.memoryFor(0, 1)).toThrow(tooMuch(0));
  expect(() => pieces.memoryFor(101, 1)).toThrow(tooMuch(101));
  pieces.pieceReceived(100, numbered(100), 0, 100, false);
  expect(() => pieces.memoryFor(1, 1)).toThrow(tooMuch(1));
  pieces.takeBlock();
  expect(pieces.memoryFor(100, 100).length).toBe(100);
});
