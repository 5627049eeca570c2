/** Messages that are sent: their metadata, their receivers, and the cases in which nothing is sent at all. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { dispatcherOf } from "../../../runtime/actor/call/endpoint.js";
import type { Turn } from "../../../runtime/actor/cell/turn.js";
import { context } from "../../../runtime/actor/context.js";
import { BackpressureError } from "../../../runtime/actor/errors.js";
import { type ActorMesh, viewOf, wholeMesh } from "../../../runtime/actor/mesh/actor-mesh.js";
import { Channel } from "../../../runtime/actor/port/channel.js";
import type { Port } from "../../../runtime/actor/port/port.js";
import { MeshRecord } from "../../../runtime/actor/reference/mesh-record.js";
import { AGENT_MESH } from "../../../runtime/link/address.js";
import { range } from "../../../runtime/shape/index.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { ManualClock } from "../../link/resumable/cut-world.js";
import { Counter, type CounterMesh, counterDescriptor, until } from "../counter.js";
import { type TestProc, World } from "../world.js";

let clock: ManualClock;
let world: World;
let procs: TestProc[];
let counters: CounterMesh<"gpus">;

/** The names of processes for sending actors, which do not belong to the mesh. */
const senders = Array.from({ length: 20 }, (_, i) => `sender${i}`);

/** Makes a mesh of `size` actors; their processes and the root share the manual clock. */
function make(size: number, limits = {}): void {
  world?.close();
  const names = Array.from({ length: size }, (_, i) => `p${i}`);
  world = new World(limits, Object.fromEntries(["root", ...senders, ...names].map((name) => [name, clock])));
  procs = names.map((name) => world.proc(name));
  counters = world.spawn("counters", Counter, [0], procs);
}

beforeEach(() => {
  clock = new ManualClock();
  make(2);
});
afterEach(() => world.close());

/** The messages that an actor is handling. */
function handled(rank: number): Turn[] {
  return [...procs[rank]!.proc.cells()].flatMap(({ calls }) => calls);
}

/** The messages that the actors of all ranks are handling, as soon as each of them has one. */
async function handledByAll(): Promise<Turn[]> {
  const each = procs.map((_, rank) => rank);
  await until("all handle a message", () => each.every((rank) => handled(rank).length > 0));
  return each.flatMap((rank) => handled(rank));
}

/** Spawns an actor whose handler of `sleep` calls `send`. */
function spawnSender(send: () => unknown): CounterMesh<never> {
  class Sender extends Counter {
    override async sleep(ms: number): Promise<number> {
      await send();
      return ms;
    }
  }
  const name = `sender${world.procs.size}`;
  return world.spawn<typeof Sender, never>(name, Sender, [0], [world.proc(name)], {}) as CounterMesh<never>;
}

describe("the number of arguments", () => {
  const one = () => counters.slice({ gpus: 0 });
  const cases: [string, () => unknown, string][] = [
    [
      "none where none may be",
      () => (one().value.callOne as (...a: unknown[]) => unknown)(1),
      "value: expected 0 arguments, got 1",
    ],
    ["too few", () => (one().sleep.callOne as () => unknown)(), "sleep: expected 1 argument, got 0"],
    [
      "too many",
      () => (one().note.broadcast as (...a: unknown[]) => unknown)("a", 1, 2),
      "note: expected 2 arguments, got 3",
    ],
    [
      "too few for some",
      () => (counters.note.call as (...a: unknown[]) => unknown)("a"),
      "note: expected 2 arguments, got 1",
    ],
    [
      "more than may be",
      () => (counters.increment.broadcast as (...a: unknown[]) => unknown)(1, 2),
      "increment: expected 0 to 1 arguments, got 2",
    ],
    ["of a stream", () => (counters.watch.stream as () => unknown)(), "watch: expected 1 argument, got 0"],
  ];
  test.each(cases)("is checked before anything is sent, and a wrong number throws: %s", (_, send, text) => {
    expect(send).toThrow(new TypeError(`cannot call counters.${text}`));
  });

  test("may be any number from the minimum to the maximum of the endpoint", async () => {
    counters.increment.broadcast();
    counters.increment.broadcast(4);
    expect([...(await counters.value.call()).values()]).toEqual([5, 5]);
  });
});

