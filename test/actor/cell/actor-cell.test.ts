/** These tests check the cell of an actor: its start, its failures, its stop, and that each of them happens once. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Endpoint } from "../../../runtime/actor/call/endpoint.js";
import type { ActorCell } from "../../../runtime/actor/cell/actor-cell.js";
import type { Turn } from "../../../runtime/actor/cell/turn.js";
import { context, runInTurn } from "../../../runtime/actor/context.js";
import { wholeMesh } from "../../../runtime/actor/mesh/actor-mesh.js";
import { Channel } from "../../../runtime/actor/port/channel.js";
import { MeshRecord } from "../../../runtime/actor/reference/mesh-record.js";
import { FrameFlag, ProtocolError } from "../../../runtime/link/frame/frame.js";
import type { Lane } from "../../../runtime/link/inbound/lane.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../../runtime/wire/descriptor.js";
import { Reader } from "../../../runtime/wire/reader.js";
import { ManualClock } from "../../link/resumable/cut-world.js";
import { Counter, type CounterMesh, counterDescriptor, delay, until } from "../counter.js";
import { type TestProc, World } from "../world.js";

let clock: ManualClock;
let world: World;
let there: TestProc;

beforeEach(() => {
  clock = new ManualClock();
  world = new World({}, { there: clock });
  there = world.proc("there");
});
afterEach(() => world.close());

const spawn = (actorClass: typeof Counter = Counter, args: readonly unknown[] = [0]) =>
  world.spawn<typeof Counter, never>("counter", actorClass, args, [there], {});
const lastCell = (): ActorCell => [...there.proc.cells()].at(-1)!;
const failure = (promise: PromiseLike<unknown>): Promise<Error> =>
  Promise.resolve(promise).then(
    () => new Error("expected a failure"),
    (error) => error,
  );
const killed = (message: string) => ({ kind: "killed", error: new Error(message), at: 0 }) as const;

describe("an actor that starts", () => {
  test("is running when its init has ended, and its proc reports one start", async () => {
    let release = () => {};
    class Slow extends Counter {
      override init(): Promise<void> {
        return new Promise((resolve) => {
          release = resolve;
        });
      }
    }
    const slow = spawn(Slow);
    expect([lastCell().lifecycle.state, there.events]).toEqual(["starting", []]);
    release();
    expect(await slow.value.callOne()).toBe(0);
    expect([lastCell().lifecycle.state, there.events]).toEqual([
      "running",
      [{ kind: "started", actor: "counter[0]", detail: undefined }],
    ]);
  });

  test("stays failed if it fails while its init runs and init ends later", async () => {
    let release = () => {};
    class Slow extends Counter {
      override init(): Promise<void> {
        return new Promise((resolve) => {
          release = resolve;
        });
      }
    }
    const call = failure(spawn(Slow).value.callOne());
    lastCell().fail(killed("enough"));
    release();
    expect((await call).message).toMatch(/the actor counter\[0\] has failed: Error: enough$/);
    expect([lastCell().lifecycle.state, there.events.map(({ kind }) => kind)]).toEqual(["failed", ["failed"]]);
  });

  test.each<[string, typeof Counter, readonly unknown[], string]>([
    ["constructor", Counter, [-1], "no counting below zero"],
    ["init", Counter, [-2], "init refused"],
    [
      "init",
      class extends Counter {
        override init(): void {
          throw new Error("at once");
        }
      },
      [0],
      "at once",
    ],
  ])("reports the error and the time of the failure if its %s throws", async (kind, actorClass, args, message) => {
    clock.sleep(1234);
    const call = failure(spawn(actorClass, args).value.callOne());
    expect((await call).message).toContain(message);
    expect(there.failures()).toMatchObject([{ kind, error: { message }, at: 1234 }]);
  });

  test("has a context in init with its name, rank, mesh and process, but without a message", () => {
    let seen: unknown[] = [];
    class Looking extends Counter {
      override init(): void {
        const { actor, proc } = context();
        seen = [actor.name, actor.rank.rank, actor.id.mesh, proc.id];
        expect(() => context().rank).toThrow("cannot read context().rank: expected a handler of a message");
      }
    }
    spawn(Looking);
    const { mesh } = lastCell();
    expect(seen).toEqual(["counter", 0, mesh, there.proc.context.id]);
    expect(there.failures()).toEqual([]);
  });

  test("gets DeadlockError if it calls itself in its init", async () => {
    const own: { mesh?: CounterMesh<never> } = {};
    let told: unknown;
    class Asking extends Counter {
      override async init(): Promise<void> {
        await delay(0);
        await own.mesh!.value.callOne().catch((error) => {
          told = error;
        });
      }
    }
    own.mesh = spawn(Asking);
    expect(await own.mesh.value.callOne()).toBe(0);
    expect(told).toMatchObject({ name: "DeadlockError" });
  });
});

describe("an actor whose constructor throws", () => {
  test("runs no supervise, and its proc reports the messages that return to it", async () => {
    spawn(Counter, [-1]);
    await lastCell().lifecycle.whenVacated();
    expect(lastCell().supervise("a failure" as never)).toBe(undefined);
    lastCell().undeliverable("others.value", { reason: "closed", message: "over" } as never);
    expect(there.events.map(({ kind }) => kind)).toEqual(["failed", "undeliverable"]);
  });
});

describe("the failure of an actor", () => {
  test("is reported with its time, and with the endpoint if a handler has thrown", async () => {
    clock.sleep(99);
    spawn().fail.broadcast("fatal");
    await until("it has failed", () => there.failures().length > 0);
    expect(there.failures()).toMatchObject([
      { kind: "message", endpoint: "fail", error: { message: "fatal" }, at: 99 },
    ]);
  });

  test.each<[string, (cell: ActorCell, turn: Turn) => void, object]>([
    [
      "code that a handler has left running",
      (cell, turn) => cell.failUncaught(new Error("late"), turn.endpoint),
      { kind: "message", endpoint: "untilAborted", error: { message: "late" }, at: 7 },
    ],
    [
      "code of its init",
      (cell) => cell.failUncaught(new Error("late"), cell.turn.endpoint),
      { kind: "message", error: { message: "late" }, at: 7 },
    ],
    [
      "a handler that takes too long",
      (cell, turn) => cell.lifecycle.handlerStuck(turn, "it has been running"),
      { kind: "stuck", endpoint: "untilAborted", error: { message: "it has been running" }, at: 7 },
    ],
  ])("is reported with its kind and time for %s", async (_, fail, told) => {
    const call = failure(spawn().untilAborted.callOne());
    await until("it handles the message", () => lastCell().calls.length > 0);
    clock.sleep(7);
    fail(lastCell(), lastCell().calls[0]!);
    await call;
    expect(there.failures()).toMatchObject([told]);
    expect("endpoint" in there.failures()[0]!).toBe("endpoint" in told);
  });

  test("carries the text of any thrown value, and carries a thrown error as its cause", async () => {
    spawn();
    lastCell().fail({ kind: "killed", error: "no error", at: 0 });
    expect(lastCell().ended).toMatchObject({
      reason: "failed",
      message: 'the actor counter[0] has failed: threw "no error"',
    });
    expect(lastCell().ended!.cause).toBe(undefined);
    spawn();
    lastCell().fail({ kind: "killed", error: new TypeError("typed", { cause: new Error("why") }), at: 0 });
    expect(lastCell().ended).toMatchObject({
      message: "the actor counter[0] has failed: TypeError: typed",
      cause: { name: "TypeError", message: "typed", cause: { message: "why" } },
    });
  });

  test("is ignored if the actor has stopped before", async () => {
    spawn();
    const cell = lastCell();
    await world.stop(there, cell.mesh);
    cell.fail(killed("late"));
    expect([cell.lifecycle.state, there.failures()]).toEqual(["stopped", []]);
  });

  test("passes an Error to cleanup even if the thrown value is not an Error", async () => {
    const cleaned: unknown[] = [];
    class Cleaning extends Counter {
      override cleanup(error?: Error): void {
        cleaned.push(error);
      }
    }
    spawn(Cleaning);
    lastCell().fail({ kind: "killed", error: 5, at: 0 });
    await lastCell().lifecycle.whenVacated();
    expect(cleaned).toEqual([expect.any(Error)]);
    expect(lastCell().instance).toBe(undefined);
  });
});

describe("stopping an actor", () => {
  test("happens once: a second request gets the same promise", async () => {
    spawn();
    const options = { reason: "ordered", drain: 0 };
    const stopping = lastCell().lifecycle.stop(options);
    expect(lastCell().lifecycle.stop(options)).toBe(stopping);
    await stopping;
  });

  test("rejects new calls at once, and running calls when the drain time is over", async () => {
    const counter = spawn();
    const running = failure(counter.untilAborted.callOne());
    await until("it runs", () => lastCell().calls.length > 0);
    const cell = lastCell();
    let stopped = false;
    void cell.lifecycle.stop({ reason: "ordered", drain: 500 }).then(() => {
      stopped = true;
    });
    clock.pass(499);
    await delay(1);
    expect([cell.lifecycle.state, stopped]).toEqual(["stopping", false]);
    expect((await failure(counter.value.callOne())).message).toMatch(/was stopped: ordered$/);
    clock.pass(1);
    expect((await running).message).toMatch(/was stopped: ordered$/);
    await until("it has stopped", () => stopped);
    expect([cell.lifecycle.state, there.proc.cell(cell.mesh), clock.waiting]).toEqual(["stopped", undefined, 0]);
  });

  test("adds no reason to the errors of later calls if none was given", async () => {
    const counter = spawn();
    await counter.value.callOne();
    await world.stop(there, lastCell().mesh, { reason: "stopped" });
    expect((await failure(counter.value.callOne())).message).toBe(
      "cannot call counter.value on rank 0: the actor counter[0] was stopped",
    );
  });

  test("waits for an endless init until the drain time is over, then rejects the waiting calls", async () => {
    class Never extends Counter {
      override init(): Promise<void> {
        return new Promise(() => {});
      }
    }
    const call = failure(spawn(Never).value.callOne());
    await until("it is there", () => lastCell().waitingCount > 0);
    let stopped = false;
    const stopping = lastCell()
      .lifecycle.stop({ reason: "ordered", drain: 60_000 })
      .then(() => {
        stopped = true;
      });
    clock.pass(59_999);
    await delay(1);
    expect(stopped).toBe(false);
    clock.pass(1);
    await stopping;
    expect((await call).message).toMatch(/was stopped: ordered$/);
    expect(clock.waiting).toBe(0);
  });

  test("runs no second cleanup after a failure, and keeps the failure as the reason", async () => {
    let cleaned = 0;
    class Cleaning extends Counter {
      override cleanup(): void {
        cleaned++;
      }
    }
    const counter = spawn(Cleaning);
    lastCell().fail(killed("enough"));
    const cell = lastCell();
    await cell.lifecycle.stop({ reason: "ordered", drain: 1000 });
    expect([cleaned, cell.lifecycle.state]).toEqual([1, "stopped"]);
    expect((await failure(counter.value.callOne())).message).toMatch(/has failed: Error: enough$/);
  });

  test("waits at most 3 s for cleanup", async () => {
    class Cleaning extends Counter {
      override cleanup(): Promise<void> {
        return new Promise(() => {});
      }
    }
    spawn(Cleaning);
    const cell = lastCell();
    const stopped = cell.lifecycle.stop({ reason: "ordered", drain: 0 });
    await delay(1);
    clock.pass(2999);
    await delay(1);
    expect([cell.lifecycle.state, cell.instance === undefined]).toEqual(["stopping", false]);
    clock.pass(1);
    await stopped;
    expect([cell.lifecycle.state, cell.instance]).toEqual(["stopped", undefined]);
  });

  test.each<[string, typeof Counter]>([
    [
      "throws",
      class extends Counter {
        override cleanup(): void {
          throw new Error("mess");
        }
      },
    ],
    [
      "rejects",
      class extends Counter {
        override cleanup(): Promise<void> {
          return Promise.reject(new Error("mess"));
        }
      },
    ],
  ])("reports a cleanup that %s, and still completes", async (_, actorClass) => {
    spawn(actorClass);
    const cell = lastCell();
    await cell.lifecycle.stop({ reason: "ordered", drain: 0 });
    expect(there.events.filter(({ kind }) => kind === "cleanupFailed")).toMatchObject([
      { actor: "counter[0]", detail: { message: "mess" } },
    ]);
    expect([cell.lifecycle.state, clock.waiting]).toEqual(["stopped", 0]);
  });

  test("closes the channels that the actor has opened", async () => {
    const got: { receiver?: { recv(): Promise<unknown> } } = {};
    class Opening extends Counter {
      override increment(): void {
        [, got.receiver] = Channel.open(codec.int32);
      }
    }
    const opening = spawn(Opening);
    await opening.increment.callOne();
    const cell = lastCell();
    const waiting = failure(got.receiver!.recv());
    await cell.lifecycle.stop({ reason: "ordered", drain: 0 });
    expect((await waiting).message).toBe("cannot receive: the actor that opened it has ended");
  });
});

describe("a message that cannot be delivered", () => {
  /** Lets an actor send to an ended actor. The message returns to the method `undeliverable` of the sender. */
  async function sendToEndedActor(undeliverable: ((message: unknown) => void) | undefined): Promise<void> {
    const gone = world.spawn<typeof Counter, never>("gone", Counter, [0], [world.proc("elsewhere")], {});
    await gone.value.callOne();
    world.root.proc.peerDown(world.procs.get("elsewhere")!.proc.id, "it was killed");
    there.proc.peerDown(world.procs.get("elsewhere")!.proc.id, "it was killed");
    class Sending extends Counter {
      override increment(): void {
        gone.increment.broadcast(1);
      }
    }
    if (undeliverable !== undefined) Object.assign(Sending.prototype, { undeliverable });
    const sending = spawn(Sending);
    await sending.increment.callOne();
  }
  const told = () => there.events.filter(({ kind }) => kind === "undeliverable");

  test("is passed to the method undeliverable of its sender, and the proc reports no event", async () => {
    const seen: unknown[] = [];
    await sendToEndedActor((message) => seen.push(message, context().actor.name));
    expect(seen).toEqual([{ to: "gone.increment", reason: "peer-down", message: "it was killed" }, "counter"]);
    expect(told()).toEqual([]);
  });

  test("is reported by the proc if the sender has no method undeliverable", async () => {
    await sendToEndedActor(undefined);
    expect(told()).toMatchObject([{ actor: "counter[0]", detail: { to: "gone.increment" } }]);
  });

  test("fails its sender if the method undeliverable throws", async () => {
    clock.sleep(3);
    await sendToEndedActor(() => {
      throw new Error("no");
    }).catch(() => {});
    expect(there.failures()).toMatchObject([{ kind: "message", error: { message: "no" }, at: 3 }]);
    expect(told()).toEqual([]);
  });

  test("is dropped without an event if its sender has stopped", async () => {
    spawn();
    const cell = lastCell();
    await cell.lifecycle.stop({ reason: "ordered", drain: 0 });
    cell.undeliverable("others.value", { reason: "closed", message: "over" } as never);
    expect(told()).toEqual([]);
  });
});

