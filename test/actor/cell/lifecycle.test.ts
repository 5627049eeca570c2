/** These tests follow the life of an actor: its start, its failure, its stop, and the errors that its callers get. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SupervisionError } from "../../../runtime/actor/errors.js";
import { wholeMesh } from "../../../runtime/actor/mesh/actor-mesh.js";
import { currentMeshRecord } from "../../../runtime/actor/mesh/current-mesh-record.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { Counter, type CounterMesh, counterDescriptor, delay, until } from "../counter.js";
import { type TestProc, World } from "../world.js";

let world: World;
let there: TestProc;

beforeEach(() => {
  world = new World();
  there = world.proc("there");
});
afterEach(() => world.close());

function counterAt(args: readonly unknown[], actorClass: typeof Counter = Counter): CounterMesh<never> {
  return world.spawn<typeof Counter, never>("counter", actorClass, args, [there], {});
}

async function failure(promise: PromiseLike<unknown>): Promise<Error> {
  try {
    return new Error(`resolved with ${String(await promise)}`);
  } catch (error) {
    return error as Error;
  }
}

/** The mesh of the actor that was created last. */
function lastMesh(): bigint {
  return [...there.proc.cells()].at(-1)!.mesh;
}

describe("an actor that fails to start", () => {
  test("rejects calls with SupervisionError and reports one failure if its constructor throws", async () => {
    const counter = counterAt([-1]);
    const error = await failure(counter.value.callOne());
    expect(error).toBeInstanceOf(SupervisionError);
    expect(error.message).toBe(
      "cannot call counter.value on rank 0: the actor counter[0] has failed: RangeError: no counting below zero",
    );
    expect((error.cause as Error).message).toBe("no counting below zero");
    expect(there.failures().map(({ kind }) => kind)).toEqual(["constructor"]);
  });

  test("rejects waiting calls and reports one failure if its init rejects", async () => {
    const counter = counterAt([-2]);
    const error = await failure(counter.value.callOne());
    expect(error.message).toMatch(/has failed: Error: init refused$/);
    expect(there.failures().map(({ kind }) => kind)).toEqual(["init"]);
  });

  test("rejects waiting calls with the reason and reports no failure if its creation is refused", async () => {
    const mesh = 77_000_000_001n;
    const record = currentMeshRecord({ id: mesh, name: "ghost", owner: world.root.proc.id, extent: {} });
    record.setLocation(0, { proc: there.proc.id, location: "there" });
    const ghost = wholeMesh(record, counterDescriptor) as unknown as CounterMesh<never>;
    world.ordered.add(mesh);
    const called = failure(ghost.value.callOne());
    await delay(5);
    const shape = { mesh, rank: 0, incarnation: 0, name: "ghost", extent: {}, owner: world.root.proc.id };
    there.proc.refuseActor(shape, { kind: "constructor", error: new Error("no such module"), at: 0 });
    expect((await called).message).toBe(
      "cannot call ghost.value on rank 0: the actor ghost[0] has failed: Error: no such module",
    );
    expect(there.failures()).toEqual([]);
  });
});

