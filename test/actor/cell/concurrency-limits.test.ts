/** These tests check the limits of endpoints: which messages start, which ones wait, and in which order. */
import { beforeEach, expect, test } from "vitest";
import { ConcurrencyLimits } from "../../../runtime/actor/cell/concurrency-limits.js";
import type { Turn } from "../../../runtime/actor/cell/turn.js";
import type { EndpointDescriptor } from "../../../runtime/wire/descriptor.js";
import { Parts } from "../parts.js";

let parts: Parts;
let limits: ConcurrencyLimits;
beforeEach(() => {
  parts = new Parts();
  limits = new ConcurrencyLimits();
});

/** Creates messages of one endpoint with the given call numbers. */
const turns = (name: string, ...calls: number[]) => calls.map((call) => parts.turn(() => {}, { name, call }));
const waiting = () => limits.waiting.map(({ call }) => call);
const state = () => ({ length: limits.length, ready: limits.hasReady, waiting: waiting() });

test("messages start up to the limit of their endpoint, and the others wait in order", () => {
  const [a, b, c, d] = turns("two", 1, 2, 3, 4) as [Turn, Turn, Turn, Turn];
  expect([a, b, c, d].map((turn) => limits.admit(turn, 2))).toEqual([true, true, false, false]);
  expect(state()).toEqual({ length: 2, ready: false, waiting: [3, 4] });
  expect(limits.takeReady()).toBe(undefined);
});

test("a waiting message is ready once a running one has ended, until the waiting one starts", () => {
  const [a, b, c] = turns("one", 1, 2, 3) as [Turn, Turn, Turn];
  for (const turn of [a, b, c]) limits.admit(turn, 1);
  limits.turnEnded(a, 1);
  expect(state()).toEqual({ length: 2, ready: true, waiting: [2, 3] });
  expect(limits.takeReady()).toBe(b);
  expect(state()).toEqual({ length: 1, ready: true, waiting: [3] });
  expect(limits.admit(b, 1)).toBe(true);
  expect(state()).toEqual({ length: 1, ready: false, waiting: [3] });
});

test("no message is ready after the last waiting one is taken, even below the limit", () => {
  const [a, b, c] = turns("two", 1, 2, 3) as [Turn, Turn, Turn];
  for (const turn of [a, b, c]) limits.admit(turn, 2);
  limits.turnEnded(a, 2);
  limits.turnEnded(b, 2);
  expect(limits.takeReady()).toBe(c);
  expect([limits.admit(c, 2), limits.hasReady, limits.takeReady()]).toEqual([true, false, undefined]);
  limits.turnEnded(c, 2);
  expect(state()).toEqual({ length: 0, ready: false, waiting: [] });
});

test("a taken message that is not started leaves its place to the next waiting message", () => {
  const [a, b, c] = turns("one", 1, 2, 3) as [Turn, Turn, Turn];
  for (const turn of [a, b, c]) limits.admit(turn, 1);
  limits.turnEnded(a, 1);
  expect(limits.takeReady()).toBe(b);
  expect([limits.hasReady, limits.takeReady()]).toEqual([true, c]);
});

test("each endpoint has its own limit, which it shares with its variant that retains results", () => {
  const [a, b] = turns("one", 1, 2) as [Turn, Turn];
  const [other] = turns("other", 3) as [Turn];
  const kept = parts.turn(() => {}, { name: "one!", retains: { name: "one" } as EndpointDescriptor, call: 4 });
  expect([a, other, kept, b].map((turn) => limits.admit(turn, 1))).toEqual([true, true, false, false]);
  expect(waiting()).toEqual([4, 2]);
});

test("waiting messages keep their order while new messages arrive", () => {
  const seen: number[] = [];
  const first = turns("one", ...Array.from({ length: 100 }, (_, i) => i));
  for (const turn of first) limits.admit(turn, 1);
  let running = first[0]!;
  for (let next = 100; next < 150; next++) {
    limits.turnEnded(running, 1);
    running = limits.takeReady()!;
    seen.push(running.call);
    limits.admit(running, 1);
    limits.admit(turns("one", next)[0]!, 1);
    expect(waiting()).toEqual(Array.from({ length: 99 }, (_, i) => seen.length + 1 + i));
  }
  expect(seen).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
  expect(limits.length).toBe(99);
});