test("the name of an actor is its mesh and rank, and the root of a process has the name of the process", () => {
  spawn();
  const [cell, { root }] = [lastCell(), there.proc];
  expect([cell.name, cell.isRoot, cell.rank]).toEqual(["counter[0]", false, 0]);
  expect([root.name, root.isRoot, root.lifecycle.state]).toEqual(["there", true, "running"]);
  expect(cell.id).toEqual({ universe: world.universe, proc: there.proc.id, mesh: cell.mesh, rank: 0, incarnation: 0 });
});

test("supervise runs in the context of its actor, and its result is returned", () => {
  const seen: unknown[] = [];
  class Owner extends Counter {
    override supervise(failed: unknown): boolean {
      seen.push(failed, context().actor.name);
      return true;
    }
  }
  spawn(Owner);
  expect(lastCell().supervise("a failure" as never)).toBe(true);
  expect(seen).toEqual(["a failure", "counter"]);
  spawn();
  expect(lastCell().supervise("a failure" as never)).toBe(undefined);
});

test("a slow handler is reported as an event of its proc", async () => {
  const counter = spawn();
  await counter.value.callOne();
  lastCell().lifecycle.handlerSlow("it takes long");
  expect(there.events.at(-1)).toEqual({ kind: "slow", actor: "counter[0]", detail: "it takes long" });
});

