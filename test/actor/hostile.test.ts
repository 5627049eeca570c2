/**
 * User objects that misbehave while they are read: answers, errors, streams, and the results of `init`, `cleanup` and
 * `undeliverable`. Each causes an error of that call or actor only; the link, the process and its other actors go on.
 */
import { AsyncResource } from "node:async_hooks";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { context } from "../../runtime/actor/context.js";
import { ActorError } from "../../runtime/actor/errors.js";
import { Counter, type CounterMesh } from "./counter.js";
import { type TestProc, World } from "./world.js";

let world: World;
let there: TestProc;

beforeEach(() => {
  world = new World();
  there = world.proc("there");
});
afterEach(() => world.close());

/** Shortens a long text so that a test report can show the whole difference. */
const short = (text: string) =>
  text.length < 500 ? text : `${text.slice(0, 100)} (${text.length}) ${text.slice(-100)}`;

/** The method name as a variable, because a linter reports a literal `then` property as a mistake. */
const then: string = "then";

const boom = (): never => {
  throw new Error("boom");
};
const failure = (call: PromiseLike<unknown>): Promise<Error> =>
  Promise.resolve(call).then(
    (value) => {
      throw new Error(`expected an error, got ${String(value)}`);
    },
    (error) => error,
  );

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable(new Error("revoked"), {});
  revoke();
  return proxy;
}

const allTraps = (target: object): object =>
  new Proxy(target, new Proxy({}, { get: () => boom }) as ProxyHandler<object>);

function errorWith(property: string, value: PropertyDescriptor): Error {
  return Object.defineProperty(new Error("hostile"), property, value);
}

function circle(): Error {
  const error = new Error("round");
  error.cause = new Error("and round", { cause: error });
  return error;
}

/** Spawns an actor whose `value` runs the function of a test, and a neighbour in the same process. */
function spawn(value: (this: Counter) => unknown, more: object = {}) {
  class Trickster extends Counter {
    override value(): number {
      return value.call(this) as number;
    }
  }
  Object.assign(Trickster.prototype, more);
  const one = world.spawn<typeof Trickster, never>("trickster", Trickster, [0], [there], {});
  const neighbour = world.spawn<typeof Counter, never>("neighbour", Counter, [7], [there], {});
  return { one: one as CounterMesh<never>, neighbour: neighbour as CounterMesh<never> };
}

/** Checks that both actors still answer correctly, and that no other event was reported. */
async function unharmed({ one, neighbour }: ReturnType<typeof spawn>): Promise<void> {
  expect(await one.bytes.callOne(new Uint8Array([1, 2]))).toEqual(new Uint8Array([1, 2]));
  expect(await neighbour.value.callOne()).toBe(7);
  expect(there.events.filter(({ kind }) => kind !== "started")).toEqual([]);
  expect(world.root.events).toEqual([]);
}