describe("messages for an actor that is not known yet", () => {
  function ghost(mesh: bigint): CounterMesh<never> {
    const record = currentMeshRecord({ id: mesh, name: "ghost", owner: world.root.proc.id, extent: {} });
    record.setLocation(0, { proc: there.proc.id, location: "there" });
    return wholeMesh(record, counterDescriptor) as unknown as CounterMesh<never>;
  }

  test("wait if the owner says that the mesh was ordered, and are handled in order once the actor exists", async () => {
    const mesh = 77_000_000_002n;
    world.ordered.add(mesh);
    const counter = ghost(mesh);
    for (let i = 0; i < 100; i++) counter.note.broadcast(`${i}`, 0);
    const log = counter.log.callOne();
    await delay(10);
    expect(log.settled).toBe(false);
    const owner = world.root.proc.id;
    const request = { mesh, rank: 0, incarnation: 0, name: "ghost", extent: {}, owner };
    there.proc.createActor({ ...request, descriptor: counterDescriptor, actorClass: Counter as never, args: [0] });
    expect((await log).slice(1)).toEqual(Array.from({ length: 100 }, (_, i) => [`+${i}`, `-${i}`]).flat());
  });

  test("fail their calls or return to the sender if the owner says that there is no such actor", async () => {
    const counter = ghost(77_000_000_003n);
    counter.note.broadcast("a", 0);
    const error = await failure(counter.value.callOne());
    expect(error).toBeInstanceOf(SupervisionError);
    expect(error.message).toBe("cannot call ghost.value on rank 0: there is no such actor, or not any more");
    expect(world.root.events).toEqual([
      {
        kind: "undeliverable",
        actor: "root",
        detail: { to: "Counter.note", reason: "unknown", message: "there is no such actor, or not any more" },
      },
    ]);
  });
});

describe("an actor that fails", () => {
  test("rejects running and queued calls, returns queued messages, and reports only its first failure", async () => {
    const counter = counterAt([0]);
    const running = failure(counter.meanwhile.callOne(60_000));
    const mesh = lastMesh();
    await counter.value.callOne();
    const sleeping = failure(counter.sleep.callOne(60_000));
    const waiting = failure(counter.value.callOne());
    counter.increment.broadcast(1);
    await until("all messages are there", () => there.proc.cell(mesh)!.waitingCount === 2);
    there.proc.cell(mesh)!.fail({ kind: "killed", error: new Error("enough"), at: 1 });
    there.proc.cell(mesh)!.fail({ kind: "killed", error: new Error("again"), at: 2 });
    const errors = await Promise.all([running, sleeping, waiting]);
    for (const error of errors) expect(error.message).toMatch(/the actor counter\[0\] has failed: Error: enough$/);
    expect(there.failures().map(({ error }) => (error as Error).message)).toEqual(["enough"]);
    await until("the sender is told", () => world.root.events.length > 0);
    expect(world.root.events.map(({ kind, detail }) => [kind, (detail as { to: string }).to])).toEqual([
      ["undeliverable", "Counter.increment"],
    ]);
  });

  test("runs cleanup once, with the error, after everything that it owns has stopped", async () => {
    const log: string[] = [];
    class Cleaning extends Counter {
      override async cleanup(error?: Error): Promise<void> {
        await delay(1);
        log.push(`cleanup: ${error?.message}`);
      }
    }
    there.proc.hooks.stopOwned = async () => {
      await delay(5);
      log.push("owned stopped");
    };
    const counter = counterAt([0], Cleaning);
    counter.fail.broadcast("fatal");
    const cell = there.proc.cell(lastMesh())!;
    await failure(counter.value.callOne());
    const options = { reason: "ordered", drain: 0 };
    await Promise.all([there.proc.stopActor(cell, options), there.proc.stopActor(cell, options)]);
    await there.proc.stopActor(cell, options);
    expect(log).toEqual(["owned stopped", "cleanup: fatal"]);
  });

  test("can be replaced at the same address by an actor with fresh state, while a live actor cannot", async () => {
    const counter = counterAt([5]);
    await counter.increment.callOne(1);
    counter.fail.broadcast("fatal");
    await failure(counter.value.callOne());
    const cell = there.proc.cell(lastMesh())!;
    const { spec } = cell;
    there.proc.createActor({ ...spec, incarnation: 1, args: [5] } as never);
    expect(await counter.value.callOne()).toBe(5);
    expect(there.proc.cell(spec.mesh)!.id.incarnation).toBe(1);
    expect(() => there.proc.createActor({ ...spec, incarnation: 2, args: [5] } as never)).toThrow(
      "cannot create counter[0]: it is there already",
    );
  });
});