describe("a message that cannot be decoded", () => {
  /** Returns the counter as seen by a process that has another schema with the same fingerprint. */
  function mistaken(): CounterMesh<never> {
    const { mesh } = lastCell();
    const record = new MeshRecord({ id: mesh, name: "counter", owner: world.root.proc.id, extent: {} });
    record.setLocation(0, { proc: there.proc.id, location: there.proc.location });
    const wrong = defineArgs(codec.tuple(codec.string, codec.string, codec.string), 3, 3);
    const { key, name, id, fingerprint } = counterDescriptor;
    const args = () => wrong;
    const endpoints = () => ({ increment: { id: 1, args: wrong }, value: { id: 2, args: wrong, result: codec.int32 } });
    return wholeMesh(record, defineActor({ key, name, id, fingerprint, args, endpoints })) as never;
  }

  test("fails its call or returns to its sender, and the actor still runs", async () => {
    const counter = spawn();
    await counter.increment.callOne(2);
    const wrong = mistaken().increment as unknown as Endpoint<string[], void, never>;
    const error = await failure(wrong.callOne("a", "b", "c"));
    expect(error).toMatchObject({ name: "ActorError", actor: "counter[0]", remoteName: "CodecError" });
    wrong.broadcast("a", "b", "c");
    const told = () => world.root.events.filter(({ kind }) => kind === "undeliverable");
    await until("it has come back", () => told().length > 0);
    expect(told()).toMatchObject([{ detail: { reason: "refused", message: error.message } }]);
    expect(await counter.value.callOne()).toBe(2);
  });

  test("violates the protocol if its slot is not bound, or is bound to another layout", () => {
    spawn();
    const cell = lastCell();
    const lane = { slots: [undefined, { layout: FrameFlag.protobuf }], open: true } as unknown as Lane;
    expect(() => cell.inbound.message(lane, 0, 1, 0, new Reader(), 8)).toThrow(
      new ProtocolError("cannot read message: slot 0 of its lane is not bound"),
    );
    expect(() => cell.inbound.message(lane, 1, 1, 0, new Reader(), 8)).toThrow(
      new ProtocolError(
        "cannot read message: slot 1 of its lane was agreed to be in the protobuf layout, and it is in another one",
      ),
    );
  });
});

