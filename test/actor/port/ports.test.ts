/** Ports and channels, and answers by port. */
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Actor } from "../../../runtime/actor/actor.js";
import type { Endpoint } from "../../../runtime/actor/call/endpoint.js";
import { send } from "../../../runtime/actor/call/send.js";
import {
  ActorError,
  OrphanedError,
  PortClosedError,
  SupervisionError,
  TimeoutError,
} from "../../../runtime/actor/errors.js";
import type { ActorMesh } from "../../../runtime/actor/mesh/actor-mesh.js";
import type { MeshKind } from "../../../runtime/actor/mesh-kind.js";
import { Channel } from "../../../runtime/actor/port/channel.js";
import { ChannelPort, Port } from "../../../runtime/actor/port/port.js";
import { PortTarget } from "../../../runtime/actor/port/port-target.js";
import { type Sent, sentNow } from "../../../runtime/actor/sent.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../../runtime/wire/descriptor.js";
import { isMutationRun } from "../../profile.js";
import { Counter, type CounterMesh, delay, until } from "../counter.js";
import { StillClock } from "../parts.js";
import { type TestProc, World } from "../world.js";

let world: World;
let there: TestProc;
let counter: CounterMesh<never>;

beforeEach(() => {
  world = new World({ creditMessages: 16 });
  there = world.proc("there");
  counter = world.spawn<typeof Counter, never>("counter", Counter, [0], [there], {});
});
afterEach(() => world.close());

async function failure(promise: PromiseLike<unknown>): Promise<Error> {
  try {
    return new Error(`resolved with ${String(await promise)}`);
  } catch (error) {
    return error as Error;
  }
}

