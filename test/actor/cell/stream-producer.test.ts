/** These tests check the producing side of a stream: its items, its credit, its errors and its end. */
import { beforeEach, describe, expect, test } from "vitest";
import { StreamProducer } from "../../../runtime/actor/cell/stream-producer.js";
import type { Turn } from "../../../runtime/actor/cell/turn.js";
import { context } from "../../../runtime/actor/context.js";
import { ITEM_BYTES, Parts, settled } from "../parts.js";

let parts: Parts;
let ended: Turn[];
let cleaned: number;

beforeEach(() => {
  parts = new Parts();
  ended = [];
  cleaned = 0;
});

/** Starts a stream whose consumer grants credit for the given numbers of items and bytes. */
function start(handler: () => unknown, streamItems = 1000, streamBytes = 1e6) {
  const lane = parts.newLane("root", { streamItems, streamBytes });
  const turn = parts.turn(handler, { call: 7, stream: true, lane });
  const source = new StreamProducer(turn, { turnEnded: (over) => void ended.push(over) });
  source.start();
  const streams = lane.link.streams as unknown as Map<number, unknown>;
  return { turn, source, streams };
}

function* upTo(count: number): Generator<number> {
  try {
    for (let i = 0; i < count; i++) yield i;
  } finally {
    cleaned++;
  }
}

async function* laterUpTo(count: number): AsyncGenerator<number> {
  yield* upTo(count);
}

const items = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `item 7: ${from + i}`);

describe("the iterable that a handler returns", () => {
  test.each<[string, () => unknown]>([
    ["a generator", () => upTo(3)],
    ["an asynchronous generator", () => laterUpTo(3)],
    ["an array", () => [0, 1, 2]],
    ["a promise of an iterable", async () => [0, 1, 2]],
    ["an iterator without return", () => ({ [Symbol.iterator]: () => [0, 1, 2].values() })],
  ])("is sent from its first to its last item: %s", async (_, handler) => {
    const { turn, streams } = start(handler);
    await settled();
    expect(parts.told).toEqual([...items(0, 3), "end 7"]);
    expect([ended, turn.isEnded, streams.size]).toEqual([[turn], true, 0]);
  });

  test("is iterated asynchronously if it has both kinds of iterator", async () => {
    start(() => ({ [Symbol.asyncIterator]: () => laterUpTo(1), [Symbol.iterator]: () => upTo(5) }));
    await settled();
    expect(parts.told).toEqual([...items(0, 1), "end 7"]);
  });

  test.each<[string, unknown, string]>([
    ["nothing", undefined, "undefined"],
    ["null", null, "object"],
    ["a number", 5, "number"],
    ["an object", {}, "object"],
  ])("must not be %s: the consumer gets an error", (_, made, type) => {
    const { turn, streams } = start(() => made);
    expect(parts.told).toEqual([
      `error 7: thrown by counters[1]: cannot stream: expected an iterable from the handler, got ${type}, credited`,
    ]);
    expect([ended, turn.isEnded, streams.size]).toEqual([[turn], true, 0]);
  });
});

test("a generator runs in the context of its message, before and after it awaits", async () => {
  const seen: unknown[] = [];
  const { turn } = start(async function* () {
    seen.push(context());
    yield 1;
    await settled();
    seen.push(context());
  });
  while (ended.length === 0) await settled();
  expect(seen).toEqual([turn, turn]);
});

describe("the credit of a consumer", () => {
  test.each([
    ["generator", upTo],
    ["asynchronous generator", laterUpTo],
  ])("limits how many items the %s sends ahead", async (_, generator) => {
    const { source, streams, turn } = start(() => generator(5), 3);
    await settled();
    expect([parts.told, streams.get(7)]).toEqual([items(0, 3), source]);
    source.credited(1, ITEM_BYTES);
    await settled();
    expect(parts.told).toEqual(items(0, 4));
    source.credited(2, 2 * ITEM_BYTES);
    await settled();
    expect(parts.told).toEqual([...items(0, 5), "end 7"]);
    expect(ended).toEqual([turn]);
  });

  test("also limits the bytes: the item that exceeds the limit is sent, and no further one", () => {
    const { source } = start(() => upTo(5), 1000, ITEM_BYTES + 1);
    expect(parts.told).toEqual(items(0, 2));
    source.credited(2, ITEM_BYTES - 1);
    expect(parts.told).toEqual(items(0, 2));
    source.credited(0, 1);
    expect(parts.told).toEqual(items(0, 3));
  });

  test("has no effect if it arrives after the end of the stream", () => {
    const { source } = start(() => upTo(1));
    source.credited(10, 100);
    source.leave();
    expect([parts.told, ended.length, cleaned]).toEqual([[...items(0, 1), "end 7"], 1, 1]);
  });
});

test("the event loop turns after each 256 items that are sent without waiting", () => {
  start(() => upTo(600));
  for (const sent of [256, 512]) {
    expect(parts.told).toEqual(items(0, sent));
    expect(parts.clock.turn()).toBe(1);
  }
  expect(parts.told).toEqual([...items(0, 600), "end 7"]);
  expect(parts.clock.turn()).toBe(0);
});

test("no item is taken during the pause for the event loop, even if new credit arrives", () => {
  const { source } = start(() => upTo(600));
  source.credited(1, ITEM_BYTES);
  expect(parts.told).toEqual(items(0, 256));
});