describe("an actor that replaces a failed actor", () => {
  test("gets later messages of senders that have used the failed actor, in order", async () => {
    const counter = spawn();
    await counter.increment.callOne(1);
    const cell = lastCell();
    cell.fail(killed("over"));
    await cell.lifecycle.whenVacated();
    expect((await failure(counter.value.callOne())).message).toMatch(/has failed: Error: over$/);
    there.proc.createActor({ ...cell.spec, incarnation: 1, args: [10] } as never);
    for (const by of [1, 2, 3]) counter.increment.broadcast(by);
    expect(await counter.value.callOne()).toBe(16);
    // This endpoint is used for the first time, and its interface has been bound before.
    expect(await counter.log.callOne()).toEqual(["init"]);
  });

  test("gets messages of senders that have never used the failed actor", async () => {
    const counter = spawn();
    lastCell().fail(killed("over"));
    await lastCell().lifecycle.whenVacated();
    there.proc.createActor({ ...lastCell().spec, incarnation: 1, args: [10] } as never);
    expect(await counter.value.callOne()).toBe(10);
    expect(lastCell().id.incarnation).toBe(1);
  });

  test("code of the failed actor cannot call other actors any more", async () => {
    const taker = world.spawn<typeof Counter, never>("taker", Counter, [0], [world.proc("elsewhere")], {});
    spawn();
    const cell = lastCell();
    const send = () => runInTurn(cell.turn, () => taker.value.callOne()) as Promise<number>;
    expect(await send()).toBe(0);
    cell.fail(killed("over"));
    await cell.lifecycle.whenVacated();
    there.proc.createActor({ ...cell.spec, incarnation: 1, args: [10] } as never);
    expect((await failure(send())).message).toBe(
      "cannot call taker.value on rank 0: its sender has ended: the actor counter[0] has failed: Error: over",
    );
  });
});