describe("an answer", () => {
  const answers: Record<string, () => unknown> = {
    "whose then throws": () => ({ [then]: boom }),
    "whose then is a getter that throws": () => Object.defineProperty({}, then, { get: boom }),
    "that is a proxy whose traps throw": () => allTraps({}),
    "that is a proxy that was revoked": revoked,
    "that is a proxy of a promise": () => new Proxy(Promise.resolve(1), {}),
    "that is a promise whose constructor throws": () =>
      Object.defineProperty(Promise.resolve(1), "constructor", { get: boom }),
    "that is a promise whose then throws": () => Object.assign(Promise.resolve(1), { [then]: boom }),
    "whose then rejects, and then answers": () => ({
      [then](resolve: (value: number) => void, reject: (error: Error) => void) {
        reject(new Error("boom"));
        resolve(1);
      },
    }),
    "that is a function with a then that throws": () => Object.assign(() => 1, { [then]: boom }),
    "that is an object which throws when it is printed": () => ({ toString: boom, [Symbol.toPrimitive]: boom }),
    "that is a promise of one whose then throws": () => Promise.resolve<unknown>({ [then]: boom }),
  };

  test.each(Object.entries(answers))("%s rejects its call with an ActorError", async (_, value) => {
    const actors = spawn(value);
    const [error, next] = await Promise.all([failure(actors.one.value.callOne()), actors.one.sleep.callOne(1)]);
    expect(error).toBeInstanceOf(ActorError);
    expect(next).toBe(1);
    await unharmed(actors);
  });

  test("that resolves several times is taken once, and does not answer another call", async () => {
    const actors = spawn(() => ({
      [then](resolve: (value: number) => void) {
        resolve(1);
        resolve(2);
        setTimeout(() => resolve(3), 1);
        boom();
      },
    }));
    const { one } = actors;
    const slow = [
      one.value.callOne(),
      one.sleep.callOne(50),
      one.value.callOne(),
      one.bytes.callOne(new Uint8Array(3)),
    ];
    expect(await Promise.all(slow)).toEqual([1, 50, 1, new Uint8Array(3)]);
    await unharmed(actors);
  });

  test("whose then calls context() gets the context of its call", async () => {
    const actors = spawn(() => ({
      [then](resolve: (value: number) => void) {
        setTimeout(() => resolve(context().caller.name === "root" ? context().rank.rank : -1), 1);
      },
    }));
    expect(await actors.one.value.callOne()).toBe(0);
    await unharmed(actors);
  });

  test("whose getters send over the same link arrives intact, and so do the sent messages", async () => {
    const others = world.spawn<typeof Counter, never>("others", Counter, [0], [world.root], {}) as CounterMesh<never>;
    const sent: PromiseLike<unknown>[] = [];
    const sneaky = (rank: number) => {
      // The getter runs outside of the handler, so it is bound here to send as the actor over its link.
      const send = AsyncResource.bind(() => {
        sent.push(others.note.broadcast(`${rank}`, 0), others.bytes.callOne(new Uint8Array(200_000).fill(rank)));
        return rank;
      });
      return Object.defineProperty(plain(0), "rank", { get: send });
    };
    const plain = (rank: number) => ({ rank, point: "p".repeat(300), actor: "a", caller: "c" });
    let calls = 0;
    class Sneak extends Counter {
      override where() {
        return sneaky(++calls);
      }
      override async *whereStream() {
        yield sneaky(100);
        yield sneaky(101);
      }
    }
    const one = world.spawn<typeof Sneak, never>("sneak", Sneak, [0], [there], {}) as CounterMesh<never>;
    const answers = await Promise.all([one.where.callOne(), one.where.callOne(), one.value.callOne()]);
    expect(answers).toEqual([plain(1), plain(2), 0]);
    const items = [];
    for await (const [, item] of one.whereStream.stream()) items.push(item);
    expect(items).toEqual([plain(100), plain(101)]);
    const echoes = (await Promise.all(sent)).filter((value) => value instanceof Uint8Array);
    expect(echoes.map((bytes) => [bytes.length, bytes[0]])).toEqual([1, 2, 100, 101].map((rank) => [200_000, rank]));
    expect((await others.log.callOne()).filter((line) => line.startsWith("+"))).toEqual(["+1", "+2", "+100", "+101"]);
  });

  test("whose getters send before it is refused does not lose the sent message", async () => {
    const others = world.spawn<typeof Counter, never>("others", Counter, [0], [world.root], {}) as CounterMesh<never>;
    class Sneak extends Counter {
      override where() {
        const send = AsyncResource.bind(() => {
          others.note.broadcast("sent", 0);
          return 1;
        });
        return Object.defineProperty({ rank: 0, point: boom as never, actor: "a", caller: "c" }, "rank", { get: send });
      }
    }
    const one = world.spawn<typeof Sneak, never>("sneak", Sneak, [0], [there], {}) as CounterMesh<never>;
    expect(await failure(one.where.callOne())).toBeInstanceOf(ActorError);
    expect(await one.value.callOne()).toBe(0);
    expect(await others.log.callOne()).toContain("+sent");
  });
});