describe("a channel", () => {
  test.each([
    ["int32", 'got "int32"'],
    [undefined, "got undefined"],
    [null, "got null"],
    [{}, "got an object"],
    [Counter, "got a function"],
    [{ fingerprint: 1n }, "got an object"],
    [{ encodeInto: () => {} }, "got an object"],
  ])("cannot be opened with %o, which is not a codec", (given, got) => {
    const wanted =
      "cannot open a channel: expected a codec, such as codec.int32 or the one of a type of your schemas, ";
    expect(() => Channel.open(given as never)).toThrow(new TypeError(wanted + got));
  });

  test("delivers values in the order in which they were sent", async () => {
    const [port, receiver] = Channel.open(codec.int32);
    await Promise.all([
      counter.feed.callOne(port, 100),
      (async () => {
        for (let i = 0; i < 100; i++) expect(await receiver.recv()).toBe(i);
      })(),
    ]);
  });

  test("can be iterated over until its receiver is closed", async () => {
    const [port, receiver] = Channel.open(codec.string);
    for (const text of ["a", "b", "c"]) port.send(text);
    const seen: string[] = [];
    for await (const text of receiver) {
      seen.push(text);
      if (seen.length === 3) setTimeout(() => receiver.close(), 5);
    }
    expect(seen).toEqual(["a", "b", "c"]);
    expect(await failure(receiver.recv())).toEqual(new PortClosedError("cannot receive: its receiver was closed"));
  });

  test("rejects recv() when its timeout ends, and loses no later value", async () => {
    const [port, receiver] = Channel.open(codec.int32);
    expect(await failure(receiver.recv({ timeout: 10 }))).toEqual(
      new TimeoutError("cannot receive: nothing came within 10 ms"),
    );
    port.send(5);
    expect(await receiver.recv({ timeout: 60_000 })).toBe(5);
    expect(await failure(receiver.recv({ timeout: 0 }))).toEqual(
      new TimeoutError("cannot receive: nothing came within 0 ms"),
    );
    expect(() => receiver.recv({ timeout: -1 })).toThrow(
      new RangeError("cannot wait: expected a timeout of at least 0 ms, got -1"),
    );
  });

  test("refuses unknown options of recv()", () => {
    const [, receiver] = Channel.open(codec.int32);
    expect(() => receiver.recv({ timeuot: 5 } as object)).toThrow(
      new TypeError('cannot receive: expected the option timeout, got "timeuot"'),
    );
  });

  test("rejects recv() with a timeout of 0 at once, without a timer", async () => {
    world.close();
    const clock = new StillClock();
    world = new World({}, { root: clock });
    const [, receiver] = Channel.open(codec.int32);
    expect(await failure(receiver.recv({ timeout: 0 }))).toEqual(
      new TimeoutError("cannot receive: nothing came within 0 ms"),
    );
  });

  test("ends an iteration over its values with an exception that was sent", async () => {
    const [port, receiver] = Channel.open(codec.int32);
    port.send(1);
    port.exception(new RangeError("no more"));
    const seen: number[] = [];
    const reading = (async () => {
      for await (const value of receiver) seen.push(value);
    })();
    expect(await failure(reading)).toMatchObject({ name: "ActorError", remoteName: "RangeError", message: "no more" });
    expect(seen).toEqual([1]);
  });

  test("closes at the end of a using block", async () => {
    const [, receiver] = Channel.open(codec.int32);
    {
      using _ = receiver;
    }
    expect(await failure(receiver.recv())).toEqual(new PortClosedError("cannot receive: its receiver was closed"));
  });

  test("knows the trace of the handler that sent the last value, and none of code outside of handlers", async () => {
    const [port, receiver] = Channel.open(codec.int32);
    expect(receiver.trace).toBe(undefined);
    await counter.feed.callOne(port, 1);
    await receiver.recv();
    const { id, spanId, traceparent } = receiver.trace!;
    expect([id, spanId]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), expect.stringMatching(/^[0-9a-f]{16}$/)]);
    expect(traceparent).toMatch(new RegExp(`^00-${id}-${spanId}-0[01]$`));
    port.send(2);
    await receiver.recv();
    expect(receiver.trace).toBe(undefined);
  });

  test("slows a sender that awaits down to the pace of the receiver", async () => {
    const [port, receiver] = Channel.open(codec.int32);
    const feeding = counter.feed.callOne(port, 1000);
    await delay(10);
    expect(feeding.settled).toBe(false);
    for (let i = 0; i < 1000; i++) expect(await receiver.recv()).toBe(i);
    await feeding;
  });

  test("rejects recv() with an exception that was sent, in order with the values", async () => {
    const [port, receiver] = Channel.open(codec.int32);
    port.send(1);
    port.exception(new RangeError("no more", { cause: new Error("why") }));
    port.send(2);
    expect(await receiver.recv()).toBe(1);
    const error = (await failure(receiver.recv())) as ActorError;
    expect([error.name, error.remoteName, error.message, (error.cause as Error).message]).toEqual([
      "ActorError",
      "RangeError",
      "no more",
      "why",
    ]);
    expect(await receiver.recv()).toBe(2);
  });

  test("throws before anything is sent if a value or a port has another type", () => {
    const [port] = Channel.open(codec.int32);
    expect(() => port.send(1.5)).toThrow(/cannot encode int32: .*got 1\.5/);
    const [texts] = Channel.open(codec.string);
    expect(() => counter.feed.callOne(texts as unknown as Port<number>, 1)).toThrow(
      /expected a port of int32, got a port of string/,
    );
  });

  test("reports a message to a closed receiver as undeliverable to its sender", async () => {
    const [port, receiver] = Channel.open(codec.int32);
    receiver.close();
    await counter.feed.callOne(port, 1);
    await until("the sender is told", () => there.events.some(({ kind }) => kind === "undeliverable"));
    expect(there.events.filter(({ kind }) => kind === "undeliverable")).toEqual([
      {
        kind: "undeliverable",
        actor: "counter[0]",
        detail: { to: "port", reason: "unknown", message: "its receiver is gone" },
      },
    ]);
  });

  test("passes an undeliverable message to the undeliverable method of the sending actor", async () => {
    const back: string[] = [];
    class Careful extends Counter {
      override undeliverable({ to, reason }: { to: string; reason: string }): void {
        back.push(`${to} ${reason}`);
      }
    }
    const careful = world.spawn<typeof Careful, never>("careful", Careful, [0], [there], {});
    const [port, receiver] = Channel.open(codec.int32);
    receiver.close();
    await careful.feed.callOne(port, 1);
    await until("the actor is told", () => back.length > 0);
    expect(back).toEqual(["port unknown"]);
    expect(there.events.filter(({ kind }) => kind === "undeliverable")).toEqual([]);
  });
});