describe("a handler that still runs after the end of its actor", () => {
  const kinds = { failed: "has failed: Error: fatal", stopped: "was stopped: ordered" } as const;
  test.each(["failed", "stopped"] as const)("cannot send or call any more if the actor %s", async (how) => {
    const elsewhere = world.proc("elsewhere");
    const taker = world.spawn<typeof Counter, never>("taker", Counter, [0], [elsewhere], {});
    const pair = world.spawn<typeof Counter, "gpus">("pair", Counter, [0], [elsewhere, world.proc("further")]);
    const { note, value } = taker;
    let goOn: (() => void) | undefined;
    let said: Promise<string[]> | undefined;
    class Undying extends Counter {
      // Uses one endpoint before and after the end of the actor, like code that keeps it in a variable.
      override async increment(): Promise<void> {
        await value.callOne();
        note.broadcast("before", 0);
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
        note.broadcast("after", 0);
        pair.note.broadcast("after", 0);
        const errors = [failure(value.callOne()), failure(taker.log.callOne()), failure(pair.value.call())];
        said = Promise.all(errors.map(async (error) => (await error).message));
      }
    }
    const undying = counterAt([0], Undying);
    undying.increment.broadcast();
    await until("it has told before", () => goOn !== undefined);
    const [mesh, cell] = [lastMesh(), there.proc.cell(lastMesh())!];
    if (how === "stopped") await world.stop(there, mesh);
    else {
      cell.fail({ kind: "message", error: new Error("fatal"), at: 0 });
      await cell.lifecycle.whenVacated();
      there.proc.createActor({ ...cell.spec, incarnation: 1, args: [0] } as never);
    }
    const link = there.proc.routes.existingLink(elsewhere.proc.id)!;
    await until("its lanes are closed", () => link.sessions.every((session) => session === undefined));
    goOn!();
    await until("it has gone on", () => said !== undefined);
    const why = `its sender has ended: the actor counter[0] ${kinds[how]}`;
    expect(await said).toEqual([
      `cannot call taker.value on rank 0: ${why}`,
      `cannot call taker.log on rank 0: ${why}`,
      `cannot call pair.value on rank 0: ${why}`,
    ]);
    expect(await taker.log.callOne()).toEqual(["init", "+before", "-before"]);
    expect(link.ended).toBe(undefined);
    const told = there.events.filter(({ kind }) => kind === "undeliverable").map(({ detail }) => detail);
    expect(told.length).toBe(how === "failed" ? 3 : 0);
  });
});