describe("a thrown value", () => {
  const thrown: Record<string, readonly [make: () => unknown, message: string]> = {
    "is undefined": [() => undefined, "threw undefined"],
    "is null": [() => null, "threw null"],
    "is a text": [() => "text", 'threw "text"'],
    "is a symbol": [() => Symbol("s"), "threw Symbol(s)"],
    "is an object that cannot be printed": [() => Object.create(null), "threw an object that cannot be printed"],
    "is an object that throws when it is printed": [
      () => ({ toString: boom, [Symbol.toPrimitive]: boom }),
      "threw an object that cannot be printed",
    ],
    "is a proxy that was revoked": [revoked, "threw an object that cannot be printed"],
    "is a proxy whose traps throw": [() => allTraps(new Error("x")), "threw an object that cannot be printed"],
    "has a message that throws": [() => errorWith("message", { get: boom }), "threw an error that cannot be read"],
    "has a message that throws what throws": [
      () => {
        const inner = errorWith("message", { get: boom });
        return errorWith("message", {
          get() {
            throw inner;
          },
        });
      },
      "threw an error that cannot be read",
    ],
    "has a name that is an object which throws": [() => errorWith("name", { value: { toString: boom } }), "hostile"],
    "has a name that is a symbol": [() => errorWith("name", { value: Symbol("s") }), "hostile"],
    "has a stack that throws": [() => errorWith("stack", { get: boom }), "hostile"],
    "has a stack that is no text": [() => errorWith("stack", { value: 7 }), "hostile"],
    "has a cause that throws": [() => errorWith("cause", { get: boom }), "hostile"],
    "has itself as a cause": [circle, "round"],
    "has a cause that was revoked": [() => new Error("hostile", { cause: revoked() }), "hostile"],
    "has a very long message": [
      () => new Error("x".repeat(100_000_000)),
      `${"x".repeat(65536)}… (100000000 characters)`,
    ],
  };

  test.each(Object.entries(thrown))("that %s rejects its call, and the actor lives on", async (_, [make, message]) => {
    const actors = spawn(() => {
      throw make();
    });
    const error = await failure(actors.one.value.callOne());
    expect(error).toBeInstanceOf(ActorError);
    expect(short(error.message)).toBe(short(message));
    await unharmed(actors);
  });

  test.each(Object.entries(thrown))("that %s rejects its call after an await, too", async (_, [make, message]) => {
    const actors = spawn(async () => {
      await null;
      throw make();
    });
    const error = await failure(actors.one.value.callOne());
    expect(error).toBeInstanceOf(ActorError);
    expect(short(error.message)).toBe(short(message));
    await unharmed(actors);
  });

  test.each(Object.entries(thrown))("that %s in a broadcast fails only its actor", async (_, [make, message]) => {
    const cleaned: unknown[] = [];
    const { one, neighbour } = spawn(
      () => {
        throw make();
      },
      { cleanup: (error: unknown) => void cleaned.push(error) },
    );
    one.value.broadcast();
    const error = await failure(one.bytes.callOne(new Uint8Array(1)));
    expect(error.message.slice(0, 65536)).toContain(message.slice(0, 60_000));
    expect(await neighbour.value.callOne()).toBe(7);
    expect(there.failures()).toHaveLength(1);
    expect(cleaned).toHaveLength(1);
  });

  test.each(Object.entries(thrown))("that %s rejects the read of a stream", async (_, [make, message]) => {
    const actors = spawn(() => 0, {
      // biome-ignore lint/correctness/useYield: it throws before
      async *failingStream() {
        throw make();
      },
    });
    const error = await failure(actors.one.failingStream.stream(0).next());
    expect(error).toBeInstanceOf(ActorError);
    expect(short(error.message)).toBe(short(message));
    await unharmed(actors);
  });
});

describe("a stream", () => {
  const made: Record<string, () => unknown> = {
    "whose iterator cannot be asked for": () => Object.defineProperty({}, Symbol.asyncIterator, { get: boom }),
    "that is a proxy that was revoked": revoked,
    "whose next throws": () => ({ [Symbol.asyncIterator]: () => ({ next: boom }) }),
    "whose next is a getter that throws": () => ({
      [Symbol.asyncIterator]: () => Object.defineProperty({}, "next", { get: boom }),
    }),
    "whose next returns a then that throws": () => ({
      [Symbol.asyncIterator]: () => ({ next: () => ({ [then]: boom }) }),
    }),
    "whose step cannot be read": () => ({
      [Symbol.asyncIterator]: () => ({ next: async () => Object.defineProperty({}, "done", { get: boom }) }),
    }),
    "whose next returns nothing": () => ({ [Symbol.asyncIterator]: () => ({ next: () => undefined }) }),
    "whose then is another one each time": () => {
      let asked = 0;
      return {
        [Symbol.iterator]: () => ({
          next: () => Object.defineProperty({ done: false, value: boom }, then, { get: () => (asked++ ? boom : 0) }),
        }),
      };
    },
  };

  test.each(Object.entries(made))("%s rejects the first read with an ActorError", async (_, watch) => {
    const actors = spawn(() => 0, { watch });
    expect(await failure(actors.one.watch.stream(1).next())).toBeInstanceOf(ActorError);
    await unharmed(actors);
  });

  test.each([
    ["throws", boom],
    ["is a getter that throws", undefined],
    ["returns a then that throws", () => ({ [then]: boom })],
  ])("whose return method %s can still be left without an error", async (_, back) => {
    const iterator = { next: async () => ({ done: false, value: 1 }) };
    Object.defineProperty(iterator, "return", back === undefined ? { get: boom } : { value: back });
    const actors = spawn(() => 0, { watch: () => ({ [Symbol.asyncIterator]: () => iterator }) });
    for await (const _item of actors.one.watch.stream(1)) break;
    await unharmed(actors);
  });
});

