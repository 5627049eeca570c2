/** The results of a `map` that wait for the consumer. */
import { describe, expect, test } from "vitest";
import { MapItem, MapResults } from "../../../../runtime/actor/call/map/map-results.js";

function taken(results: MapResults, count: number): MapItem[] {
  const items = Array.from({ length: count }, (_, index) => new MapItem(index));
  for (const item of items) results.add(item);
  return items;
}

function takeAll(results: MapResults): unknown[] {
  const all: unknown[] = [];
  for (let next = results.take(); next !== undefined; next = results.take()) all.push(next.item);
  return all;
}

describe.each([
  ["in order", true],
  ["as they arrive", false],
])("results %s", (_, isOrdered) => {
  test("are outstanding until they are taken, and can all be discarded", () => {
    const results = new MapResults(isOrdered);
    const [first, second] = taken(results, 3) as [MapItem, MapItem];
    results.answered(first, "one");
    results.answered(second, "two");
    expect(results.take()).toBe(first);
    expect([first.value, results.outstanding]).toEqual(["one", 2]);
    results.clear();
    expect([results.outstanding, results.take()]).toEqual([0, undefined]);
  });

  test("that have arrived can be taken when the others are given up", () => {
    const results = new MapResults(isOrdered);
    const items = taken(results, 5);
    for (const index of [1, 3]) results.answered(items[index]!, index);
    results.giveUpUnanswered();
    expect(results.outstanding).toBe(2);
    expect(takeAll(results)).toEqual([1, 3]);
    expect(results.outstanding).toBe(0);
  });
});

test("results in order wait for the first one", () => {
  const results = new MapResults(true);
  const items = taken(results, 2);
  results.answered(items[1]!, "later");
  expect(results.take()).toBe(undefined);
  results.answered(items[0]!, "first");
  expect(takeAll(results)).toEqual([0, 1]);
});
