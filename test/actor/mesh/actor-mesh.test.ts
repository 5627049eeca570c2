/** Meshes as users see them: their parts and shapes, meshes as values in messages, and stop. */
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Actor } from "../../../runtime/actor/actor.js";
import type { Endpoint } from "../../../runtime/actor/call/endpoint.js";
import { SupervisionError } from "../../../runtime/actor/errors.js";
import { type ActorMesh, descriptorOf, livingPoint, procsOf, viewOf } from "../../../runtime/actor/mesh/actor-mesh.js";
import { currentMeshRecord } from "../../../runtime/actor/mesh/current-mesh-record.js";
import type { MeshKind } from "../../../runtime/actor/mesh-kind.js";
import type { MeshStopOptions } from "../../../runtime/actor/reference/mesh-record.js";
import { range } from "../../../runtime/shape/index.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../../runtime/wire/descriptor.js";
import { Counter, type CounterMesh, counterDescriptor } from "../counter.js";
import { type TestProc, World } from "../world.js";

const user = defineActor({
  key: "test/meshes#User",
  name: "User",
  id: 2,
  fingerprint: 0x61n,
  args: () => defineArgs(codec.tuple(), 0, 0),
  endpoints: () => ({
    sum: { id: 1, args: defineArgs(codec.tuple(codec.mesh(() => counterDescriptor)), 1, 1), result: codec.int32 },
    keep: { id: 2, args: defineArgs(codec.tuple(codec.mesh(() => counterDescriptor)), 1, 1) },
    kept: { id: 3, args: defineArgs(codec.tuple(), 0, 0), result: codec.mesh(() => counterDescriptor) },
    line: { id: 4, args: defineArgs(codec.tuple(codec.mesh(() => counterDescriptor, ["gpus"])), 1, 1) },
  }),
});

interface UserKind extends MeshKind {
  readonly mesh: UserMesh<this["dims"]>;
}
interface UserMesh<D extends string = string> extends ActorMesh<UserKind, D> {
  readonly sum: Endpoint<[counters: CounterMesh], number, D>;
  readonly keep: Endpoint<[counters: CounterMesh], void, D>;
  readonly kept: Endpoint<[], CounterMesh, D>;
  readonly line: Endpoint<[counters: CounterMesh<"gpus">], void, D>;
}

class User extends Actor {
  static override readonly descriptor = user;
  declare readonly $kind: UserKind;
  #kept: CounterMesh | undefined;
  async sum(counters: CounterMesh): Promise<number> {
    return counters.value.reduce("sum");
  }
  keep(counters: CounterMesh): void {
    this.#kept = counters;
  }
  kept(): CounterMesh {
    return this.#kept!;
  }
  line(): void {}
}

let world: World;
let procs: TestProc[];
let counters: CounterMesh<"gpus">;
let users: UserMesh<never>;

beforeEach(() => {
  world = new World();
  procs = ["a", "b", "c", "d"].map((name) => world.proc(name));
  counters = world.spawn("counters", Counter, [1], procs);
  users = world.spawn<typeof User, never>("user", User, [], [world.proc("u")], {});
});
afterEach(() => world.close());

