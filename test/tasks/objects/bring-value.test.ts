/** Values that come in pieces, from sources that fail. */
import { expect, test } from "vitest";
import { crc32 } from "../../../runtime/proc/checkpoint/crc32.js";
import { bringValue, type PieceSource } from "../../../runtime/tasks/objects/bring-value.js";
import { bytesOfHeld, type HeldValue } from "../../../runtime/tasks/objects/held-value.js";
import type { IncomingValue } from "../../../runtime/tasks/objects/incoming-value.js";
import { PIECE_BYTES, pieceOf } from "../../../runtime/tasks/objects/pieces.js";

const size = 5 * PIECE_BYTES + 17;
const value = new Uint8Array(size).map((_, i) => (i * 31 + (i >> 12)) & 0xff);

const isWhole = (held: HeldValue) => Buffer.from(bytesOfHeld(held)).equals(value);

interface Timer {
  readonly ms: number;
  readonly run: () => void;
  isCancelled: boolean;
}

/** Brings the value from sources, one after the other. Returns what was read from each. */
function bring(sources: readonly PieceSource["read"][], begun?: (incoming: IncomingValue) => void) {
  const read: number[][] = [];
  const timers: Timer[] = [];
  let next = 0;
  const bringing = bringValue({
    label: "load",
    clock: {
      now: () => 0,
      epochMs: () => 0,
      nextTurn: queueMicrotask,
      after: (ms, run) => {
        const timer: Timer = { ms, run, isCancelled: false };
        timers.push(timer);
        return { cancel: () => (timer.isCancelled = true) };
      },
    },
    source: async () => {
      const source = sources[Math.min(next++, sources.length - 1)]!;
      const pieces: number[] = [];
      read.push(pieces);
      return {
        size,
        head: size,
        read: (index) => {
          pieces.push(index);
          return source(index);
        },
      };
    },
    keeper: undefined,
    ...(begun && { begun }),
  });
  return { bringing, read, timers };
}

const whole = async (index: number) => pieceOf(value, index);

/** Returns a source that fails from a piece on. */
const failingFrom = (first: number, text: string) => async (index: number) => {
  if (index >= first) throw new Error(text);
  return pieceOf(value, index);
};

test("all pieces come from one source, a few at a time", async () => {
  const { bringing, read } = bring([whole]);
  expect(isWhole(await bringing)).toBe(true);
  expect(read).toEqual([[0, 1, 2, 3, 4, 5]]);
});

test("another source gives the rest when one fails", async () => {
  const { bringing, read } = bring([failingFrom(2, "it has ended"), whole]);
  expect(isWhole(await bringing)).toBe(true);
  expect(read[1]).toEqual([2, 3, 4, 5]);
});

test("a damaged piece, and one of a wrong size, are read again from another source", async () => {
  const damaged = async (index: number) => {
    const { bytes, sum } = pieceOf(value, index);
    const copy = bytes.slice();
    copy[3]! ^= 1;
    return { bytes: copy, sum };
  };
  const short = async (index: number) => {
    const bytes = pieceOf(value, index).bytes.slice(1);
    return { bytes, sum: crc32(bytes) };
  };
  const { bringing, read } = bring([damaged, short, whole]);
  expect(isWhole(await bringing)).toBe(true);
  expect(read.map(([first]) => first)).toEqual([0, 0, 0]);
});

test("a value whose sources all fail is lost, with the last reason", async () => {
  const { bringing, read } = bring([failingFrom(0, "no such value")]);
  await expect(bringing).rejects.toThrow(
    "cannot read the result of load: 5 tries to read it from other processes have failed, the last one because of this: no such value",
  );
  expect(read.length).toBe(5);
});

test("a source that is silent is left", async () => {
  const { bringing, read, timers } = bring([() => new Promise(() => {}), whole]);
  await new Promise(setImmediate);
  expect(timers.filter(({ isCancelled }) => !isCancelled).map(({ ms }) => ms)).toEqual([30_000]);
  timers[0]!.run();
  expect(isWhole(await bringing)).toBe(true);
  expect(read[1]![0]).toBe(0);
});

test("pieces are passed on while others are on their way", async () => {
  let incoming!: IncomingValue;
  const waiting: (() => void)[] = [];
  const slowly = async (index: number) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return pieceOf(value, index);
  };
  const { bringing } = bring([slowly], (begun) => (incoming = begun));
  await new Promise(setImmediate);
  const third = incoming.piece(2);
  for (let i = 0; i < 4; i++) waiting[i]!();
  expect((await third).sum).toEqual(pieceOf(value, 2).sum);
  expect(incoming.received).toBeLessThan(incoming.count);
  await new Promise(setImmediate);
  for (const go of waiting) go();
  await bringing;
  expect((await incoming.piece(5)).bytes).toEqual(pieceOf(value, 5).bytes);
});

test("who waits for a piece of a value that does not come learns why", async () => {
  let incoming!: IncomingValue;
  const { bringing } = bring([failingFrom(1, "no such value")], (begun) => (incoming = begun));
  bringing.catch(() => {});
  await new Promise(setImmediate);
  await expect(incoming.piece(3)).rejects.toThrow("the last one because of this: no such value");
  await expect(bringing).rejects.toThrow("no such value");
});
