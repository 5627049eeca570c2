/** `map`: items are spread over the actors of a mesh, whatever happens to the actors, the source and the consumer. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Actor } from "../../../runtime/actor/actor.js";
import type { Endpoint } from "../../../runtime/actor/call/endpoint.js";
import { context } from "../../../runtime/actor/context.js";
import { ActorError, SupervisionError, TimeoutError } from "../../../runtime/actor/errors.js";
import { type ActorMesh, viewOf } from "../../../runtime/actor/mesh/actor-mesh.js";
import type { MeshKind } from "../../../runtime/actor/mesh-kind.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../../runtime/wire/descriptor.js";
import { delay, until } from "../counter.js";
import { type TestProc, World } from "../world.js";

const int = defineArgs(codec.tuple(codec.int32), 1, 1);

const squarerDescriptor = defineActor({
  key: "test/map#Squarer",
  name: "Squarer",
  id: 31,
  fingerprint: 0x31n,
  args: () => defineArgs(codec.tuple(), 0, 0),
  endpoints: () => ({
    square: { id: 1, args: int, result: codec.int32, idempotent: true },
    squareOnce: { id: 2, args: int, result: codec.int32 },
    multiply: { id: 3, args: defineArgs(codec.tuple(codec.int32, codec.int32), 2, 2), result: codec.int32 },
    squareAll: { id: 4, args: defineArgs(codec.tuple(codec.array(codec.int32)), 1, 1), result: codec.int32 },
  }),
});

interface SquarerKind extends MeshKind {
  readonly args: [];
  readonly mesh: SquarerMesh<this["dims"]>;
}

interface SquarerMesh<D extends string = string> extends ActorMesh<SquarerKind, D> {
  readonly square: Endpoint<[n: number], number, D>;
  readonly squareOnce: Endpoint<[n: number], number, D>;
  readonly multiply: Endpoint<[a: number, b: number], number, D>;
  readonly squareAll: Endpoint<[numbers: number[]], number, D>;
}

/** What the handlers do with each number, and what they have seen, by rank. */
let handle: (n: number, rank: number) => number | Promise<number>;
let handled: { readonly rank: number; readonly n: number }[];

class Squarer extends Actor {
  static override readonly descriptor = squarerDescriptor;
  declare readonly $kind: SquarerKind;

  square(n: number): number | Promise<number> {
    const rank = context().actor.rank.rank;
    handled.push({ rank, n });
    return handle(n, rank);
  }

  squareOnce(n: number): number | Promise<number> {
    return this.square(n);
  }

  multiply(a: number, b: number): number {
    return a * b;
  }

  async squareAll(numbers: number[]): Promise<number> {
    const others = (globalThis as { squarers?: SquarerMesh }).squarers!;
    let sum = 0;
    for await (const [, value] of others.square.map(numbers)) {
      expect(context().actor.name).toBe("main");
      sum += value;
    }
    return sum;
  }
}

let world: World;
let procs: TestProc[];
let squarers: SquarerMesh<"gpus">;

beforeEach(() => {
  world = new World();
  procs = ["a", "b", "c", "d"].map((name) => world.proc(name));
  squarers = world.spawn("squarers", Squarer, [], procs);
  handle = (n) => n * n;
  handled = [];
});
afterEach(() => world.close());

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);
const squaresUpTo = (count: number) => upTo(count).map((n) => [n, n * n]);

async function collect<T>(results: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const result of results) all.push(result);
  return all;
}

/** The results before the error that ends a loop, and the error. */
async function collectUntilError<T>(results: AsyncIterable<T>): Promise<{ before: T[]; error: Error }> {
  const before: T[] = [];
  try {
    for await (const result of results) before.push(result);
  } catch (error) {
    return { before, error: error as Error };
  }
  throw new Error("the loop has ended without an error");
}

