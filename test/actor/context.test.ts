/** `context()` in callbacks of a handler returns the context of that handler, whatever code runs the callback. */
import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import { EventEmitter } from "node:events";
import { stat } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { callInTurn, context, currentCell, runInTurn, setMainRoot } from "../../runtime/actor/context.js";
import { Counter, type CounterMesh } from "./counter.js";
import { type TestProc, World } from "./world.js";

let world: World;
let there: TestProc;
let seen: string[];

beforeEach(() => {
  seen = [];
  world = new World();
  there = world.proc("there");
});
afterEach(() => world.close());

const look = (): void => {
  const { actor, rank, caller } = context();
  seen.push(`${actor.name}[${rank.rank}] called by ${caller.name}`);
};

class Watched extends Counter {
  override async untilAborted(): Promise<string> {
    const { signal } = context();
    signal.addEventListener("abort", look);
    this.begun = true;
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    look();
    return "aborted";
  }
}

const begun = async (): Promise<void> => {
  const has = () => [...there.proc.cells()].some(({ instance }) => (instance as Watched | undefined)?.begun);
  while (!has()) await new Promise((resolve) => setTimeout(resolve, 1));
};
const spawn = () => world.spawn<typeof Watched, never>("watched", Watched, [0], [there], {}) as CounterMesh<never>;

describe("a handler's abort listener on its own signal", () => {
  test.each(["cancelled", "timed out", "left by its caller's process", "stopped"])(
    "has the context of the handler's call when that call is %s",
    async (how) => {
      const watched = spawn();
      const endpoint = how === "timed out" ? watched.untilAborted.with({ timeout: 20 }) : watched.untilAborted;
      const call = endpoint.callOne();
      call.catch(() => {});
      await begun();
      const cell = [...there.proc.cells()].at(-1)!;
      if (how === "cancelled") call.cancel();
      else if (how === "stopped") void world.stop(there, cell.mesh, { drain: 0 });
      else if (how !== "timed out") there.proc.peerDown(world.root.proc.id, "it was killed");
      while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      expect(seen[0]).toBe("watched[0] called by root");
    },
  );
});

test("timers, immediates, ticks and emitters of a handler have its context while it runs", async () => {
  class Leaver extends Counter {
    override async sleep(ms: number): Promise<number> {
      const emitter = new EventEmitter().on("event", look);
      await new Promise<void>((resolve) => setTimeout(() => resolve(look()), 1));
      await new Promise<void>((resolve) => setImmediate(() => resolve(look())));
      await new Promise<void>((resolve) => process.nextTick(() => resolve(look())));
      await new Promise<void>((resolve) => queueMicrotask(() => resolve(look())));
      setImmediate(() => emitter.emit("event"));
      await new Promise((resolve) => emitter.once("event", resolve));
      return ms;
    }
  }
  const leaver = world.spawn<typeof Leaver, never>("leaver", Leaver, [0], [there], {}) as CounterMesh<never>;
  expect(await leaver.sleep.callOne(1)).toBe(1);
  expect(seen).toEqual(new Array(5).fill("leaver[0] called by root"));
});

test("work that a handler has left behind has its context, also while another handler runs", async () => {
  // An ended handler has no rank any more.
  const note = (): void => void seen.push(`${context().actor.name} called by ${context().caller.name}`);
  const left: Promise<void>[] = [];
  let bound = (): void => {};
  class Leaver extends Counter {
    override value(): number {
      const leave = (start: (done: () => void) => unknown) => {
        left.push(new Promise<void>((resolve) => start(() => resolve(note()))));
      };
      leave((done) => Promise.resolve().then(done));
      leave((done) => setTimeout(done, 1));
      leave((done) => stat(".", done));
      leave((done) => randomBytes(1, done));
      bound = AsyncResource.bind(note);
      return 0;
    }
  }
  const spawnAs = (name: string) =>
    world.spawn<typeof Leaver, never>(name, Leaver, [0], [there], {}) as CounterMesh<never>;
  const [first, second] = [spawnAs("first"), spawnAs("second")];
  await first.value.callOne();
  const boundInFirst = bound;
  await second.value.callOne();
  await Promise.all(left);
  boundInFirst();
  for (const name of ["first", "second"]) {
    const times = name === "first" ? 5 : 4;
    expect(seen.filter((text) => text === `${name} called by root`)).toHaveLength(times);
  }
  expect(seen).toHaveLength(9);
});