describe("a port", () => {
  test("is printed with the type of its values", () => {
    const [port] = Channel.open(codec.string);
    expect([String(port), inspect(port)]).toEqual(["port of string", "Port (port of string)"]);
  });

  test("of a process that is gone reports its messages as undeliverable, and still refuses wrong values", async () => {
    const elsewhere = new ChannelPort(new PortTarget(there.proc.id, 5n, codec.int32.fingerprint, "there"), codec.int32);
    world.root.proc.peerDown(there.proc.id, "it was killed");
    world.root.events.length = 0;
    await elsewhere.send(5);
    expect(world.root.events).toMatchObject([
      { kind: "undeliverable", actor: "root", detail: { to: "port of int32", message: "it was killed" } },
    ]);
    expect(() => elsewhere.send(1.5)).toThrow(/cannot encode int32: .*got 1\.5/);
  });

  test("that its holder knows by another version of its type takes values, like other ports of that type", async () => {
    const newer = codec.object("Reading", { value: codec.int32, unit: codec.optional(codec.string) });
    const channels = [1, 2].map(() => Channel.open(codec.object("Reading", { value: codec.int32 })));
    for (const [index, [port]] of channels.entries()) {
      new ChannelPort((port as ChannelPort<unknown>).target, newer).send({ value: index, unit: "ms" });
    }
    for (const [index, [, receiver]] of channels.entries()) {
      expect(await receiver.recv()).toMatchObject({ value: index });
    }
  });

  test("that was sent to a port is held by the receiver of that port", async () => {
    const [outer] = Channel.open(codec.port(() => codec.int32));
    const [inner, receiver] = Channel.open(codec.int32);
    const [other, otherReceiver] = Channel.open(codec.int32);
    outer.send(inner);
    await Promise.all([counter.feed.callOne(inner, 1), counter.feed.callOne(other, 1)]);
    expect([await receiver.recv(), await otherReceiver.recv()]).toEqual([0, 0]);
    const orphaned = failure(otherReceiver.recv());
    counter.fail.broadcast("over");
    expect(await orphaned).toBeInstanceOf(OrphanedError);
    expect(await failure(receiver.recv({ timeout: 0 }))).toBeInstanceOf(TimeoutError);
  });
});

describe("a receiver", () => {
  test("rejects when the process of its only sender ends", async () => {
    const [port, receiver] = Channel.open(codec.int32);
    await counter.feed.callOne(port, 2);
    expect([await receiver.recv(), await receiver.recv()]).toEqual([0, 1]);
    const waiting = failure(receiver.recv());
    world.root.proc.peerDown(there.proc.id, "killed by SIGKILL");
    const error = await waiting;
    expect(error).toBeInstanceOf(OrphanedError);
    expect(error).toBeInstanceOf(SupervisionError);
    expect(error.message).toBe("cannot receive: everyone who held the port has ended: killed by SIGKILL");
    expect(await failure(receiver.recv())).toBeInstanceOf(OrphanedError);
  });

  test("rejects when its only sender fails, although the process of the sender lives", async () => {
    const [port, receiver] = Channel.open(codec.int32);
    await counter.feed.callOne(port, 1);
    const waiting = failure(receiver.recv().then(() => receiver.recv()));
    counter.fail.broadcast("over");
    expect((await waiting).message).toBe(
      "cannot receive: everyone who held the port has ended: the actor that held its port has ended",
    );
  });

  test("rejects if its port was sent only to an actor that had ended before", async () => {
    counter.fail.broadcast("over");
    const [port, receiver] = Channel.open(codec.int32);
    counter.feed.broadcast(port, 1);
    expect(await failure(receiver.recv())).toBeInstanceOf(OrphanedError);
    await world.stop(there, [...there.proc.cells()].at(-1)!.mesh);
    const [late, nothing] = Channel.open(codec.int32);
    counter.feed.callOne(late, 1).catch(() => {});
    expect(await failure(nothing.recv())).toBeInstanceOf(OrphanedError);
  });

  test("rejects if a failed actor that awaits its restart refuses the message with the port", async () => {
    counter.fail.broadcast("over");
    await failure(counter.value.callOne());
    const [port, receiver] = Channel.open(codec.int32);
    counter.feed.broadcast(port, 1);
    expect(await failure(receiver.recv())).toBeInstanceOf(OrphanedError);
  });

  test("waits while a restarted actor holds its port, even if the sender does not know of the restart", async () => {
    counter.fail.broadcast("over");
    await failure(counter.value.callOne());
    const cell = [...there.proc.cells()].at(-1)!;
    await cell.lifecycle.whenVacated();
    there.proc.createActor({ ...cell.spec, incarnation: 1, args: [5] } as never);
    const [port, receiver] = Channel.open(codec.int32);
    await counter.feed.callOne(port, 1);
    expect(await receiver.recv()).toBe(0);
    const waiting = failure(receiver.recv());
    counter.fail.broadcast("over again");
    expect(await waiting).toBeInstanceOf(OrphanedError);
  });

  test("waits while another actor still holds its port", async () => {
    const other = world.spawn<typeof Counter, never>("other", Counter, [0], [world.proc("other")], {});
    const [port, receiver] = Channel.open(codec.int32);
    await Promise.all([counter.feed.callOne(port, 0), other.feed.callOne(port, 0)]);
    const waiting = receiver.recv();
    counter.fail.broadcast("over");
    await delay(10);
    other.feed.broadcast(port, 1);
    expect(await waiting).toBe(0);
  });
});