describe("the results", () => {
  test("have the order of the items, and all ranks take part", async () => {
    expect(await collect(squarers.square.map(upTo(100)))).toEqual(squaresUpTo(100));
    expect(new Set(handled.map(({ rank }) => rank))).toEqual(new Set([0, 1, 2, 3]));
    expect(handled).toHaveLength(100);
  });

  test("come as they arrive without order, so that a slow item holds up nothing", async () => {
    let release: (value: number) => void = () => {};
    handle = (n) => (n === 0 ? new Promise((resolve) => (release = resolve)) : n * n);
    const seen: number[] = [];
    for await (const [item, value] of squarers.square.map(upTo(200), { inFlight: 1, ordered: false })) {
      seen.push(item);
      expect(value).toBe(item * item);
      if (seen.length === 199) release(0);
    }
    expect(seen.at(-1)).toBe(0);
    expect(seen.toSorted((a, b) => a - b)).toEqual(upTo(200));
  });

  test("in order wait for a slow item, and the source is read only a little ahead", async () => {
    let release: (value: number) => void = () => {};
    handle = (n) => (n === 0 ? new Promise((resolve) => (release = resolve)) : n * n);
    let taken = 0;
    function* source() {
      for (; taken < 3000; taken++) yield taken;
    }
    const results = squarers.square.map(source());
    const first = results.next();
    // One more item waits behind the slow one in the mailbox of its actor.
    await until("the window is full", () => handled.length === 1023);
    await delay(20);
    expect([taken, handled.length]).toEqual([1023, 1023]);
    release(0);
    expect((await first).value).toEqual([0, 0]);
    expect(await collect(results)).toEqual(squaresUpTo(3000).slice(1));
  });

  test("of sets, generators, asynchronous generators and empty sources", async () => {
    async function* source() {
      for (let i = 0; i < 50; i++) {
        if (i % 7 === 0) await delay(1);
        yield i;
      }
    }
    expect(await collect(squarers.square.map(source()))).toEqual(squaresUpTo(50));
    expect(await collect(squarers.square.map(new Set([3, 1])))).toEqual([
      [3, 9],
      [1, 1],
    ]);
    expect(await collect(squarers.square.map([]))).toEqual([]);
    expect(await collect(squarers.square.map((async function* () {})()))).toEqual([]);
  });

  test("of an endpoint with several arguments, and of items that are no arguments", async () => {
    const items = [{ id: "x", sides: [2, 3] as [number, number] }];
    const areas = squarers.multiply.map(items, { args: ({ sides }) => sides });
    expect(await collect(areas)).toEqual([[items[0], 6]]);
  });

  test("can be asked for several at a time", async () => {
    const results = squarers.square.map(upTo(3));
    const all = await Promise.all([results.next(), results.next(), results.next(), results.next(), results.next()]);
    expect(all.map(({ done, value }) => [done, value])).toEqual([
      [false, [0, 0]],
      [false, [1, 1]],
      [false, [2, 4]],
      [true, undefined],
      [true, undefined],
    ]);
  });
});

describe("back-pressure", () => {
  test("an actor has at most `inFlight` items, and an endless source is read as the results are taken", async () => {
    let taken = 0;
    function* endless() {
      for (;;) yield taken++;
    }
    const under = [0, 0, 0, 0];
    let most = 0;
    handle = async (n, rank) => {
      most = Math.max(most, ++under[rank]!);
      await delay(0);
      under[rank]!--;
      return n;
    };
    const results = squarers.square.map(endless(), { inFlight: 3, ordered: false });
    for (let i = 0; i < 40; i++) await results.next();
    await delay(20);
    expect(taken).toBeLessThanOrEqual(40 + 4 * 3 * 4);
    // The mailbox of an actor handles one message at a time; the others wait in it.
    expect(most).toBe(1);
    await results.return?.();
  });

  test("nothing is taken or sent before the first result is asked for", async () => {
    let taken = 0;
    const results = squarers.square.map(
      (function* () {
        taken++;
        yield 5;
      })(),
    );
    await delay(5);
    expect([taken, handled.length]).toEqual([0, 0]);
    expect((await results.next()).value).toEqual([5, 25]);
  });

  test("leaving the loop closes the source and cancels the calls under way", async () => {
    let closed = 0;
    const aborted: number[] = [];
    handle = (n) =>
      n < 2
        ? n
        : new Promise((resolve) => {
            const { signal } = context();
            signal.addEventListener("abort", () => {
              aborted.push(n);
              resolve(0);
            });
          });
    function* source() {
      try {
        for (let i = 0; ; i++) yield i;
      } finally {
        closed++;
      }
    }
    const results = squarers.square.map(source(), { inFlight: 1 });
    for await (const [item] of results) if (item === 1) break;
    await until("the calls are cancelled", () => aborted.length >= 3);
    expect(closed).toBe(1);
    expect(await results.next()).toEqual({ done: true, value: undefined });
  });
});