test("what a handler leaves behind in another asynchronous scope does not have its context", async () => {
  const outside = new AsyncResource("outside");
  let found: string | undefined;
  class Leaver extends Counter {
    override value(): number {
      const note = () => {
        found = context().actor.name;
      };
      outside.runInAsyncScope(() => setTimeout(note, 1));
      return 0;
    }
  }
  const leaver = world.spawn<typeof Leaver, never>("leaver", Leaver, [0], [there], {}) as CounterMesh<never>;
  await leaver.value.callOne();
  while (found === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(found).toBe("root");
});

test("what a handler creates while it calls code of another turn continues as the handler, unless that code runs in its turn", async () => {
  const found: string[] = [];
  const note = (what: string) => found.push(`${what} as ${context().actor.name}`);
  const later = (what: string) => void Promise.resolve().then(() => note(`${what} continues`));
  class Caller extends Counter {
    override value(): number {
      const { turn } = there.proc.root;
      callInTurn(
        turn,
        (outer, inner) => {
          note(outer);
          later(outer);
          runInTurn(turn, () => later("a run"));
          callInTurn(turn, later, inner, undefined);
        },
        "a call",
        "a nested call",
      );
      later("the handler");
      return 0;
    }
  }
  const caller = world.spawn<typeof Caller, never>("caller", Caller, [0], [there], {}) as CounterMesh<never>;
  await caller.value.callOne();
  while (found.length < 5) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(found).toEqual([
    "a call as there",
    "a call continues as caller",
    "a run continues as there",
    "a nested call continues as caller",
    "the handler continues as caller",
  ]);
});

test("handlers that one read starts each have their own context, also after one has thrown and across awaits", async () => {
  class Waiter extends Counter {
    override async sleep(ms: number): Promise<number> {
      look();
      await undefined;
      look();
      await new Promise<void>((resolve) => setTimeout(resolve, ms));
      look();
      return ms;
    }

    override value(): number {
      look();
      throw new Error("on request");
    }
  }
  const spawnAs = (name: string) =>
    world.spawn<typeof Waiter, never>(name, Waiter, [0], [there], {}) as CounterMesh<never>;
  const [one, two, three] = [spawnAs("one"), spawnAs("two"), spawnAs("three")];
  // The first call to each actor opens its session. The calls after it share one write.
  await Promise.all([one, two, three].map((actor) => actor.increment.callOne()));
  const calls = [one.sleep.callOne(1), two.value.callOne(), three.sleep.callOne(5)];
  const outcomes = await Promise.allSettled(calls);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  const contexts = (name: string) => seen.filter((text) => text === `${name}[0] called by root`).length;
  expect(["one", "two", "three"].map(contexts)).toEqual([3, 1, 3]);
  expect(seen).toHaveLength(7);
  expect(context().actor.name).toBe("root");
});

// Earlier versions pass the values on, because there handlers run in the resource that delivers the message.
const startsAnew = Number(process.versions.node.split(".")[0]) >= 24;
test.runIf(startsAnew)(
  "a handler sees no values of other storages, of its caller or of the handler before",
  async () => {
    const storage = new AsyncLocalStorage<string>();
    const found: unknown[] = [];
    class Looker extends Counter {
      override value(): number {
        found.push(storage.getStore());
        storage.enterWith("the handler before");
        return 0;
      }
    }
    const looker = world.spawn<typeof Looker, never>("looker", Looker, [0], [there], {}) as CounterMesh<never>;
    await storage.run("the caller", () => looker.value.callOne());
    await Promise.all([looker.value.callOne(), looker.value.callOne()]);
    expect(found).toEqual([undefined, undefined, undefined]);
  },
);

describe("context() outside a handler", () => {
  test.each(["rank", "extent", "key", "signal", "caller", "trace"] as const)("has no %s", (what) => {
    expect(() => context()[what]).toThrow(
      new Error(`cannot read context().${what}: expected a handler of a message, got code outside of one`),
    );
  });

  test("has the actor and the proc of the program", () => {
    expect([context().actor.name, context().proc]).toEqual(["root", world.root.proc.context]);
  });

  test("is an error before the runtime has been loaded", () => {
    setMainRoot(undefined);
    const message = 'cannot send: no Viceroy runtime in this process, import "viceroy" first';
    expect(() => context()).toThrow(new Error(message));
    expect(() => currentCell()).toThrow(new Error(message));
  });
});