describe("an actor", () => {
  test("whose endpoint is a getter that needs the instance answers calls", async () => {
    const seen = new WeakSet<object>();
    class Bound extends Counter {
      constructor(initial: number) {
        super(initial);
        seen.add(this);
      }
    }
    Object.defineProperty(Bound.prototype, "sleep", {
      get() {
        return seen.has(this) ? (ms: number) => ms : boom();
      },
    });
    const one = world.spawn<typeof Bound, never>("bound", Bound, [0], [there], {}) as CounterMesh<never>;
    expect(await one.sleep.callOne(3)).toBe(3);
  });

  const parts: Record<string, unknown> = {
    "throws what throws": () => {
      throw revoked();
    },
    "returns a then that throws": () => ({ [then]: boom }),
    "is a getter that throws": Object.getOwnPropertyDescriptor(Object.defineProperty({}, "x", { get: boom }), "x"),
  };
  const define = (name: string, part: unknown) => {
    class Part extends Counter {}
    const property = typeof part === "function" ? { value: part } : (part as PropertyDescriptor);
    Object.defineProperty(Part.prototype, name, property);
    return Part;
  };

  test.each(Object.entries(parts))("whose init %s fails, and calls to it reject with the cause", async (_, part) => {
    const one = world.spawn<typeof Counter, never>("one", define("init", part), [0], [there], {}) as CounterMesh<never>;
    expect((await failure(one.value.callOne())).message).toMatch(
      /has failed: (Error: boom|threw an object that cannot)/,
    );
    const neighbour = world.spawn<typeof Counter, never>("neighbour", Counter, [7], [there], {}) as CounterMesh<never>;
    expect(await neighbour.value.callOne()).toBe(7);
    expect(there.failures().map(({ kind }) => kind)).toEqual(["init"]);
  });

  test.each(Object.entries(parts))("whose cleanup %s is stopped, and the failure is reported", async (_, part) => {
    const one = world.spawn<typeof Counter, never>(
      "one",
      define("cleanup", part),
      [0],
      [there],
      {},
    ) as CounterMesh<never>;
    await one.value.callOne();
    await world.stop(there, [...there.proc.cells()].at(-1)!.mesh);
    expect(there.events.map(({ kind }) => kind)).toEqual(["started", "cleanupFailed"]);
  });

  test.each(Object.entries(parts))("whose undeliverable method %s does not harm its neighbour", async (name, part) => {
    const target = world.spawn<typeof Counter, never>("target", Counter, [0], [world.root], {}) as CounterMesh<never>;
    await target.value.callOne();
    const Part = define("undeliverable", part);
    class Sender extends Part {
      override increment(): void {
        target.fail.broadcast("enough");
        target.note.broadcast("comes back", 0);
      }
    }
    const one = world.spawn<typeof Sender, never>("one", Sender, [0], [there], {}) as CounterMesh<never>;
    const neighbour = world.spawn<typeof Counter, never>("neighbour", Counter, [7], [there], {}) as CounterMesh<never>;
    await one.increment.callOne();
    for (let i = 0; i < 20; i++) await neighbour.value.callOne();
    expect(await neighbour.value.callOne()).toBe(7);
    // The runtime ignores the value that `undeliverable` returns.
    expect(there.failures().map(({ kind }) => kind)).toEqual(name.startsWith("returns") ? [] : ["message"]);
  });
});