describe("an endpoint object that several actors share", () => {
  test("sends each call in the name of the actor that uses it", async () => {
    const { where } = counters.slice({ gpus: 1 });
    const callers: string[] = [];
    const ask = async () => callers.push((await where.callOne()).caller);
    const [a, b] = [spawnSender(ask), spawnSender(ask)];
    await ask();
    await a.sleep.callOne(0);
    await b.sleep.callOne(0);
    await a.sleep.callOne(0);
    await ask();
    expect(callers).toEqual(["root", "sender3[0]", "sender4[0]", "sender3[0]", "root"]);
  });

  test("returns an undeliverable broadcast to the actor that has sent it", async () => {
    await world.stop(procs[1]!, [...procs[1]!.proc.cells()][0]!.mesh);
    const { increment } = counters.slice({ gpus: 1 });
    const a = spawnSender(() => increment.broadcast(1));
    increment.broadcast(1);
    await a.sleep.callOne(0);
    increment.broadcast(1);
    const told = () =>
      [...world.procs.values()].flatMap(({ events }) => events.filter(({ kind }) => kind === "undeliverable"));
    await until("all have come back", () => told().length === 3);
    expect(
      told()
        .map(({ actor }) => actor)
        .sort(),
    ).toEqual(["root", "root", "sender3[0]"]);
    expect(told()[0]!.detail).toMatchObject({
      reason: "stopped",
      message: "the actor counters[1] was stopped: ordered",
    });
  });

  test("uses another session after the end of the session that it has used", async () => {
    const { value, increment } = counters.slice({ gpus: 0 });
    expect(await value.callOne()).toBe(0);
    const { mesh, spec } = [...procs[0]!.proc.cells()][0]!;
    procs[0]!.proc.cell(mesh)!.fail({ kind: "killed", error: new Error("over"), at: 0 });
    await expect(value.callOne()).rejects.toThrow("the actor counters[0] has failed: Error: over");
    await procs[0]!.proc.cell(mesh)!.lifecycle.whenVacated();
    procs[0]!.proc.createActor({ ...spec, incarnation: 1, args: [7] } as never);
    increment.broadcast(1);
    expect(await value.callOne()).toBe(8);
  });
});

describe("a message to the actor at one rank", () => {
  test("reaches only this actor, and is sent by the actor whose code sends it", async () => {
    const increment = dispatcherOf(counters.increment);
    await increment.castOne([5], 1);
    expect([...(await counters.value.call()).values()]).toEqual([0, 5]);
    await world.stop(procs[1]!, [...procs[1]!.proc.cells()][0]!.mesh);
    const sender = spawnSender(() => increment.castOne([5], 1));
    await sender.sleep.callOne(0);
    const told = () =>
      [...world.procs.values()].flatMap(({ events }) => events).filter(({ kind }) => kind === "undeliverable");
    await until("the sender is told", () => told().length > 0);
    expect(told().map(({ actor }) => actor)).toEqual([`${viewOf(sender as never).record.name}[0]`]);
  });
});

describe("a call of the runtime itself", () => {
  test("is one to an agent of a process, and not one to an actor", () => {
    expect(dispatcherOf(counters.value).isInternal).toBe(false);
    const owner = world.root.proc.id;
    const agents = new MeshRecord({ id: AGENT_MESH, name: "agents", owner, extent: { gpus: 1 } });
    const agent = wholeMesh(agents, counterDescriptor) as unknown as CounterMesh;
    expect(dispatcherOf(agent.value).isInternal).toBe(true);
  });
});

