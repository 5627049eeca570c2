/** The mailbox: one message at a time, in order, and what a handler knows of its message. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Actor } from "../../../runtime/actor/actor.js";
import type { Endpoint } from "../../../runtime/actor/call/endpoint.js";
import { context } from "../../../runtime/actor/context.js";
import { ActorError, DeadlockError } from "../../../runtime/actor/errors.js";
import type { ActorMesh } from "../../../runtime/actor/mesh/actor-mesh.js";
import type { MeshKind } from "../../../runtime/actor/mesh-kind.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../../runtime/wire/descriptor.js";
import { begun, Counter, type CounterMesh, delay } from "../counter.js";
import { type TestProc, World } from "../world.js";

let world: World;
let there: TestProc;
let counter: CounterMesh<never>;

beforeEach(() => {
  world = new World();
  there = world.proc("there");
  counter = world.spawn<typeof Counter, never>("counter", Counter, [0], [there], {});
});
afterEach(() => world.close());

describe("one message at a time", () => {
  test("also across await: a handler ends before the next one starts", async () => {
    counter.note.broadcast("a", 5);
    counter.note.broadcast("b", 0);
    counter.note.broadcast("c", 1);
    expect(await counter.log.callOne()).toEqual(["init", "+a", "-a", "+b", "-b", "+c", "-c"]);
  });

  test("a concurrent message starts at its place in the queue and doesn't hold up later ones", async () => {
    counter.note.broadcast("a", 5);
    const slow = counter.meanwhile.callOne(30);
    counter.note.broadcast("b", 0);
    expect(await counter.log.callOne()).toEqual(["init", "+a", "-a", "meanwhile", "+b", "-b"]);
    expect(await slow).toBe("slept 30");
  });

  test("init ends before the first message starts, however slow it is", async () => {
    class Slow extends Counter {
      override async init(): Promise<void> {
        await delay(10);
        await super.init();
      }
    }
    const slow = world.spawn<typeof Slow, never>("slow", Slow, [0], [there], {});
    slow.note.broadcast("a", 0);
    expect(await slow.log.callOne()).toEqual(["init", "+a", "-a"]);
  });

  test("thousands of queued messages are handled in order, and the event loop turns meanwhile", async () => {
    const slow = counter.sleep.callOne(5);
    let turns = 0;
    const turning = setInterval(() => turns++, 0);
    for (let i = 0; i < 4000; i++) counter.note.broadcast(`${i}`, 0);
    const log = await counter.log.callOne();
    clearInterval(turning);
    await slow;
    expect(log.slice(1)).toEqual(Array.from({ length: 4000 }, (_, i) => [`+${i}`, `-${i}`]).flat());
    expect(turns).toBeGreaterThan(2);
  });
});

describe("context", () => {
  test("says who is called, by whom, and where in the slice; after an await and in a stream too", async () => {
    const mesh = world.spawn("pair", Counter, [0], [world.proc("p"), world.proc("q")]);
    const expected = { rank: 1, point: "{'gpus': 1/2}", actor: "pair 1", caller: "root" };
    expect([...(await mesh.where.call()).values()][1]).toEqual(expected);
    expect([...(await mesh.whereAfterAwait.call()).values()][1]).toEqual(expected);
    const one = mesh.slice({ gpus: 1 });
    const alone = { rank: 0, point: "{}", actor: "pair 1", caller: "root" };
    expect(await one.whereAfterAwait.callOne()).toEqual(alone);
    const seen = [];
    for await (const [, where] of one.whereStream.stream()) seen.push(where);
    expect(seen).toEqual([alone, alone]);
  });

  test("two handlers at once each keep their own, across awaits", async () => {
    const mesh = world.spawn("many", Counter, [0], [world.proc("p"), world.proc("q"), world.proc("r")]);
    const ranks = await Promise.all(
      Array.from({ length: 30 }, (_, i) => mesh.slice({ gpus: i % 3 }).whereAfterAwait.callOne()),
    );
    expect(ranks.map(({ actor }) => actor)).toEqual(Array.from({ length: 30 }, (_, i) => `many ${i % 3}`));
  });

  test("outside of a handler rank and signal throw, actor and proc don't", () => {
    expect(() => context().rank).toThrow(
      "cannot read context().rank: expected a handler of a message, got code outside of one",
    );
    expect(() => context().signal).toThrow("cannot read context().signal");
    expect(context().actor.name).toBe("root");
    expect(context().proc.id).toMatch(/^[0-9a-f]{16}$/);
  });

  test("kept beyond its handler it knows the actor and no message any more", async () => {
    let kept: ReturnType<typeof context> | undefined;
    class Keeper extends Counter {
      override value(): number {
        kept = context();
        return kept.rank.rank;
      }
    }
    const keeper = world.spawn<typeof Keeper, never>("keeper", Keeper, [0], [there], {});
    expect(await keeper.value.callOne()).toBe(0);
    expect(() => kept!.rank).toThrow("cannot read context().rank: the message has been handled already");
    expect(kept!.actor.name).toBe("keeper");
  });
});

describe("signal", () => {
  test("is aborted when the caller's time is over, and the caller gets TimeoutError", async () => {
    await counter.value.callOne();
    const error = await counter.untilAborted
      .with({ timeout: 500 })
      .callOne()
      .then(undefined, (e) => e);
    expect(error.name).toBe("TimeoutError");
    expect(error.message).toBe("cannot call counter.untilAborted: no answer within 500 ms");
    expect((await counter.log.callOne()).at(-1)).toMatch(/^aborted: TimeoutError$/);
  });

  test("is aborted when the caller aborts", async () => {
    const abort = new AbortController();
    const call = counter.untilAborted.with({ signal: abort.signal }).callOne();
    const given = expect(call).rejects.toThrow("enough");
    await begun(there);
    abort.abort(new Error("enough"));
    await given;
    expect((await counter.log.callOne()).at(-1)).toBe("aborted: AbortError");
  });

  test("is aborted when the future is cancelled; a message that waits is not handled at all", async () => {
    const running = counter.untilAborted.callOne();
    const waiting = counter.note.callOne("never", 0);
    await begun(there);
    waiting.cancel();
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
    running.cancel();
    await expect(running).rejects.toMatchObject({ name: "AbortError" });
    expect(await counter.log.callOne()).toEqual(["init", "aborted: AbortError"]);
  });

  test("a signal that is aborted already refuses the call, and nothing is sent", async () => {
    const call = counter.note.with({ signal: AbortSignal.abort(new Error("no")) }).callOne("x", 0);
    await expect(call).rejects.toThrow("no");
    expect(await counter.log.callOne()).toEqual(["init"]);
  });
});

describe("a call chain", () => {
  const caller = defineActor({
    key: "test/caller#Caller",
    name: "Caller",
    id: 8,
    fingerprint: 0x77n,
    args: () => defineArgs(codec.tuple(), 0, 0),
    endpoints: () => ({
      ask: { id: 1, args: defineArgs(codec.tuple(codec.mesh(() => caller)), 1, 1), result: codec.string },
      askBack: { id: 2, args: defineArgs(codec.tuple(codec.mesh(() => caller)), 1, 1), result: codec.string },
      ping: { id: 3, args: defineArgs(codec.tuple(), 0, 0), result: codec.string },
      askMeanwhile: {
        id: 4,
        args: defineArgs(
          codec.tuple(
            codec.mesh(() => caller),
            codec.mesh(() => caller),
          ),
          2,
          2,
        ),
        result: codec.string,
        concurrent: true,
      },
      traces: {
        id: 5,
        args: defineArgs(codec.tuple(codec.mesh(() => caller)), 1, 1),
        result: codec.array(codec.string),
      },
      trace: { id: 6, args: defineArgs(codec.tuple(), 0, 0), result: codec.string },
    }),
  });
  interface CallerKind extends MeshKind {
    readonly mesh: CallerMesh<this["dims"]>;
  }
  interface CallerMesh<D extends string = string> extends ActorMesh<CallerKind, D> {
    readonly ask: Endpoint<[mesh: CallerMesh], string, D>;
    readonly askBack: Endpoint<[mesh: CallerMesh], string, D>;
    readonly ping: Endpoint<[], string, D>;
    readonly askMeanwhile: Endpoint<[via: CallerMesh, me: CallerMesh], string, D>;
    readonly traces: Endpoint<[mesh: CallerMesh], string[], D>;
    readonly trace: Endpoint<[], string, D>;
  }
  class Caller extends Actor {
    static override readonly descriptor = caller;
    declare readonly $kind: CallerKind;
    ask(mesh: CallerMesh): Promise<string> {
      return mesh.ping.callOne();
    }
    askBack(mesh: CallerMesh): Promise<string> {
      return mesh.ask.callOne(mesh);
    }
    askMeanwhile(via: CallerMesh, me: CallerMesh): Promise<string> {
      return via.ask.callOne(me);
    }
    ping(): string {
      return `pong to ${context().caller.name}`;
    }
    async traces(mesh: CallerMesh): Promise<string[]> {
      await delay(1);
      return [context().trace.id, await mesh.trace.callOne(), await mesh.trace.callOne()];
    }
    trace(): string {
      return context().trace.id;
    }
  }
  let a: CallerMesh<never>;
  let b: CallerMesh<never>;
  beforeEach(() => {
    a = world.spawn<typeof Caller, never>("a", Caller, [], [there], {});
    b = world.spawn<typeof Caller, never>("b", Caller, [], [world.proc("elsewhere")], {});
  });

  test("may go from actor to actor, and each knows its caller", async () => {
    expect(await a.ask.callOne(b)).toBe("pong to a[0]");
  });

  test("that comes back to an actor which waits is a DeadlockError, not a deadlock", async () => {
    for (const call of [a.ask.callOne(a), a.askBack.callOne(a)]) {
      const error = await call.then(undefined, (e) => e);
      expect(error).toBeInstanceOf(ActorError);
      expect(error.remoteName).toBe("DeadlockError");
    }
    expect(await a.ping.callOne()).toBe("pong to root");
    expect(new DeadlockError("x").name).toBe("DeadlockError");
  });

  test("through another actor too", async () => {
    class Between extends Caller {
      override ask(mesh: CallerMesh): Promise<string> {
        return mesh.ask.callOne(between);
      }
    }
    const between = world.spawn<typeof Between, never>("between", Between, [], [there], {});
    const error = await between.ask.callOne(b).then(undefined, (e) => e);
    expect(error.remoteName).toBe("ActorError");
    expect(error.message).toBe(
      "cannot call between.ping from b[0]: between[0] waits for the answer of this call chain itself; " +
        "make the endpoint that called out @concurrent, or use broadcast",
    );
  });

  test("may come back to an actor whose endpoint is concurrent: that one doesn't wait", async () => {
    expect(await a.askMeanwhile.callOne(b, a)).toBe("pong to b[0]");
  });

  test("has one trace from end to end", async () => {
    const [first, ...others] = await a.traces.callOne(b);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(others).toEqual([first, first]);
    expect((await a.traces.callOne(b))[0]).not.toBe(first);
  });
});
