/** The producing side of a stream by itself: how far it goes, how it ends, and what the consumer is told. */
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

/** Starts a stream whose consumer has room for so much. */
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

describe("an iterable of any kind", () => {
  test.each<[string, () => unknown]>([
    ["a generator", () => upTo(3)],
    ["an asynchronous generator", () => laterUpTo(3)],
    ["an array", () => [0, 1, 2]],
    ["a promise of an iterable", async () => [0, 1, 2]],
    ["an iterator without return", () => ({ [Symbol.iterator]: () => [0, 1, 2].values() })],
  ])("is sent to its end: %s", async (_, handler) => {
    const { turn, streams } = start(handler);
    await settled();
    expect(parts.told).toEqual([...items(0, 3), "end 7"]);
    expect([ended, turn.isEnded, streams.size]).toEqual([[turn], true, 0]);
  });

  test("is taken asynchronously where it can be either way", async () => {
    start(() => ({ [Symbol.asyncIterator]: () => laterUpTo(1), [Symbol.iterator]: () => upTo(5) }));
    await settled();
    expect(parts.told).toEqual([...items(0, 1), "end 7"]);
  });

  test.each<[string, unknown, string]>([
    ["nothing", undefined, "undefined"],
    ["null", null, "object"],
    ["a number", 5, "number"],
    ["an object", {}, "object"],
  ])("is what a handler must return, not %s", (_, made, type) => {
    const { turn, streams } = start(() => made);
    expect(parts.told).toEqual([
      `error 7: thrown by counters[1]: cannot stream: expected an iterable from the handler, got ${type}, credited`,
    ]);
    expect([ended, turn.isEnded, streams.size]).toEqual([[turn], true, 0]);
  });
});

test("runs in the context of its message, before and after what it awaits", async () => {
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

describe("the consumer's room", () => {
  test.each([
    ["generator", upTo],
    ["asynchronous generator", laterUpTo],
  ])("bounds how many items of a %s are under way", async (_, generator) => {
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

  test("bounds how many bytes are, too: the item that goes beyond is the last", () => {
    const { source } = start(() => upTo(5), 1000, ITEM_BYTES + 1);
    expect(parts.told).toEqual(items(0, 2));
    source.credited(2, ITEM_BYTES - 1);
    expect(parts.told).toEqual(items(0, 2));
    source.credited(0, 1);
    expect(parts.told).toEqual(items(0, 3));
  });

  test("that is given back after the end changes nothing", () => {
    const { source } = start(() => upTo(1));
    source.credited(10, 100);
    source.leave();
    expect([parts.told, ended.length, cleaned]).toEqual([[...items(0, 1), "end 7"], 1, 1]);
  });
});

test("the event loop turns after 256 items that need no waiting", () => {
  start(() => upTo(600));
  for (const sent of [256, 512]) {
    expect(parts.told).toEqual(items(0, sent));
    expect(parts.clock.turn()).toBe(1);
  }
  expect(parts.told).toEqual([...items(0, 600), "end 7"]);
  expect(parts.clock.turn()).toBe(0);
});

test("nothing is taken while the event loop turns, whoever makes room", () => {
  const { source } = start(() => upTo(600));
  source.credited(1, ITEM_BYTES);
  expect(parts.told).toEqual(items(0, 256));
});

describe("what goes wrong", () => {
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

  test.each(failing)("is told to the consumer, once: %s", async (_, handler) => {
    const { turn, streams } = start(handler);
    await settled();
    expect(parts.told).toEqual(["error 7: thrown by counters[1]: broke, credited"]);
    expect([ended, turn.isEnded, streams.size]).toEqual([[turn], true, 0]);
  });

  test("follows the items before it, and may be undefined", () => {
    start(function* () {
      yield 0;
      throw undefined;
    });
    expect(parts.told).toEqual([...items(0, 1), "error 7: thrown by counters[1]: threw undefined, credited"]);
  });

  test.each([
    ["generator", upTo],
    ["asynchronous generator", laterUpTo],
  ])("is a value of another type: the %s is left, then the consumer is told", async (_, generator) => {
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
  ])("has the %s run its finally blocks, and is told of the end", async (_, generator) => {
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

  test("while a value is being made gets it no more, and the generator is left when it comes", async () => {
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

  test("before there is anything to iterate over ends it when there is", async () => {
    let make: (made: unknown) => void = () => {};
    const { source } = start(() => new Promise((resolve) => (make = resolve)));
    source.leave();
    make(upTo(3));
    await settled();
    expect([parts.told, ended.length]).toEqual([["end 7"], 1]);
  });

  test.each<[string, object]>([
    ["has no return", {}],
    ["throws in it", { return: () => upTo.call(null, null as never).throw(new Error("in return")) }],
    ["rejects it", { return: () => Promise.reject(new Error("in return")) }],
    ["takes its time in it", { return: () => settled() }],
  ])("gets the end of an iterator that %s", async (_, more) => {
    const iterator = { next: () => ({ done: false, value: 1 }), ...more };
    const { source, turn } = start(() => ({ [Symbol.iterator]: () => iterator }), 1);
    source.leave();
    while (ended.length === 0) await settled();
    expect([parts.told, ended]).toEqual([["item 7: 1", "end 7"], [turn]]);
  });

  test("leaves a generator while it cleans up, once", async () => {
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

  test("runs what the generator does last in its message's context", async () => {
    let seen: unknown;
    const iterator = { next: () => ({ done: false, value: 1 }), return: () => (seen = context()) };
    const { source, turn } = start(() => ({ [Symbol.iterator]: () => iterator }), 1);
    source.leave();
    expect(seen).toBe(turn);
  });
});

test("a message that was answered otherwise, because its actor has ended, is not answered again", async () => {
  const { source, turn } = start(() => upTo(5), 2);
  turn.end();
  source.leave();
  await settled();
  expect([parts.told, cleaned, ended]).toEqual([items(0, 2), 1, [turn]]);
});