describe("an endpoint that answers by port", () => {
  test("can answer at once, later, or with an error", async () => {
    expect(await counter.answer.callOne("now")).toBe("at once");
    expect(await counter.answer.callOne("later")).toBe("later");
    const refused = (await failure(counter.answer.callOne("error"))) as ActorError;
    expect([refused.remoteName, refused.message, refused.endpoint]).toEqual([
      "RangeError",
      "refused",
      "counter.answer",
    ]);
  });

  test("rejects the call if its handler throws, and the actor lives on", async () => {
    const error = (await failure(counter.answer.callOne("throw"))) as ActorError;
    expect([error.remoteName, error.message]).toEqual(["EvalError", "thrown"]);
    expect(await counter.value.callOne()).toBe(0);
  });

  test("refuses a second answer in the handler that gives it", async () => {
    expect(await counter.answer.callOne("twice")).toBe("first");
    expect((await counter.log.callOne()).at(-1)).toBe(
      "cannot answer answer by its port: the call has been answered already",
    );
  });

  // A dropped port is noticed at garbage collection, which takes ten seconds if nothing else triggers it.
  test.skipIf(isMutationRun)("rejects the call if its handler drops the port", async () => {
    const error = (await failure(counter.answer.callOne("drop"))) as ActorError;
    expect(error).toBeInstanceOf(ActorError);
    expect(error.message).toBe("cannot answer answer: its handler dropped the port without using it");
  });

  test("rejects the call if its actor fails before it has answered", async () => {
    const later = failure(counter.answer.callOne("later"));
    counter.fail.broadcast("over");
    expect(await later).toBeInstanceOf(SupervisionError);
  });
});

