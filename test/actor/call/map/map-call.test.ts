/** Calls of `map`: what ends them, which actor makes them, and what follows a full send window or a restart. */
import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Actor } from "../../../../runtime/actor/actor.js";
import type { Endpoint } from "../../../../runtime/actor/call/endpoint.js";
import { context } from "../../../../runtime/actor/context.js";
import { type ActorError, BackpressureError, TimeoutError } from "../../../../runtime/actor/errors.js";
import { type ActorMesh, viewOf } from "../../../../runtime/actor/mesh/actor-mesh.js";
import type { MeshKind } from "../../../../runtime/actor/mesh-kind.js";
import type { LinkLimits } from "../../../../runtime/link/link-limits.js";
import { codec } from "../../../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../../../runtime/wire/descriptor.js";
import { delay, until } from "../../counter.js";
import { settled } from "../../parts.js";
import { World } from "../../world.js";

const none = defineArgs(codec.tuple(), 0, 0);
const worker = defineActor({
  key: "test/map-call#Worker",
  name: "Worker",
  id: 32,
  fingerprint: 0x32n,
  args: () => none,
  endpoints: () => ({
    work: { id: 1, args: defineArgs(codec.tuple(codec.int32), 1, 1), result: codec.int32, idempotent: true },
    map: { id: 2, args: none },
  }),
});

interface WorkerKind extends MeshKind {
  readonly mesh: Workers<this["dims"]>;
}
interface Workers<D extends string = string> extends ActorMesh<WorkerKind, D> {
  readonly work: Endpoint<[n: number], number, D>;
  readonly map: Endpoint<[], void, D>;
}

/** What the handlers do with each number, and what they have seen. */
let work: (n: number) => number | Promise<number>;
let handled: { readonly n: number; readonly rank: number; readonly caller: string }[];
/** What the handler of `map` does. */
let mapping: () => Promise<void>;

class Worker extends Actor {
  static override readonly descriptor = worker;
  declare readonly $kind: WorkerKind;

  work(n: number): number | Promise<number> {
    const { actor, caller } = context();
    handled.push({ n, rank: actor.rank.rank, caller: caller.name });
    return work(n);
  }

  map(): Promise<void> {
    return mapping();
  }
}

let world: World;
let workers: Workers<"gpus">;

function open(limits: Partial<LinkLimits> = {}, size = 4): void {
  world = new World(limits);
  const procs = Array.from({ length: size }, (_, rank) => world.proc(`p${rank}`));
  workers = world.spawn("workers", Worker, [], procs);
}
const spawnMain = () => world.spawn<typeof Worker, never>("main", Worker, [], [world.proc("m")], {}) as Workers<never>;

beforeEach(() => {
  open();
  work = (n) => n;
  handled = [];
});
afterEach(() => world.close());

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);
const never = () => new Promise<number>(() => {});

async function collect<T>(results: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const result of results) all.push(result);
  return all;
}
const failure = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => new Error("no error"),
    (error) => error,
  );

/** An asynchronous source that delivers what the test gives it, and notes that it was closed. */
class ControlledItems implements AsyncIterableIterator<number> {
  closed = 0;
  deliver: (n: number) => void = () => {};

  [Symbol.asyncIterator](): this {
    return this;
  }
  next(): Promise<IteratorResult<number>> {
    return new Promise((resolve) => {
      this.deliver = (value) => resolve({ done: false, value });
    });
  }
  async return(): Promise<IteratorResult<number>> {
    this.closed++;
    return { done: true, value: undefined };
  }
}

describe("a full send window", () => {
  beforeEach(() => {
    world.close();
    open({ creditMessages: 2, sendWindowMessages: 3 }, 1);
  });

  test("delays items until answers arrive, and each item is handled once and in order", async () => {
    work = async (n) => {
      await delay(0);
      return n;
    };
    const results = await collect(workers.work.map(upTo(200), { inFlight: 64 }));
    expect(results.map(([item]) => item)).toEqual(upTo(200));
    expect(handled.map(({ n }) => n)).toEqual(upTo(200));
  });

  test("ends the map if other calls of the sender fill it, because no answer of the map makes room", async () => {
    work = never;
    const one = workers.slice({ gpus: 0 });
    for (let i = 0; i < 5; i++) one.work.callOne(i).catch(() => {});
    expect(await failure(collect(workers.work.map([7])))).toBeInstanceOf(BackpressureError);
  });

  test("is not confused with an item of a wrong type, which ends the map although calls are under way", async () => {
    work = never;
    const error = await failure(collect(workers.work.map([1, "x" as never], { inFlight: 2 })));
    expect(error.message).toContain('invalid int32: expected an integer from -2147483648 to 2147483647, got "x"');
  });
});