describe("errors", () => {
  test("of a handler end the loop after the results that have arrived; `pending` has the items without an answer", async () => {
    handle = (n) => {
      if (n === 5) throw new RangeError("five");
      return n > 5 ? new Promise(() => {}) : n * n;
    };
    const one = squarers.slice({ gpus: 0 });
    const { before, error } = await collectUntilError(one.square.map(upTo(10), { inFlight: 3 }));
    expect(before).toEqual(squaresUpTo(5));
    expect(error).toBeInstanceOf(ActorError);
    expect(error.message).toBe("five");
    expect((error as ActorError).pending).toEqual([5, 6, 7]);
  });

  test("of items are results of mapSettled, which goes on", async () => {
    handle = (n) => {
      if (n === 1) throw new RangeError("one");
      return n;
    };
    const outcomes = await collect(squarers.square.mapSettled(upTo(3)));
    expect(outcomes[0]).toEqual([0, { status: "fulfilled", value: 0 }]);
    expect(outcomes[1]).toEqual([1, { status: "rejected", reason: expect.any(ActorError) }]);
    expect(outcomes[2]).toEqual([2, { status: "fulfilled", value: 2 }]);
  });

  test("of the source end the loop after the answers of the items before", async () => {
    const thrown = new Error("the disk is gone");
    function* source() {
      yield 1;
      throw thrown;
    }
    async function* later() {
      yield 1;
      throw thrown;
    }
    for (const items of [source(), later()]) {
      const results = squarers.square.map(items);
      const { error } = await collectUntilError(results);
      expect(error).toBe(thrown);
      expect((await results.next()).done).toBe(true);
    }
  });

  test("of `args`, `onProgress` and wrong items end the loop", async () => {
    const refuse = () => {
      throw new Error("refused");
    };
    await expect(collect(squarers.square.map([1], { args: refuse }))).rejects.toThrow("refused");
    await expect(collect(squarers.square.map([1], { onProgress: refuse }))).rejects.toThrow("refused");
    await expect(collect(squarers.square.map(["x"] as never))).rejects.toThrow(
      'invalid int32: expected an integer from -2147483648 to 2147483647, got "x"',
    );
    await expect(collect(squarers.multiply.map([1] as never))).rejects.toThrow(
      "cannot call squarers.multiply: expected 2 arguments, got 1",
    );
  });

  test("of a timeout: the item goes to another actor, until its attempts are used up", async () => {
    const patient = squarers.square.with({ timeout: 30 });
    handle = (n, rank) => (rank === 0 ? new Promise(() => {}) : n * n);
    expect(await collect(patient.map(upTo(6), { inFlight: 1, retry: 9 }))).toEqual(squaresUpTo(6));
    handle = () => new Promise(() => {});
    const { error } = await collectUntilError(squarers.slice({ gpus: 1 }).square.with({ timeout: 30 }).map([1]));
    expect(error).toBeInstanceOf(TimeoutError);
    expect((error as TimeoutError).pending).toEqual([1]);
    expect(error.message).toMatch(/^cannot call squarers\.square: no answer within 30 ms/);
    expect(handled.filter(({ n, rank }) => n === 1 && rank === 1).length).toBeLessThanOrEqual(3);
  });

  test("an abort ends the loop by the reason of the signal, also before the first result is asked for", async () => {
    handle = () => new Promise(() => {});
    const gone = new Error("no longer needed");
    const controller = new AbortController();
    const results = collect(squarers.square.map(upTo(5), { signal: controller.signal }));
    await until("the items are sent", () => handled.length > 0);
    controller.abort(gone);
    await expect(results).rejects.toBe(gone);
    await expect(squarers.square.map([1], { signal: controller.signal }).next()).rejects.toBe(gone);
  });

  test("of a stopped mesh ends the loop", async () => {
    viewOf(squarers as never).record.stopReason = "enough";
    const { error } = await collectUntilError(squarers.square.map([1, 2]));
    expect(error).toBeInstanceOf(SupervisionError);
    expect(error.message).toBe('cannot call squarers.square on ranks 0, 1, 2, 3: mesh "squarers" was stopped: enough');
    expect((error as SupervisionError).pending).toEqual([1]);
  });

  test("are thrown at once for wrong options and items that are no iterable", () => {
    const { square, squareOnce } = squarers;
    expect(() => square.map(5 as never)).toThrow(
      new TypeError("cannot map squarers.square: expected an iterable of items, got 5"),
    );
    expect(() => square.map([], { inFlight: 0 })).toThrow(
      new RangeError("cannot map squarers.square: expected a whole number from 1 to 65536 for inFlight, got 0"),
    );
    expect(() => square.map([], { retry: 1.5 })).toThrow(
      new RangeError("cannot map squarers.square: expected a whole number of at least 1 for retry, got 1.5"),
    );
    expect(() => squareOnce.map([], { retry: 2 })).toThrow(
      new TypeError("cannot map squarers.squareOnce: it is not @idempotent, got retry"),
    );
    expect(() => square.map([], { ordered: 1 as never })).toThrow(
      new TypeError("cannot map squarers.square: expected true or false for ordered, got 1"),
    );
    expect(() => square.map([], { signal: {} as never })).toThrow(
      new TypeError("cannot map squarers.square: expected an AbortSignal for signal, got an object"),
    );
    expect(() => square.map([], { onProgress: 1 as never })).toThrow(
      new TypeError("cannot map squarers.square: expected a function for onProgress, got 1"),
    );
    expect(() => square.map([], { args: 1 as never })).toThrow(
      new TypeError("cannot map squarers.square: expected a function for args, got 1"),
    );
    expect(() => square.map([], { inflight: 1 } as never)).toThrow(
      new TypeError(
        "cannot map squarers.square: expected one of the options inFlight, ordered, retry, signal, onProgress, args, " +
          'got "inflight"',
      ),
    );
  });
});