describe("ports as values", () => {
  const relay = defineActor({
    key: "test/relay#Relay",
    name: "Relay",
    id: 9,
    fingerprint: 0x99n,
    args: () => defineArgs(codec.tuple(), 0, 0),
    endpoints: () => ({
      ask: {
        id: 1,
        args: defineArgs(
          codec.tuple(
            codec.mesh(() => relay),
            codec.string,
          ),
          2,
          2,
        ),
        result: codec.string,
        respond: true,
      },
      tell: {
        id: 2,
        args: defineArgs(
          codec.tuple(
            codec.port(() => codec.string),
            codec.string,
          ),
          2,
          2,
        ),
      },
      open: { id: 3, args: defineArgs(codec.tuple(), 0, 0), result: codec.port(() => codec.string) },
      received: { id: 4, args: defineArgs(codec.tuple(), 0, 0), result: codec.string },
    }),
  });
  interface RelayKind extends MeshKind {
    readonly mesh: RelayMesh<this["dims"]>;
  }
  interface RelayMesh<D extends string = string> extends ActorMesh<RelayKind, D> {
    readonly ask: Endpoint<[other: RelayMesh, text: string], string, D>;
    readonly tell: Endpoint<[port: Port<string>, text: string], void, D>;
    readonly open: Endpoint<[], Port<string>, D>;
    readonly received: Endpoint<[], string, D>;
  }
  class Relay extends Actor {
    static override readonly descriptor = relay;
    declare readonly $kind: RelayKind;
    #received: Promise<string> | undefined;
    /** Lets another actor answer for it. */
    ask(port: Port<string>, other: RelayMesh, text: string): void {
      other.tell.broadcast(port, text);
    }
    tell(port: Port<string>, text: string): void {
      if (text === "die") throw new Error("died of it");
      if (text !== "") port.send(`told: ${text}`);
    }
    open(): Port<string> {
      const [port, receiver] = Channel.open(codec.string);
      this.#received = receiver.recv();
      return port;
    }
    received(): Promise<string> {
      return this.#received ?? Promise.resolve("nothing");
    }
  }
  let a: RelayMesh<never>;
  let b: RelayMesh<never>;
  beforeEach(() => {
    a = world.spawn<typeof Relay, never>("a", Relay, [], [there], {});
    b = world.spawn<typeof Relay, never>("b", Relay, [], [world.proc("elsewhere")], {});
  });

  test("the answer port of a call can be passed to another actor, which then answers the call", async () => {
    expect(await a.ask.callOne(b, "hello")).toBe("told: hello");
  });

  test("a call rejects when all actors that could answer it have ended", async () => {
    const error = (await failure(a.ask.callOne(b, "die"))) as ActorError;
    expect(error).toBeInstanceOf(ActorError);
    expect(error.message).toBe("everyone who could answer the call has ended: the actor that held its port has ended");
  });

  test("a port can be the result of a call", async () => {
    const port = await a.open.callOne();
    port.send("to a");
    expect(await a.received.callOne()).toBe("to a");
  });

  test("send() directs the answers of a call to a port", async () => {
    const [port, receiver] = Channel.open(codec.int32);
    const mesh = world.spawn("pair", Counter, [7], [world.proc("p"), world.proc("q")]);
    send(mesh.value, [], port);
    expect([await receiver.recv(), await receiver.recv()]).toEqual([7, 7]);
  });

  test("send() passes the errors of a call to the port", async () => {
    const [port, receiver] = Channel.open(codec.int32);
    const mesh = world.spawn("pair", Counter, [7], [world.proc("p"), world.proc("q")]);
    send(mesh.failOnEven.with({}), [], port);
    expect(await failure((async () => [await receiver.recv(), await receiver.recv()])())).toMatchObject({
      name: "ActorError",
      message: "even rank 0",
    });
  });

  test("send() takes any port, and passes undefined for an endpoint that returns nothing", async () => {
    const seen: unknown[] = [];
    class Collecting extends Port<unknown> {
      send(value: unknown): Sent {
        seen.push(value);
        return sentNow;
      }
      exception(error: unknown): Sent {
        return this.send(error);
      }
    }
    const collecting = new Collecting();
    send(counter.value, [], collecting as Port<number>);
    await until("the value is there", () => seen.length === 1);
    send(counter.increment, [1], collecting as unknown as Port<void>);
    await until("the end is there", () => seen.length === 2);
    expect(seen).toEqual([0, undefined]);
  });

  test("a port that was sent only to actors of dead processes is orphaned", async () => {
    const pair = world.spawn("pair", Counter, [7], [world.proc("p"), world.proc("q")]);
    for (const name of ["p", "q"]) world.root.proc.peerDown(world.procs.get(name)!.proc.id, "it was killed");
    const [port, receiver] = Channel.open(codec.int32);
    pair.feed.broadcast(port, 1);
    expect(await failure(receiver.recv())).toBeInstanceOf(OrphanedError);
  });

  test("send() refuses a wrong endpoint, wrong arguments or a wrong port before anything is sent", () => {
    const [port] = Channel.open(codec.int32);
    const [texts] = Channel.open(codec.string);
    const loose = send as (...args: unknown[]) => void;
    expect(() => loose(counter.value, [], texts)).toThrow(
      "cannot call counter.value: expected a port of int32, got a port of string",
    );
    expect(() => loose(counter.value, [], {})).toThrow("cannot call counter.value: expected a port, got an object");
    expect(() => loose(counter.value, 5, port)).toThrow(
      "cannot call counter.value: expected a list of arguments, got 5",
    );
    expect(() => loose(counter.watch, [1], port)).toThrow(
      "cannot send: expected an endpoint that answers, got the stream counter.watch",
    );
    expect(() => loose(7, [], port)).toThrow("cannot send: expected an endpoint that answers, got 7");
  });
});