describe("parts of a mesh", () => {
  test("have their own extents and ranks, and messages reach only their actors", async () => {
    expect(counters.extent).toEqual({ gpus: 4 });
    const grid = counters.split({ gpus: ["dp", "tp"] }, { tp: 2 });
    expect(grid.extent).toEqual({ dp: 2, tp: 2 });
    grid.slice({ dp: 1, tp: 0 }).increment.broadcast(10);
    expect([...(await grid.value.call()).values()]).toEqual([1, 1, 11, 1]);
    expect(await grid.slice({ dp: 1 }).value.reduce("sum")).toBe(12);
    expect(grid.rename({ tp: "model" }).extent).toEqual({ dp: 2, model: 2 });
    expect(grid.flatten("rank").extent).toEqual({ rank: 4 });
    expect(() => grid.slice({ tp: 0 }).flatten("x")).toThrow(/cannot flatten/);
  });

  test("at() takes one index for each dimension, and refuses missing indexes and ranges", () => {
    const grid = counters.split({ gpus: ["dp", "tp"] }, { tp: 2 });
    const at = (where: unknown) => () => (grid.at as (where: unknown) => unknown)(where);
    expect(grid.at({ dp: 1, tp: 0 } as never).extent).toEqual({});
    expect(at({ dp: 1 })).toThrow(
      "cannot look up tp of {'dp': 2, 'tp': 2}: expected an index for each dimension, got none",
    );
    expect(at({ dp: 1, tp: range(0, 1) })).toThrow(
      "cannot look up tp of {'dp': 2, 'tp': 2}: expected an integer from 0 to 1",
    );
    expect(at(undefined)).toThrow(
      "cannot look up {'dp': 2, 'tp': 2}: expected dimensions, each with an index, got undefined",
    );
  });

  test("are iterated over in rank order", async () => {
    const seen: string[] = [];
    for (const [point, one] of counters.slice({ gpus: range(1, 4, 2) })) {
      seen.push(`${point} ${one.size} ${(await one.where.callOne()).actor}`);
    }
    expect(seen).toEqual(["{'gpus': 0/2} 1 counters 1", "{'gpus': 1/2} 1 counters 3"]);
    expect(await counters.at([...counters][2]![0]).where.callOne()).toMatchObject({ actor: "counters 2" });
  });

  test("are printed by toTable with the rank, dimension, actor and process of each actor", () => {
    expect(counters.slice({ gpus: range(2, 4) }).toTable()).toMatch(
      /^rank {2}gpus {2}actor {8}process\n0 {5}0 {5}counters\[2\] {2}[0-9a-f]{16}\n1 {5}1 {5}counters\[3\] {2}[0-9a-f]{16}$/,
    );
  });

  test("are printed by inspect with their type, name and extent, and endpoints with their name", () => {
    expect(inspect(counters)).toBe('CounterMesh counters{"gpus":4}');
    expect(inspect(counters.slice({ gpus: 1 }))).toBe("CounterMesh counters{}");
    expect(inspect([counters.value, counters.watch])).toBe(
      "[ Endpoint counters.value, StreamEndpoint counters.watch ]",
    );
  });

  test("an empty mesh gives no answers, and choose, byKey and map refuse it", async () => {
    const record = currentMeshRecord({ id: 991n, name: "none", owner: world.root.proc.id, extent: { gpus: 0 } });
    const { makeMesh } = await import("../../../runtime/actor/mesh/actor-mesh.js");
    const { MeshView } = await import("../../../runtime/actor/reference/mesh-view.js");
    const { wholeRegion } = await import("../../../runtime/shape/index.js");
    const view = new MeshView(record, counterDescriptor, wholeRegion({ gpus: 0 }));
    const none = makeMesh(view) as unknown as CounterMesh;
    expect([...(await none.value.call()).values()]).toEqual([]);
    await none.increment.broadcast(1);
    expect(() => none.value.choose()).toThrow(new RangeError("choose requires at least 1 actor, but mesh has 0"));
    expect(() => none.byKey("user-42")).toThrow(new RangeError("byKey requires at least 1 actor, but mesh has 0"));
    expect(() => none.value.map([])).toThrow(new RangeError("map requires at least 1 actor, but mesh has 0"));
    for await (const _ of none.watch.stream(1)) throw new Error("nobody sent this");
  });
});

describe("a mesh as a value", () => {
  test("can be an argument, as a whole or as a slice", async () => {
    expect(await users.sum.callOne(counters)).toBe(4);
    expect(await users.sum.callOne(counters.slice({ gpus: range(0, 2) }))).toBe(2);
    expect(await users.sum.callOne(counters.slice({ gpus: 3 }))).toBe(1);
  });

  test("can be a result, and still refers to the same mesh", async () => {
    await users.keep.callOne(counters.slice({ gpus: range(1, 3) }));
    const back = await users.kept.callOne();
    expect(back.extent).toEqual({ gpus: 2 });
    back.increment.broadcast(5);
    expect([...(await counters.value.call()).values()]).toEqual([1, 6, 6, 1]);
    expect(viewOf(back as unknown as ActorMesh).record).toBe(viewOf(counters as unknown as ActorMesh).record);
  });

  test("can be sent before its actor exists", async () => {
    const mesh = 992n;
    world.ordered.add(mesh);
    const owner = world.root.proc.id;
    const record = currentMeshRecord({ id: mesh, name: "late", owner, extent: {} });
    record.setLocation(0, { proc: procs[0]!.proc.id, location: "a" });
    const { wholeMesh } = await import("../../../runtime/actor/mesh/actor-mesh.js");
    const late = wholeMesh(record, counterDescriptor) as unknown as CounterMesh;
    const sum = users.sum.callOne(late);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(sum.settled).toBe(false);
    const request = { mesh, rank: 0, incarnation: 0, name: "late", extent: {}, owner };
    procs[0]!.proc.createActor({
      ...request,
      descriptor: counterDescriptor,
      actorClass: Counter as never,
      args: [21],
    });
    expect(await sum).toBe(21);
  });

  test("of another interface or with other dimensions is refused before anything is sent", () => {
    expect(() => users.sum.callOne(users as unknown as CounterMesh)).toThrow(
      /expected a mesh of Counter, got a mesh of User/,
    );
    expect(() => users.line.callOne(counters.rename({ gpus: "tp" }) as unknown as CounterMesh<"gpus">)).toThrow(
      /expected a mesh with the dimensions gpus, got \{'tp': 4\}/,
    );
    expect(() => users.sum.callOne({} as CounterMesh)).toThrow(/expected a mesh of Counter, got an object/);
  });
});