describe("an error of a stream", () => {
  const failing: [string, () => unknown][] = [
    [
      "the handler throws",
      () => {
        throw new Error("broke");
      },
    ],
    ["the promise of the handler is rejected", () => Promise.reject(new Error("broke"))],
    ["the promise of the handler is one of no iterable", async () => ({ [Symbol.iterator]: () => failing[0]![1]() })],
    ["next throws", () => ({ [Symbol.iterator]: () => ({ next: () => failing[0]![1]() }) })],
    [
      "next is rejected",
      () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("broke")) }) }),
    ],
  ];

  test.each(failing)("reaches the consumer once: %s", async (_, handler) => {
    const { turn, streams } = start(handler);
    await settled();
    expect(parts.told).toEqual(["error 7: thrown by counters[1]: broke, credited"]);
    expect([ended, turn.isEnded, streams.size]).toEqual([[turn], true, 0]);
  });

  test("follows the items before it, and may be the thrown value undefined", () => {
    start(function* () {
      yield 0;
      throw undefined;
    });
    expect(parts.told).toEqual([...items(0, 1), "error 7: thrown by counters[1]: threw undefined, credited"]);
  });

  test.each([
    ["generator", upTo],
    ["asynchronous generator", laterUpTo],
  ])("closes the %s and reaches the consumer if a value cannot be encoded", async (_, generator) => {
    parts.refused.add(2);
    start(() => generator(5));
    await settled();
    expect(parts.told).toEqual([...items(0, 2), "error 7: thrown by counters[1]: cannot encode 2, credited"]);
    expect([cleaned, ended.length]).toEqual([1, 1]);
  });
});

describe("a consumer that leaves", () => {
  test.each([
    ["generator", upTo],
    ["asynchronous generator", laterUpTo],
  ])("makes the %s run its finally blocks, and then gets the end of the stream", async (_, generator) => {
    const { source, turn, streams } = start(() => generator(5), 2);
    await settled();
    source.leave();
    await settled();
    expect(parts.told).toEqual([...items(0, 2), "end 7"]);
    expect([cleaned, ended, streams.size]).toEqual([1, [turn], 0]);
    source.leave();
    await settled();
    expect(ended.length).toBe(1);
  });

  test("does not get a pending value, and the iterator is closed when that value arrives", async () => {
    let make: (step: unknown) => void = () => {};
    let returned = 0;
    const iterator = {
      next: () => new Promise((resolve) => (make = resolve)),
      return: () => void returned++,
    };
    const { source } = start(() => ({ [Symbol.asyncIterator]: () => iterator }));
    source.leave();
    await settled();
    expect([returned, ended.length]).toEqual([0, 0]);
    make({ done: false, value: 1 });
    await settled();
    expect([returned, ended.length, parts.told]).toEqual([1, 1, ["end 7"]]);
  });

  test("gets the end once the handler has returned its iterable, if it left before", async () => {
    let make: (made: unknown) => void = () => {};
    const { source } = start(() => new Promise((resolve) => (make = resolve)));
    source.leave();
    make(upTo(3));
    await settled();
    expect([parts.told, ended.length]).toEqual([["end 7"], 1]);
  });

  test.each<[string, object]>([
    ["has no return", {}],
    ["throws in return", { return: () => upTo.call(null, null as never).throw(new Error("in return")) }],
    ["rejects in return", { return: () => Promise.reject(new Error("in return")) }],
    ["waits in return", { return: () => settled() }],
  ])("gets the end of the stream if the iterator %s", async (_, more) => {
    const iterator = { next: () => ({ done: false, value: 1 }), ...more };
    const { source, turn } = start(() => ({ [Symbol.iterator]: () => iterator }), 1);
    source.leave();
    while (ended.length === 0) await settled();
    expect([parts.told, ended]).toEqual([["item 7: 1", "end 7"], [turn]]);
  });

  test("triggers one call of the iterator's return, even if it leaves twice and grants more credit", async () => {
    let release = () => {};
    let returned = 0;
    const cleanup = () => {
      returned++;
      return new Promise<void>((resolve) => (release = resolve));
    };
    const iterator = { next: () => ({ done: false, value: 1 }), return: cleanup };
    const { source } = start(() => ({ [Symbol.iterator]: () => iterator }), 1);
    source.leave();
    source.leave();
    source.credited(5, 50);
    expect([returned, ended.length]).toEqual([1, 0]);
    release();
    await settled();
    expect([returned, ended.length, parts.told]).toEqual([1, 1, ["item 7: 1", "end 7"]]);
  });

  test("triggers the iterator's return in the context of the message", async () => {
    let seen: unknown;
    const iterator = { next: () => ({ done: false, value: 1 }), return: () => (seen = context()) };
    const { source, turn } = start(() => ({ [Symbol.iterator]: () => iterator }), 1);
    source.leave();
    expect(seen).toBe(turn);
  });
});

test("a stream whose turn has already ended sends neither an end nor an error", async () => {
  const { source, turn } = start(() => upTo(5), 2);
  turn.end();
  source.leave();
  await settled();
  expect([parts.told, cleaned, ended]).toEqual([items(0, 2), 1, [turn]]);
});