describe("a map", () => {
  test("without order has at most four results for each place that were not taken", async () => {
    function* endless() {
      for (let n = 0; ; n++) yield n;
    }
    const results = workers.work.map(endless(), { inFlight: 3, ordered: false });
    await results.next();
    const most = 4 * 3 * 4;
    await until("the window is full again", () => handled.length === most + 1);
    await delay(10);
    expect(handled).toHaveLength(most + 1);
    await results.return!();
  });

  test.each([
    ["a number", 9],
    ["options", { attempts: 9 }],
  ])("makes as many attempts as with({ retry }) of the endpoint says, as %s", async (_, retry) => {
    let calls = 0;
    work = (n) => (++calls < 4 ? never() : n);
    // The handler of an abandoned call goes on, so each attempt needs another actor.
    const patient = workers.work.with({ timeout: 60, retry });
    expect(await collect(patient.map([5], { inFlight: 1 }))).toEqual([[5, 5]]);
    expect(calls).toBeGreaterThanOrEqual(4);
    work = never;
    expect(await failure(collect(patient.map([5], { retry: 1 })))).toBeInstanceOf(TimeoutError);
  });

  test("gives its items to a rank that was down once that rank is back", async () => {
    const target = viewOf(workers as unknown as ActorMesh).target(2);
    target.markDown();
    const results = collect(workers.slice({ gpus: 2 }).work.map([1, 2]));
    await settled();
    expect(handled).toEqual([]);
    target.markBack();
    expect(await results).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  test("makes its calls as the actor that has created it, although another one takes the results", async () => {
    const main = spawnMain();
    let results: AsyncIterableIterator<[number, number]> | undefined;
    mapping = async () => {
      results = workers.work.map([1, 2, 3]);
    };
    await main.map.callOne();
    expect(await collect(results!)).toHaveLength(3);
    expect(new Set(handled.map(({ caller }) => caller))).toEqual(new Set(["main[0]"]));
  });
});

describe("a map ends", () => {
  test("with the timeout of its endpoint, if nothing can be sent in time", async () => {
    expect(await failure(collect(workers.work.with({ timeout: 0 }).map([1])))).toEqual(
      expect.objectContaining({ message: "cannot call workers.work: no answer within 0 ms" }),
    );
    expect(handled).toEqual([]);
  });

  test("with the reason of the signal of its endpoint", async () => {
    work = never;
    const controller = new AbortController();
    const results = failure(collect(workers.work.with({ signal: controller.signal }).map([1, 2])));
    await until("both are under way", () => handled.length === 2);
    const gone = new Error("no longer needed");
    controller.abort(gone);
    expect(await results).toBe(gone);
  });

  test("with its first error, and listens to its signal no longer", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const first = new Error("first");
    const results = workers.work.map([1], {
      signal,
      onProgress: () => {
        controller.abort(first);
        throw new Error("second");
      },
    });
    expect((await results.next()).value).toEqual([1, 1]);
    expect(await failure(results.next())).toBe(first);
    expect(await results.next()).toEqual({ done: true, value: undefined });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("without a listener on its signal when all results are taken or the loop is left, even before its start", async () => {
    const { signal } = new AbortController();
    const finished = workers.work.map([1, 2], { signal });
    expect((await finished.next()).value).toEqual([1, 1]);
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    await collect(finished);
    expect(getEventListeners(signal, "abort")).toEqual([]);
    const left = workers.work.map([1, 2], { signal });
    await left.return!();
    expect(await left.next()).toEqual({ done: true, value: undefined });
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(handled).toHaveLength(2);
  });

  test("at the end of an `await using` block", async () => {
    const items = new ControlledItems();
    const results = workers.work.map(items);
    const next = results.next();
    await (results as unknown as AsyncDisposable)[Symbol.asyncDispose]();
    expect([await next, items.closed]).toEqual([{ done: true, value: undefined }, 1]);
  });

  test("with errors of the user unchanged: only errors of calls have the items without an answer", async () => {
    const refused = new RangeError("refused");
    const args = () => {
      throw refused;
    };
    expect(await failure(collect(workers.work.map([1, 2], { args })))).toBe(refused);
    expect("pending" in refused).toBe(false);
    work = () => {
      throw new Error("no");
    };
    expect(((await failure(collect(workers.work.map([1], { inFlight: 1 })))) as ActorError).pending).toEqual([1]);
  });

  test("quietly for calls that are under way when mapSettled is left", async () => {
    const unhandled: unknown[] = [];
    const before = process.listeners("unhandledRejection");
    process.removeAllListeners("unhandledRejection");
    process.on("unhandledRejection", (error) => unhandled.push(error));
    try {
      work = (n) => (n === 0 ? 0 : never());
      const done: number[] = [];
      const results = workers.work.mapSettled(upTo(8), { onProgress: (progress) => done.push(progress.done) });
      await results.next();
      await until("all are under way", () => handled.length >= 4);
      await results.return!();
      await settled();
      await settled();
      expect([done, unhandled]).toEqual([[1], []]);
    } finally {
      process.removeAllListeners("unhandledRejection");
      for (const listener of before) process.on("unhandledRejection", listener);
    }
  });
});

describe("a map of a handler", () => {
  test("is given up when the caller gives up, also while it waits for its source", async () => {
    const items = new ControlledItems();
    mapping = async () => void (await collect(workers.work.map(items)));
    const call = spawnMain().map.callOne();
    await until("the source is read", () => items.deliver.length === 1);
    items.deliver(1);
    await until("the item is handled", () => handled.length === 1);
    call.cancel();
    await failure(call);
    await until("the source is closed", () => items.closed === 1);
  });

  test("names the chain of calls if the timeout of the caller ends it", async () => {
    work = never;
    let ended: Promise<Error> | undefined;
    mapping = async () => {
      ended = failure(collect(workers.work.map([1])));
      await ended;
    };
    await failure(spawnMain().map.with({ timeout: 30 }).callOne());
    expect((await ended!).message).toBe(
      "cannot call workers.work: the caller of map waits no longer: its time is over; " +
        "it waited in the chain root > main[0].map > workers.work",
    );
  });
});