describe("ready", () => {
  test("follows the start of the actors in the process that spawned the mesh, and resolves elsewhere", async () => {
    await expect(counters.ready).resolves.toBe(undefined);
    const { record } = viewOf(counters as unknown as ActorMesh);
    const failed = Promise.reject(new Error("rank 2 could not be started"));
    failed.catch(() => {});
    record.control = { ready: failed, stop: async () => {}, checkpoint: async () => {}, isWhole: () => true };
    await expect(counters.ready).rejects.toThrow("rank 2 could not be started");
    await expect(counters.slice({ gpus: 1 }).ready).rejects.toThrow("rank 2 could not be started");
    record.control = undefined;
  });
});

describe("checkpoint", () => {
  const controlled = (checkpoint: (ranks: readonly number[]) => Promise<void>) => {
    const { record } = viewOf(counters as unknown as ActorMesh);
    record.control = { ready: Promise.resolve(), stop: async () => {}, checkpoint, isWhole: () => true };
    return record;
  };

  test("is taken of the ranks of the slice in the mesh that was spawned", async () => {
    const ordered: (readonly number[])[] = [];
    controlled(async (ranks) => void ordered.push(ranks));
    await counters.checkpoint();
    await counters.slice({ gpus: range(1, 4, 2) }).checkpoint();
    expect(ordered).toEqual([
      [0, 1, 2, 3],
      [1, 3],
    ]);
  });

  test("rejects with the reason if a checkpoint cannot be stored", async () => {
    controlled(() => Promise.reject(new Error("the disk is full")));
    await expect(counters.checkpoint()).rejects.toThrow("the disk is full");
  });

  test("is refused by a process that does not own the mesh, and after the mesh was stopped", () => {
    expect(() => counters.checkpoint()).toThrow(new Error('cannot checkpoint mesh "counters": only its owner can'));
    const record = controlled(async () => {});
    record.stopReason = "enough";
    expect(() => counters.checkpoint()).toThrow(new Error('cannot checkpoint mesh "counters": it was stopped: enough'));
  });
});

describe("what a mesh says about itself", () => {
  test("is the interface of its actors, as its class does", () => {
    expect(descriptorOf(counters as unknown as ActorMesh)).toBe(counterDescriptor);
    expect(descriptorOf(Counter)).toBe(counterDescriptor);
  });

  test("is the processes of its actors in rank order", () => {
    const ids = procs.map(({ proc }) => proc.id);
    expect(procsOf(counters as unknown as ActorMesh)).toEqual(ids);
    expect(procsOf(counters.slice({ gpus: range(1, 4, 2) }) as unknown as ActorMesh)).toEqual([ids[1], ids[3]]);
  });

  test("is the position of one of its living actors", () => {
    for (const rank of [0, 1, 3])
      viewOf(counters as unknown as ActorMesh)
        .target(rank)
        .markDown();
    expect(livingPoint(counters as unknown as ActorMesh).toString()).toBe("{'gpus': 2/4}");
  });
});

describe("stop", () => {
  test("is refused for a slice and for a mesh that the caller does not own", () => {
    expect(() => counters.stop()).toThrow('cannot stop mesh "counters": only its owner can');
    expect(() => counters.slice({ gpus: 0 }).stop()).toThrow('cannot stop a slice of mesh "counters"');
  });

  test("with invalid options is refused, and the mesh continues to answer", async () => {
    const { record } = viewOf(counters as unknown as ActorMesh);
    record.control = {
      ready: Promise.resolve(),
      stop: async () => {},
      checkpoint: async () => {},
      isWhole: () => true,
    };
    const stop = (options: unknown) => () => counters.stop(options as MeshStopOptions);
    expect(stop({ drain: "x" })).toThrow(
      'cannot stop mesh "counters": expected drain in milliseconds, at least 0, got "x"',
    );
    expect(stop({ reason: 5 })).toThrow('cannot stop mesh "counters": expected a text as reason, got 5');
    expect(stop({ drian: 5 })).toThrow(
      'cannot stop mesh "counters": expected one of the options reason, drain, got "drian"',
    );
    expect(await counters.slice({ gpus: 0 }).value.callOne()).toBe(1);
  });

  test("makes later messages throw before anything is sent, on slices too", async () => {
    const { record } = viewOf(counters as unknown as ActorMesh);
    const orders: unknown[] = [];
    record.control = {
      ready: Promise.resolve(),
      checkpoint: async () => {},
      isWhole: () => true,
      stop: async (options) => {
        orders.push(options);
      },
    };
    await counters.ready;
    const slice = counters.slice({ gpus: 1 });
    await counters.stop({ reason: "done" });
    await counters[Symbol.asyncDispose]();
    expect(orders).toEqual([{ reason: "done" }, {}]);
    expect(() => counters.value.call()).toThrow(
      new SupervisionError("counters.value", [0, 1, 2, 3], 'mesh "counters" was stopped: done', {
        actors: ["counters[0]", "counters[1]", "counters[2]", "counters[3]"],
      }),
    );
    expect(() => slice.increment.broadcast(1)).toThrow(
      'cannot call counters.increment on rank 0 (counters[1]): mesh "counters" was stopped: done',
    );
    record.control = undefined;
  });
});
