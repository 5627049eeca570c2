/** `byKey`: which actor a key belongs to, what the handler sees, and which keys are refused. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { context } from "../../../runtime/actor/context.js";
import { viewOf } from "../../../runtime/actor/mesh/actor-mesh.js";
import { range } from "../../../runtime/shape/index.js";
import { Counter, type CounterMesh } from "../counter.js";
import { type TestProc, World } from "../world.js";

let keysSeen: (string | undefined)[];

class KeyedCounter extends Counter {
  override value(): number {
    keysSeen.push(context().key);
    return context().actor.rank.rank;
  }
}

let world: World;
let procs: TestProc[];
let counters: CounterMesh<"gpus">;

beforeEach(() => {
  world = new World();
  procs = Array.from({ length: 8 }, (_, i) => world.proc(`p${i}`));
  counters = world.spawn("counters", KeyedCounter, [3], procs) as CounterMesh<"gpus">;
  keysSeen = [];
});
afterEach(() => world.close());

const keys = Array.from({ length: 4000 }, (_, i) => `user-${i}`);
const rankOf = (mesh: CounterMesh, key: string) => viewOf(mesh.byKey(key) as never).target(0).rank;
const markDown = (rank: number) =>
  viewOf(counters as never)
    .target(rank)
    .markDown();

describe("the rank of a key", () => {
  test("is the same each time, and the keys are spread evenly", () => {
    const counts = Array(8).fill(0);
    for (const key of keys) {
      expect(rankOf(counters, key)).toBe(rankOf(counters, key));
      counts[rankOf(counters, key)]++;
    }
    // The standard deviation of each count is 21.
    for (const count of counts) expect(Math.abs(count - 500)).toBeLessThan(110);
  });

  test("does not depend on the process or the version: the keys of these ranks are part of the contract", () => {
    const some = ["k", "ké", "kuser-1", "kuser-2", "k日本"];
    expect(some.map((key) => rankOf(counters, key))).toEqual([2, 3, 1, 1, 1]);
  });

  test("moves when its actor is down, and only then; it returns with the actor", () => {
    const before = keys.map((key) => rankOf(counters, key));
    markDown(3);
    const meanwhile = keys.map((key) => rankOf(counters, key));
    const moved = keys.filter((_, i) => before[i] !== meanwhile[i]);
    expect(moved).toEqual(keys.filter((_, i) => before[i] === 3));
    expect(new Set(meanwhile)).toEqual(new Set([0, 1, 2, 4, 5, 6, 7]));
    viewOf(counters as never)
      .target(3)
      .markBack();
    expect(keys.map((key) => rankOf(counters, key))).toEqual(before);
  });

  test("is that of the whole mesh in each slice that has its actor", () => {
    const upper = counters.slice({ gpus: range(4, 8) });
    for (const key of keys.slice(0, 200)) {
      const whole = rankOf(counters, key);
      if (whole >= 4) expect(rankOf(upper as CounterMesh, key)).toBe(whole);
    }
  });

  test("without any living actor is the usual one", () => {
    const usual = rankOf(counters, "x");
    for (let rank = 0; rank < 8; rank++) markDown(rank).markLost();
    expect(rankOf(counters, "x")).toBe(usual);
  });
});

describe("the handler", () => {
  test("sees the key, and a mesh without dimensions", async () => {
    const one = counters.byKey("käse 🧀");
    expect(one.extent).toEqual({});
    expect(await one.value.callOne()).toBe(rankOf(counters, "käse 🧀"));
    await counters.byKey("x".repeat(1024)).value.with({ timeout: 60_000 }).callOne();
    expect(keysSeen).toEqual(["käse 🧀", "x".repeat(1024)]);
  });

  test("sees no key where the sender has used none, and the property throws outside of handlers", async () => {
    await counters.value.call();
    expect(keysSeen).toEqual(Array(8).fill(undefined));
    expect(() => context().key).toThrow(
      "cannot read context().key: expected a handler of a message, got code outside of one",
    );
  });
});

test("keys that are empty, too long, no text or no Unicode are refused", () => {
  const failed = 'cannot find the actor of a key in mesh "counters": expected a';
  expect(() => counters.byKey("")).toThrow(
    new RangeError(`${failed} key of 1 to 1024 bytes, got an empty string; use a hash of long keys`),
  );
  expect(() => counters.byKey("x".repeat(1 << 20))).toThrow(
    new RangeError(`${failed} key of 1 to 1024 bytes, got 1048576; use a hash of long keys`),
  );
  expect(() => counters.byKey("é".repeat(513))).toThrow(
    new RangeError(`${failed} key of 1 to 1024 bytes, got 1026; use a hash of long keys`),
  );
  expect(() => counters.byKey(5 as never)).toThrow(new TypeError(`${failed} string as key, got 5`));
  expect(() => counters.byKey("a\ud800")).toThrow(
    new TypeError(`${failed} key of whole characters, got half of a surrogate pair in "a\\ud800"`),
  );
});