describe("actors that fail", () => {
  const lose = (name: string) => {
    world.unreachable.add(name);
    for (const pipe of world.pipesOf(name)) pipe.destroy(new Error("its process has ended"));
  };

  test("give their items to others, and no item is lost or yielded twice", async () => {
    let lost = false;
    handle = async (n) => {
      await delay(0);
      return n * n;
    };
    const progress: number[] = [];
    const results = squarers.square.map(upTo(400), {
      onProgress: ({ done, retried }) => progress.push(done, retried),
    });
    const seen: [number, number][] = [];
    for await (const result of results) {
      seen.push(result);
      if (seen.length === 100 && !lost) {
        lost = true;
        lose("b");
      }
    }
    expect(seen).toEqual(squaresUpTo(400));
    expect(progress.at(-2)).toBe(400);
    expect(progress.at(-1)).toBeGreaterThan(0);
  });

  test("end the loop where the endpoint is not idempotent, and `pending` has the items without an answer", async () => {
    handle = (n, rank) => (rank === 1 ? new Promise(() => {}) : n * n);
    const results = collectUntilError(squarers.squareOnce.map(upTo(40), { inFlight: 1, ordered: false }));
    await until("rank 1 has an item", () => handled.some(({ rank }) => rank === 1));
    await until("the others have the rest", () => handled.length === 40);
    lose("b");
    const { before, error } = await results;
    expect(before).toHaveLength(39);
    expect(error).toBeInstanceOf(SupervisionError);
    expect(error.message).toMatch(/^cannot call squarers\.squareOnce on rank 1: /);
    const stuck = handled.find(({ rank }) => rank === 1)!.n;
    expect((error as SupervisionError).pending).toEqual([stuck]);
  });

  test("end the loop when none is left", async () => {
    handle = () => new Promise(() => {});
    const results = collectUntilError(squarers.square.map(upTo(40), { retry: 100 }));
    await until("all have items", () => new Set(handled.map(({ rank }) => rank)).size === 4);
    for (const name of ["a", "b", "c", "d"]) lose(name);
    // The owner of the mesh decides that no actor is restarted.
    for (let rank = 0; rank < 4; rank++)
      viewOf(squarers as never)
        .target(rank)
        .markDown()
        .markLost();
    const { error } = await results;
    expect(error).toBeInstanceOf(SupervisionError);
    expect(error.message).toBe(
      "cannot call squarers.square on ranks 0, 1, 2, 3: no actor is left that could take the items, " +
        "and none is being restarted",
    );
    expect((error as SupervisionError).pending!.length).toBeGreaterThan(0);
    expect((error as SupervisionError).actors).toEqual([0, 1, 2, 3].map((rank) => `squarers[${rank}]`));
  });
});

test("a map of a handler makes its calls as its actor, and is given up when the caller gives up", async () => {
  (globalThis as { squarers?: unknown }).squarers = squarers;
  const main = world.spawn("main", Squarer, [], [world.proc("e")]) as SquarerMesh<"gpus">;
  expect(await main.squareAll.callOne([1, 2, 3])).toBe(14);
  let aborted = 0;
  handle = () =>
    new Promise((resolve) => {
      context().signal.addEventListener("abort", () => {
        aborted++;
        resolve(0);
      });
    });
  const call = main.squareAll.callOne([1, 2, 3]);
  await until("the items are sent", () => handled.length === 6);
  call.cancel();
  await expect(call).rejects.toThrow("the call was cancelled");
  await until("the calls of the map are cancelled", () => aborted === 3);
});
