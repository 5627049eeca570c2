/** These tests check how an actor handles messages: their order, their context, and their call chains. */
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

describe("the order of messages", () => {
  test("a handler that awaits ends before the next one starts", async () => {
    counter.note.broadcast("a", 5);
    counter.note.broadcast("b", 0);
    counter.note.broadcast("c", 1);
    expect(await counter.log.callOne()).toEqual(["init", "+a", "-a", "+b", "-b", "+c", "-c"]);
  });

  test("a concurrent message starts at its place in the queue and does not delay later messages", async () => {
    counter.note.broadcast("a", 5);
    const slow = counter.meanwhile.callOne(30);
    counter.note.broadcast("b", 0);
    expect(await counter.log.callOne()).toEqual(["init", "+a", "-a", "meanwhile", "+b", "-b"]);
    expect(await slow).toBe("slept 30");
  });

  test("init ends before the first handler starts, even if init is slow", async () => {
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

  test("thousands of queued messages are handled in order, and timers still run in between", async () => {
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
  test("names the rank in the slice, the actor and the caller, also after an await and in a stream", async () => {
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

  test("belongs to its own handler across awaits while handlers of other actors run", async () => {
    const mesh = world.spawn("many", Counter, [0], [world.proc("p"), world.proc("q"), world.proc("r")]);
    const ranks = await Promise.all(
      Array.from({ length: 30 }, (_, i) => mesh.slice({ gpus: i % 3 }).whereAfterAwait.callOne()),
    );
    expect(ranks.map(({ actor }) => actor)).toEqual(Array.from({ length: 30 }, (_, i) => `many ${i % 3}`));
  });

  test("belongs to its own handler across awaits while another handler of the same actor runs", async () => {
    class Concurrent extends Counter {
      override async meanwhile(ms: number): Promise<string> {
        const of = () => `${context().rank} by ${context().caller.name}, aborted: ${context().signal.aborted}`;
        const before = of();
        await delay(ms);
        expect(of()).toBe(before);
        await delay(ms);
        return of();
      }
    }
    const mesh = world.spawn("both", Concurrent, [0], [world.proc("p"), world.proc("q")]);
    const [all, one] = await Promise.all([mesh.meanwhile.call(10), mesh.slice({ gpus: 1 }).meanwhile.callOne(4)]);
    expect([...all.values()][1]).toBe("{'gpus': 1/2} by root, aborted: false");
    expect(one).toBe("{} by root, aborted: false");
  });

  test("throws for rank and signal outside of a handler, but still has the actor and the process", () => {
    expect(() => context().rank).toThrow(
      "cannot read context().rank: expected a handler of a message, got code outside of one",
    );
    expect(() => context().signal).toThrow("cannot read context().signal");
    expect(context().actor.name).toBe("root");
    expect(context().proc.id).toMatch(/^[0-9a-f]{16}$/);
  });

  test("throws for rank after its handler has ended, but still has the actor", async () => {
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

describe("the cancellation of calls", () => {
  test("a timeout aborts the signal of the handler and rejects the call with TimeoutError", async () => {
    await counter.value.callOne();
    const error = await counter.untilAborted
      .with({ timeout: 500 })
      .callOne()
      .then(undefined, (e) => e);
    expect(error.name).toBe("TimeoutError");
    expect(error.message).toBe("cannot call counter.untilAborted: no answer within 500 ms");
    expect((await counter.log.callOne()).at(-1)).toMatch(/^aborted: TimeoutError$/);
  });

  test("a caller that aborts its signal aborts the signal of the handler, and the call is rejected", async () => {
    const abort = new AbortController();
    const call = counter.untilAborted.with({ signal: abort.signal }).callOne();
    const given = expect(call).rejects.toThrow("enough");
    await begun(there);
    abort.abort(new Error("enough"));
    await given;
    expect((await counter.log.callOne()).at(-1)).toBe("aborted: AbortError");
  });

  test("cancelling a call aborts the signal of its handler, and a queued call is never handled", async () => {
    const running = counter.untilAborted.callOne();
    const waiting = counter.note.callOne("never", 0);
    await begun(there);
    waiting.cancel();
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
    running.cancel();
    await expect(running).rejects.toMatchObject({ name: "AbortError" });
    expect(await counter.log.callOne()).toEqual(["init", "aborted: AbortError"]);
  });

  test("a call with a signal that is already aborted is rejected, and no message is sent", async () => {
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

  test("can lead from one actor to another, which sees the first one as its caller", async () => {
    expect(await a.ask.callOne(b)).toBe("pong to a[0]");
  });

  test("is rejected with DeadlockError if it returns to an actor that waits for it", async () => {
    for (const call of [a.ask.callOne(a), a.askBack.callOne(a)]) {
      const error = await call.then(undefined, (e) => e);
      expect(error).toBeInstanceOf(ActorError);
      expect(error.remoteName).toBe("DeadlockError");
    }
    expect(await a.ping.callOne()).toBe("pong to root");
    expect(new DeadlockError("x").name).toBe("DeadlockError");
  });

  test("gets an error that names the waiting actor if it returns there through another actor", async () => {
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

  test("may return to an actor whose endpoint is concurrent, because that actor does not wait", async () => {
    expect(await a.askMeanwhile.callOne(b, a)).toBe("pong to b[0]");
  });

  test("has one trace id from end to end, which differs from that of other chains", async () => {
    const [first, ...others] = await a.traces.callOne(b);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(others).toEqual([first, first]);
    expect((await a.traces.callOne(b))[0]).not.toBe(first);
  });
});