describe("choose", () => {
  /** Makes the random generator return exactly these numbers. */
  function draw(...numbers: number[]): void {
    const { id } = world.root.proc.random;
    Object.assign(world.root.proc, { random: { id, number: () => numbers.shift()! } });
  }

  test("calls the rank that the random numbers select, anew each time", async () => {
    const ranks = [];
    for (const number of [0.6, 0.1, 0.9, 0.2]) {
      draw(number, number);
      ranks.push((await counters.where.choose()).rank);
    }
    expect(ranks).toEqual([1, 0, 1, 0]);
  });

  test("calls the actor with fewer pending calls of the two that were drawn", async () => {
    const busy = counters.slice({ gpus: 0 }).meanwhile.callOne(60_000);
    await handledBy(0);
    const ranks = [];
    for (const [one, other] of [
      [0, 0.5],
      [0.5, 0],
      [0, 0],
      [0.5, 0.5],
    ]) {
      draw(one!, other!);
      ranks.push((await counters.where.choose()).rank);
    }
    busy.cancel();
    await busy.catch(() => {});
    expect(ranks).toEqual([1, 1, 0, 1]);
  });

  test("calls the first of the two drawn actors if both are equally busy", async () => {
    const ranks = [];
    for (const [one, other] of [
      [0.5, 0],
      [0, 0.5],
    ]) {
      draw(one!, other!);
      ranks.push((await counters.where.choose()).rank);
    }
    expect(ranks).toEqual([1, 0]);
  });
});

async function handledBy(rank: number): Promise<Turn> {
  await until("it handles a message", () => handled(rank).length > 0);
  return handled(rank)[0]!;
}

describe("the timeout of a call", () => {
  test.each([
    ["none", {}, 0],
    ["its own", { timeout: 30_000 }, 30_000],
    ["whole milliseconds", { timeout: 29_999.5 }, 30_000],
    ["at least one", { timeout: 0.001 }, 1],
    ["none that never ends", { timeout: Number.POSITIVE_INFINITY }, 0],
  ])("reaches the receivers as their remaining time: %s", async (_, options, left) => {
    const call = counters.untilAborted.with(options).call();
    const turns = await handledByAll();
    expect(turns.map(({ timeLeft }) => timeLeft)).toEqual([left, left]);
    call.cancel();
    await call.catch(() => {});
  });

  test.each([
    ["the caller's, if the call has none", {}, 20_000],
    ["the call's, if it is less", { timeout: 10_000 }, 10_000],
    ["the caller's, if that is less", { timeout: 30_000 }, 20_000],
  ])("is limited by the remaining time of the handler that makes the call: %s", async (_, options, left) => {
    for (const part of [counters, counters.slice({ gpus: 1 })] as CounterMesh<never>[]) {
      const sender = spawnSender(() => part.untilAborted.with(options).call());
      const call = sender.sleep.with({ timeout: 20_000 }).callOne(0);
      const turn = await handledBy(1);
      expect(turn.timeLeft).toBe(left);
      call.cancel();
      await call.catch(() => {});
      await until("nothing is handled", () => procs.every((_, rank) => handled(rank).length === 0));
    }
  });

  test("does not apply to a broadcast, which carries no time limit and no call chain of its sender", async () => {
    const sender = spawnSender(() => counters.untilAborted.broadcast());
    await sender.sleep.with({ timeout: 20_000 }).callOne(0);
    const seen: number[] = [];
    class Seeing extends Counter {
      override increment(): void {
        seen.push((context() as Turn).timeLeft, (context() as Turn).chain.length);
      }
    }
    const seeing = world.spawn<typeof Seeing, never>("seeing", Seeing, [0], [procs[0]!], {});
    const other = spawnSender(() => seeing.increment.with({ timeout: 5000 }).broadcast());
    await other.sleep.with({ timeout: 20_000 }).callOne(0);
    await seeing.value.callOne();
    // The chain holds only the actor itself, as two numbers, because the sender does not wait.
    expect(seen).toEqual([0, 2]);
  });

  test("of 0 ms rejects the call, and nothing is sent", async () => {
    for (const call of [
      counters.increment.with({ timeout: 0 }).call(1),
      counters.slice({ gpus: 0 }).increment.with({ timeout: 0 }).callOne(1),
    ]) {
      await expect(call).rejects.toThrow("cannot call counters.increment: no answer within 0 ms");
    }
    expect([...(await counters.value.call()).values()]).toEqual([0, 0]);
    expect(() => counters.increment.with({ timeout: 0 }).call(1.5)).toThrow(/cannot encode/);
  });
});