describe("stopping an actor", () => {
  test("handles queued messages, then runs cleanup, and rejects later calls", async () => {
    const cleaned: (Error | undefined)[] = [];
    class Cleaning extends Counter {
      override cleanup(error?: Error): void {
        cleaned.push(error);
      }
    }
    const counter = counterAt([0], Cleaning);
    for (let i = 0; i < 5; i++) counter.note.broadcast(`${i}`, 10);
    const log = counter.log.callOne();
    const mesh = lastMesh();
    await until("all messages are there", () => there.proc.cell(mesh)!.waitingCount === 5);
    const stopped = world.stop(there, mesh, { drain: 60_000 });
    const late = failure(counter.value.callOne());
    expect((await log).length).toBe(11);
    await stopped;
    expect((await late).message).toBe("cannot call counter.value on rank 0: the actor counter[0] was stopped: ordered");
    expect(cleaned).toEqual([undefined]);
    expect(there.proc.cell(mesh)).toBe(undefined);
  });

  test("runs cleanup once, with the error, if the actor fails while it handles queued messages", async () => {
    const log: string[] = [];
    class Cleaning extends Counter {
      override cleanup(error?: Error): void {
        log.push(`cleanup: ${error?.message}`);
      }
    }
    there.proc.hooks.stopOwned = async () => {
      log.push("owned stopped");
    };
    const counter = counterAt([0], Cleaning);
    counter.note.broadcast("first", 10);
    counter.fail.broadcast("fatal");
    const mesh = lastMesh();
    await until("both messages are there", () => there.proc.cell(mesh)!.waitingCount === 1);
    await world.stop(there, mesh, { drain: 60_000 });
    expect(log).toEqual(["owned stopped", "cleanup: fatal"]);
    expect(there.failures().map(({ error }) => (error as Error).message)).toEqual(["fatal"]);
    expect((await failure(counter.value.callOne())).message).toMatch(
      /the actor counter\[0\] has failed: TypeError: fatal$/,
    );
  });

  test("runs cleanup once if code of the actor fails during cleanup", async () => {
    let cleanups = 0;
    let goOn: (() => void) | undefined;
    class Cleaning extends Counter {
      override async cleanup(): Promise<void> {
        cleanups++;
        await new Promise<void>((resolve) => (goOn = resolve));
      }
    }
    counterAt([0], Cleaning);
    const cell = there.proc.cell(lastMesh())!;
    const stopped = world.stop(there, cell.mesh);
    await until("cleanup has begun", () => goOn !== undefined);
    cell.fail({ kind: "message", error: new Error("late"), at: 0 });
    goOn!();
    await stopped;
    expect(cleanups).toBe(1);
  });

  test("rejects running and queued calls that have not ended within the drain time", async () => {
    const counter = counterAt([0]);
    const running = failure(counter.sleep.callOne(60_000));
    const waiting = failure(counter.value.callOne());
    await until("both are there", () => there.proc.cell(lastMesh())!.waitingCount === 1);
    await world.stop(there, lastMesh(), { drain: 10 });
    expect((await running).message).toMatch(/was stopped: ordered$/);
    expect((await waiting).message).toMatch(/was stopped: ordered$/);
  });

  describe("with a state that is stored", () => {
    const state = codec.object("CounterState", { count: codec.int32 });
    const descriptor = Object.create(counterDescriptor, { state: { value: state } });
    let saves = 0;
    class Saving extends Counter {
      save(): unknown {
        saves++;
        return { count: saves };
      }
    }

    function create(actorClass: typeof Counter, args: readonly unknown[] = [0]): bigint {
      const mesh = 77_000_000_009n;
      const place = { mesh, rank: 0, incarnation: 0, name: "counter", extent: {}, owner: world.root.proc.id };
      const request = { ...place, descriptor, actorClass, args, savesAtStop: true };
      saves = 0;
      there.proc.createActor(request as never);
      return mesh;
    }

    const stored = () => there.events.filter(({ kind }) => kind === "saved" || kind === "lost");

    test("stores the last state before cleanup, when the queue is empty", async () => {
      const log: string[] = [];
      class Cleaning extends Saving {
        override cleanup(): void {
          log.push(`cleanup after ${stored().length}`);
        }
      }
      await world.stop(there, create(Cleaning));
      expect(stored()).toMatchObject([
        { kind: "saved", detail: { actorId: 7, state: state.toProtobuf({ count: 1 }) } },
      ]);
      expect(log).toEqual(["cleanup after 1"]);
    });

    test("does not store the state of an actor that has not started, has failed, or handles a message", async () => {
      class Slow extends Saving {
        override init(): Promise<void> {
          return new Promise(() => {});
        }
      }
      await world.stop(there, create(Slow), { drain: 5 });
      const failed = create(Saving);
      there.proc.cell(failed)!.fail({ kind: "message", error: new Error("gone"), at: 0 });
      await world.stop(there, failed);
      const record = currentMeshRecord({ id: 77_000_000_009n, name: "c", owner: world.root.proc.id, extent: {} });
      record.setLocation(0, { proc: there.proc.id, location: "there" });
      const busy = create(Saving);
      const counter = wholeMesh(record, counterDescriptor) as unknown as CounterMesh<never>;
      const sleeping = failure(counter.sleep.callOne(60_000));
      await until("it handles a message", () => there.proc.cell(busy)!.calls.length === 1);
      await world.stop(there, busy, { drain: 5 });
      await sleeping;
      expect([stored(), saves]).toEqual([[], 0]);
    });

    test("reports a state that cannot be saved or stored, and still ends the actor", async () => {
      class Failing extends Counter {
        save(): unknown {
          throw new Error("no state");
        }
      }
      const mesh = create(Failing);
      await world.stop(there, mesh);
      there.proc.hooks.storeLastState = () => Promise.reject(new Error("full"));
      await world.stop(there, create(Saving));
      expect(stored().map(({ kind, detail }) => [kind, (detail as Error).message])).toEqual([
        ["lost", "save threw: no state"],
        ["lost", "full"],
      ]);
      expect(there.proc.cell(mesh)).toBe(undefined);
    });
  });

  test("reports an error of cleanup, and still ends the actor", async () => {
    class Cleaning extends Counter {
      override cleanup(): void {
        throw new Error("mess");
      }
    }
    counterAt([0], Cleaning);
    const mesh = lastMesh();
    await world.stop(there, mesh);
    expect(there.proc.cell(mesh)).toBe(undefined);
    expect(there.events.filter(({ kind }) => kind === "cleanupFailed").length).toBe(1);
  });

  test("removes the sessions and lanes that lead to the actor on both sides of the link", async () => {
    const counter = counterAt([0]);
    await counter.value.callOne();
    const link = world.root.proc.routes.existingLink(there.proc.id)!;
    expect(link.sessions.filter((session) => session !== undefined).length).toBe(1);
    await world.stop(there, lastMesh());
    await until("the lane is given up", () => link.sessions.every((session) => session === undefined));
    expect(link.sessions.filter((session) => session !== undefined).length).toBe(0);
    const back = [...there.proc.routes.allLinks()].flatMap(({ lanes }) => lanes.filter((lane) => lane !== undefined));
    expect(back).toEqual([]);
    expect((await failure(counter.value.callOne())).message).toMatch(/the actor counter\[0\] was stopped: ordered$/);
  });
});