describe("the trace of a message", () => {
  const given = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`;
  /** The traces that the ranks get with the messages of `send`, by rank. */
  async function traces(send: (mesh: CounterMesh<"gpus">) => unknown): Promise<(string | undefined)[]> {
    const seen: (string | undefined)[] = [];
    class Seeing extends Counter {
      override increment(): void {
        const { rank } = context().actor.rank;
        const trace = (context() as Turn).extension?.trace;
        if (trace !== undefined) seen[rank] = trace.toString();
      }
    }
    const seeing = world.spawn("seeing", Seeing, [0], procs) as CounterMesh<"gpus">;
    await send(seeing);
    await seeing.value.call();
    return seen;
  }

  test.each<[string, (mesh: CounterMesh<"gpus">) => unknown]>([
    ["a call to many", (mesh) => mesh.increment.with({ traceparent: given }).call()],
    ["a broadcast to many", (mesh) => mesh.increment.with({ traceparent: given }).broadcast()],
    [
      "calls to each",
      (mesh) => [0, 1].map((gpus) => mesh.slice({ gpus }).increment.with({ traceparent: given }).callOne()),
    ],
    [
      "messages to each",
      (mesh) => [0, 1].map((gpus) => mesh.slice({ gpus }).increment.with({ traceparent: given }).broadcast()),
    ],
    ["a handler", (mesh) => spawnSender(() => mesh.increment.with({ traceparent: given }).call()).sleep.callOne(0)],
  ])("is the traceparent that the sender gave: %s", async (_, send) => {
    expect(await traces(send)).toEqual([given, given]);
  });

  test.each<[string, (mesh: CounterMesh<"gpus">) => unknown]>([
    ["a call", (mesh) => mesh.increment.call()],
    ["a broadcast", (mesh) => mesh.increment.broadcast()],
  ])("that begins with %s to several actors is the same for all receivers", async (_, send) => {
    const [one, other] = await traces(send);
    expect(one).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(other).toBe(one);
  });

  test("is left out if code outside of actors sends to a single actor without a traceparent", async () => {
    expect(await traces((mesh) => [0, 1].map((gpus) => mesh.slice({ gpus }).increment.callOne()))).toEqual([]);
    expect(await traces((mesh) => [0, 1].map((gpus) => mesh.slice({ gpus }).increment.broadcast()))).toEqual([]);
  });

  test("that a handler has is passed on with every message that the handler sends", async () => {
    let own = "";
    const seen = await traces((mesh) => {
      const sender = spawnSender(async () => {
        own = context().trace.traceparent;
        await mesh.increment.call();
      });
      return sender.sleep.callOne(0);
    });
    expect(seen).toEqual([own, own]);
    const one = await traces((mesh) => {
      const sender = spawnSender(async () => {
        own = context().trace.traceparent;
        await mesh.slice({ gpus: 0 }).increment.callOne();
        mesh.slice({ gpus: 1 }).increment.broadcast();
      });
      return sender.sleep.callOne(0);
    });
    expect(one).toEqual([own, own]);
  });
});

describe("a call from an actor to its own mesh", () => {
  test("rejects with the message of a deadlock if its receivers include the caller itself", async () => {
    const all: { mesh?: CounterMesh<"gpus"> } = {};
    class Asking extends Counter {
      override async sleep(): Promise<number> {
        return all.mesh!.value.reduce("sum");
      }
    }
    all.mesh = world.spawn("asking", Asking, [0], procs) as CounterMesh<"gpus">;
    await expect(all.mesh.slice({ gpus: 1 }).sleep.callOne(0)).rejects.toThrow(
      "cannot call asking.value from asking[1]: asking[1] waits for the answer of this call chain itself; " +
        "make the endpoint that called out @concurrent, or use broadcast",
    );
    expect([...(await all.mesh.value.call()).values()]).toEqual([0, 0]);
  });

  test("succeeds if its receiver is another actor of the mesh", async () => {
    const all: { mesh?: CounterMesh<"gpus"> } = {};
    class Asking extends Counter {
      override async sleep(): Promise<number> {
        return all.mesh!.slice({ gpus: 0 }).value.callOne();
      }
    }
    all.mesh = world.spawn("asking", Asking, [5], procs) as CounterMesh<"gpus">;
    expect(await all.mesh.slice({ gpus: 1 }).sleep.callOne(0)).toBe(5);
  });
});

describe("a call that a handler has made", () => {
  test.each<[string, (mesh: CounterMesh<"gpus">) => Promise<unknown>]>([
    ["one actor", (mesh) => mesh.slice({ gpus: 1 }).untilAborted.callOne()],
    ["many", (mesh) => mesh.untilAborted.call()],
    [
      "a stream of many",
      (mesh) =>
        mesh.endless
          .stream()
          .next()
          .then(() => new Promise(() => {})),
    ],
  ])("is cancelled when the handler's own call is cancelled: %s", async (_, call) => {
    const sender = spawnSender(() => call(counters));
    const pending = sender.sleep.callOne(0);
    await handledBy(1);
    pending.cancel();
    await pending.catch(() => {});
    await until("nobody handles anything", () => procs.every((_, rank) => handled(rank).length === 0));
  });
});

describe("messages when one of several actors is unreachable", () => {
  /** The process of the second actor has ended. */
  beforeEach(async () => {
    make(3);
    await counters.value.call();
    world.root.proc.peerDown(procs[1]!.proc.id, "it was killed");
  });

  test("a broadcast reports the unreachable actor as undeliverable and reaches the others", async () => {
    counters.increment.broadcast(2);
    expect(await counters.slice({ gpus: 0 }).value.callOne()).toBe(2);
    expect(await counters.slice({ gpus: 2 }).value.callOne()).toBe(2);
    expect(world.root.events.filter(({ kind }) => kind === "undeliverable").map(({ detail }) => detail)).toEqual([
      { to: "counters.increment", reason: "peer-down", message: "it was killed" },
    ]);
  });

  test("a call rejects after its message was sent to all reachable actors", async () => {
    await expect(counters.increment.call(2)).rejects.toThrow("cannot call counters.increment on rank 1: it was killed");
    expect(await counters.slice({ gpus: 2 }).value.callOne()).toBe(2);
  });

  test("callSettled reports the unreachable actor as rejected, also if it is the only receiver", async () => {
    const statuses = (part: CounterMesh<never>) =>
      part.value.callSettled().then((all) => [...all.values()].map(({ status }) => status));
    expect(await statuses(counters as unknown as CounterMesh<never>)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await statuses(counters.slice({ gpus: 1 }) as unknown as CounterMesh<never>)).toEqual(["rejected"]);
  });

  test("a message to the unreachable actor still throws if an argument has a wrong type", () => {
    const one = counters.slice({ gpus: 1 });
    expect(() => one.increment.callOne(1.5)).toThrow(/cannot encode/);
    expect(() => one.increment.broadcast(1.5)).toThrow(/cannot encode/);
    expect(world.root.events.filter(({ kind }) => kind === "undeliverable")).toEqual([]);
  });

  test("a port is held by the actors that got the port, and not by the unreachable actor", async () => {
    const [port, receiver] = Channel.open(codec.int32);
    counters.feed.broadcast(port, 1);
    expect([await receiver.recv(), await receiver.recv()]).toEqual([0, 0]);
    const waiting = receiver.recv();
    counters.slice({ gpus: 0 }).fail.broadcast("over");
    await until("it has failed", () => procs[0]!.failures().length > 0);
    await world.stop(procs[0]!, [...procs[0]!.proc.cells()][0]!.mesh);
    expect(await Promise.race([waiting.catch(() => "orphaned"), counters.slice({ gpus: 2 }).value.callOne()])).toBe(0);
    counters.slice({ gpus: 2 }).fail.broadcast("over");
    await expect(waiting).rejects.toThrow("cannot receive: everyone who held the port has ended");
  });

  test.each<[string, (port: Port<number>) => unknown]>([
    [
      "a call",
      (port) =>
        counters
          .slice({ gpus: 1 })
          .feed.callOne(port, 1)
          .catch(() => {}),
    ],
    ["a message", (port) => counters.slice({ gpus: 1 }).feed.broadcast(port, 1)],
    [
      "a call to one without any time",
      (port) =>
        counters
          .slice({ gpus: 0 })
          .feed.with({ timeout: 0 })
          .callOne(port, 1)
          .catch(() => {}),
    ],
    [
      "a call without any time",
      (port) =>
        counters.feed
          .with({ timeout: 0 })
          .call(port, 1)
          .catch(() => {}),
    ],
  ])("a port has no holders if its message has reached no actor: %s", async (_, send) => {
    const [port, receiver] = Channel.open(codec.int32);
    void send(port);
    await expect(receiver.recv()).rejects.toThrow("cannot receive: everyone who held the port has ended");
  });
});

describe("credit", () => {
  /** Blocks the second actor with a call, so that further messages use up its credit. */
  async function fill(): Promise<{ cancel(): void }> {
    make(2, { creditMessages: 2, sendWindowMessages: 2 });
    await counters.value.call();
    const blocked = counters.slice({ gpus: 1 }).untilAborted.callOne();
    blocked.catch(() => {});
    await handledBy(1);
    // The call itself cannot be returned, because an async function would wait for it.
    return { cancel: () => blocked.cancel() };
  }

  test("of every receiver is needed before an awaited broadcast resolves", async () => {
    const blocked = await fill();
    counters.slice({ gpus: 1 }).increment.broadcast(1);
    const sent = counters.increment.broadcast(1);
    let there = false;
    void sent.then(() => {
      there = true;
    });
    expect(await counters.slice({ gpus: 0 }).value.callOne()).toBe(1);
    expect(there).toBe(false);
    blocked.cancel();
    await sent;
    expect([...(await counters.value.call()).values()]).toEqual([1, 2]);
  });

  test("that is missing for one receiver makes a call throw BackpressureError and reach no actor", async () => {
    const blocked = await fill();
    const sent = [1, 1, 1].map((by) => counters.slice({ gpus: 1 }).increment.broadcast(by));
    expect(() => counters.increment.call(100)).toThrow(BackpressureError);
    blocked.cancel();
    await Promise.all(sent);
    expect([...(await counters.value.call()).values()]).toEqual([0, 3]);
  });
});

describe("a port in a call to several actors", () => {
  test("is held by the receivers until all of them have ended", async () => {
    const [port, receiver] = Channel.open(codec.int32);
    await counters.feed.call(port, 1);
    expect([await receiver.recv(), await receiver.recv()]).toEqual([0, 0]);
    const waiting = receiver.recv();
    counters.fail.broadcast("over");
    await expect(waiting).rejects.toThrow("cannot receive: everyone who held the port has ended");
  });
});

describe("a call during the restart of an actor", () => {
  /** Makes the actor at a rank fail, waits until the failure is known, and returns a function that restarts it. */
  async function end(rank: number): Promise<() => void> {
    const one = counters.slice({ gpus: rank });
    one.fail.broadcast("over");
    await one.value.callOne().catch(() => {});
    const { proc } = procs[rank]!;
    const cell = [...proc.cells()][0]!;
    await cell.lifecycle.whenVacated();
    return () => {
      proc.createActor({ ...cell.spec, incarnation: 1, args: [40 + rank] } as never);
      viewOf(counters as unknown as ActorMesh).record.setLocation(rank, {
        proc: proc.id,
        location: proc.location,
        generation: 1,
      });
    };
  }
  const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
    let yes = false;
    promise.then(
      () => (yes = true),
      () => (yes = true),
    );
    await new Promise((resolve) => setImmediate(resolve));
    return yes;
  };

  test.each<[string, (mesh: CounterMesh<"gpus">) => Promise<unknown>, unknown]>([
    ["one actor", (mesh) => mesh.slice({ gpus: 1 }).value.with({ wait: true }).callOne(), 41],
    [
      "all",
      (mesh) =>
        mesh.value
          .with({ wait: true })
          .call()
          .then((all) => [...all.values()]),
      [0, 41],
    ],
    ["a reduction", (mesh) => mesh.value.with({ wait: true }).reduce("sum"), 41],
    [
      "a stream",
      (mesh) =>
        mesh
          .slice({ gpus: 1 })
          .watch.with({ wait: true })
          .stream(1)
          .next()
          .then(({ value }) => value![1]),
      41,
    ],
    [
      "outcomes",
      (mesh) =>
        mesh.value
          .with({ wait: true })
          .callSettled()
          .then((all) => [...all.values()].map(({ status }) => status)),
      ["fulfilled", "fulfilled"],
    ],
  ])("waits for the restart if its option wait is true: %s", async (_, call, answer) => {
    const restart = await end(1);
    const pending = call(counters);
    expect(await isSettled(pending)).toBe(false);
    restart();
    expect(await pending).toEqual(answer);
  });

  test("by choose with wait: true waits only while no actor is alive", async () => {
    const restarts = [await end(1)];
    expect(await counters.value.with({ wait: true }).choose()).toBe(0);
    restarts.push(await end(0));
    const pending = counters.value.with({ wait: true }).choose();
    expect(await isSettled(pending)).toBe(false);
    restarts[0]!();
    expect(await pending).toBe(41);
  });

  test("rejects without waiting if it has no wait option", async () => {
    await end(1);
    await expect(counters.value.call()).rejects.toThrow("the actor counters[1] has failed: TypeError: over");
  });

  test("throws at once if its arguments are invalid, although it has wait: true", async () => {
    await end(1);
    const one = counters.slice({ gpus: 1 });
    expect(() => one.increment.with({ wait: true }).callOne(1.5)).toThrow(/cannot encode/);
    expect(() => one.watch.with({ wait: true }).stream("x" as never)).toThrow(/cannot encode/);
  });

  test("stops waiting at its timeout, at the abort of its signal, or when it is cancelled", async () => {
    await end(1);
    const one = counters.slice({ gpus: 1 }).value;
    const late = one.with({ wait: true, timeout: 50 }).callOne();
    const given = new AbortController();
    const aborted = one.with({ wait: true, signal: given.signal }).callOne();
    const cancelled = one.with({ wait: true }).callOne();
    const ends = Promise.allSettled([late, aborted, cancelled]);
    clock.pass(50);
    given.abort(new Error("enough"));
    cancelled.cancel();
    expect((await ends).map((outcome) => (outcome as PromiseRejectedResult).reason.message)).toEqual([
      "cannot call counters.value: no answer within 50 ms",
      "enough",
      "the call was cancelled",
    ]);
  });
});

describe("messages to many receivers, down a tree of their processes", () => {
  const size = 5;
  beforeEach(() => make(size, { treeAbove: 3, treeFanout: 1, maxFrame: 200_000 }));
  const links = () => world.root.proc.routes.allLinks().filter(({ peer }) => peer !== world.root.proc.id).length;

  test("calls and broadcasts use a single link of the sender if the fan-out is 1", async () => {
    await counters.increment.broadcast(3);
    expect([...(await counters.value.call()).values()]).toEqual(new Array(size).fill(3));
    expect(links()).toBe(1);
  });

  test("calls and broadcasts to few receivers go to each receiver directly", async () => {
    const few = counters.slice({ gpus: range(0, 3) });
    await few.increment.broadcast(3);
    expect([...(await few.value.call()).values()]).toEqual([3, 3, 3]);
    expect(links()).toBe(3);
  });

  test("streams go to each receiver directly", async () => {
    const seen: number[] = [];
    for await (const [{ rank }] of counters.watch.stream(1)) seen.push(rank);
    expect([seen.sort(), links()]).toEqual([[0, 1, 2, 3, 4], size]);
  });

  test("a message that does not fit into a frame with its routing data goes to each receiver directly", async () => {
    const bytes = new Uint8Array(199_900).fill(7);
    const answers = await counters.bytes.call(bytes);
    expect([...answers.values()].every((answer) => answer.length === bytes.length && answer[9] === 7)).toBe(true);
    expect(links()).toBe(size);
    counters.bytes.broadcast(bytes);
    expect([...(await counters.value.call()).values()]).toEqual(new Array(size).fill(0));
  });

  test("the receivers of a broadcast get no time limit and no call chain", async () => {
    const seen: number[][] = [];
    class Seeing extends Counter {
      override increment(): void {
        const { timeLeft, extension } = context() as Turn;
        seen.push([timeLeft, extension!.chain.length]);
      }
    }
    const seeing = world.spawn("seeing", Seeing, [0], procs) as CounterMesh<"gpus">;
    const sender = spawnSender(() => seeing.increment.with({ timeout: 5000 }).broadcast());
    await sender.sleep.with({ timeout: 20_000 }).callOne(0);
    await until("all have seen it", () => seen.length === size);
    expect(seen).toEqual(new Array(size).fill([0, 0]));
  });

  test("the receivers of a call get the remaining time, the trace and the call chain of the caller", async () => {
    const sender = spawnSender(() => counters.untilAborted.call());
    const pending = sender.sleep.with({ timeout: 20_000 }).callOne(0);
    const turns = await handledByAll();
    expect(turns.map(({ timeLeft }) => timeLeft)).toEqual(new Array(size).fill(20_000));
    expect(turns.map(({ chain }) => chain.length)).toEqual(new Array(size).fill(4));
    expect(new Set(turns.map(({ trace }) => trace.id)).size).toBe(1);
    pending.cancel();
    await pending.catch(() => {});
    await until("nobody handles anything", () => procs.every((_, rank) => handled(rank).length === 0));
  });

  test("a port in a message down the tree is held by the receivers until all of them have ended", async () => {
    const [port, receiver] = Channel.open(codec.int32);
    await counters.feed.call(port, 1);
    for (let i = 0; i < size; i++) expect(await receiver.recv()).toBe(0);
    const waiting = receiver.recv();
    counters.fail.broadcast("over");
    await expect(waiting).rejects.toThrow("cannot receive: everyone who held the port has ended");
  });

  test("a call down the tree is refused if the actor that sends it has ended", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const outcome: { error?: Error } = {};
    const sender = spawnSender(async () => {
      await held;
      await counters.value.call().catch((error) => {
        outcome.error = error;
      });
    });
    const pending = sender.sleep.callOne(0).catch(() => {});
    const there = [...world.procs.values()].at(-1)!;
    await until("it runs", () => [...there.proc.cells()].some(({ calls }) => calls.length > 0));
    await world.stop(there, [...there.proc.cells()][0]!.mesh, { drain: 0 });
    release();
    await pending;
    await until("it was refused", () => outcome.error !== undefined);
    expect(outcome.error!.message).toMatch(
      /^cannot call counters\.value on rank 0: its sender has ended: the actor sender\d\[0\] was stopped: ordered$/,
    );
  });
});