test("the end of a process rejects its pending calls at once, and later calls to it, with the reason", async () => {
  const counter = counterAt([0]);
  await counter.value.callOne();
  const pending = failure(counter.sleep.callOne(60_000));
  world.root.proc.peerDown(there.proc.id, "it was killed by SIGKILL");
  const errors = [await pending, await failure(counter.value.callOne())];
  for (const error of errors) expect(error).toBeInstanceOf(SupervisionError);
  expect(errors[0]!.message).toBe("cannot call counter.sleep on rank 0: it was killed by SIGKILL");
  expect(errors[1]!.message).toBe("cannot call counter.value on rank 0: it was killed by SIGKILL");
  counter.increment.broadcast(1);
  expect(world.root.events.map(({ kind }) => kind)).toEqual(["peerDown", "undeliverable"]);
});

describe("a stopped actor", () => {
  test("still delivers all messages that it sent before, even those that wait for credit", async () => {
    const tight = new World({ creditMessages: 4 });
    const [a, b] = [tight.proc("a"), tight.proc("b")];
    const slow = tight.spawn<typeof Counter, never>("slow", Counter, [0], [b], {});
    let target: CounterMesh<never> | undefined = slow;
    class Sender extends Counter {
      override increment(): void {
        for (let i = 0; i < 50; i++) target?.note.broadcast(`${i}`, 1);
      }
    }
    const sender = tight.spawn<typeof Sender, never>("sender", Sender, [0], [a], {});
    await sender.increment.callOne();
    await tight.stop(a, [...a.proc.cells()].at(-1)!.mesh, { drain: 0 });
    let log: string[] = [];
    for (let i = 0; i < 500 && log.length < 101; i++) {
      await delay(5);
      log = await slow.log.callOne();
    }
    expect(log.length).toBe(101);
    target = undefined;
    tight.close();
  });
});
