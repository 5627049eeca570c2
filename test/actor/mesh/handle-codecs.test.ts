/** Codecs of meshes and ports: one process writes a value, and a process that does not know the value reads it. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runInTurn } from "../../../runtime/actor/context.js";
import { type ActorMesh, makeMesh, viewOf, wholeMesh } from "../../../runtime/actor/mesh/actor-mesh.js";
import { portsRead, portsWritten } from "../../../runtime/actor/port/announce-holders.js";
import { Channel } from "../../../runtime/actor/port/channel.js";
import type { ChannelPort, Port } from "../../../runtime/actor/port/port.js";
import { MeshRecord } from "../../../runtime/actor/reference/mesh-record.js";
import { MeshView } from "../../../runtime/actor/reference/mesh-view.js";
import { baseRanks, RankNumbers, range } from "../../../runtime/shape/index.js";
import type { Codec } from "../../../runtime/wire/codec.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { type ActorDescriptor, defineActor, defineArgs } from "../../../runtime/wire/descriptor.js";
import { type CounterMesh, counterDescriptor } from "../counter.js";
import { type TestProc, World } from "../world.js";

let world: World;
let there: TestProc;
beforeEach(() => {
  world = new World();
  there = world.proc("there");
});
afterEach(() => {
  portsRead.length = 0;
  portsWritten.length = 0;
  world.close();
});

const counters = codec.mesh(() => counterDescriptor) as Codec<unknown>;

/** Reads as another process, which knows only what is in the bytes. */
function readThere<T>(type: Codec<T>, bytes: Uint8Array): T {
  return runInTurn(there.proc.root.turn, () => type.decode(bytes)) as T;
}

/** A mesh whose ranks live in pairs, in processes 100, 101 and so on; some have moved. */
function mesh(
  extent: Readonly<Record<string, number>>,
  moved: Readonly<Record<number, number>> = {},
): CounterMesh<"a" | "b"> {
  const record = new MeshRecord({ id: 5_000_000_000n, name: "grid", owner: 77n, extent });
  for (let rank = 0; rank < record.size; rank++) {
    const proc = 100n + BigInt(rank >> 1);
    const place = { proc, location: `unix:${proc}` };
    record.setLocation(rank, moved[rank] === undefined ? place : { ...place, generation: moved[rank]! });
  }
  return wholeMesh(record, counterDescriptor) as never;
}

/** A mesh of 2 x 2 ranks that has got 2 more, whose numbers are 4 and 5. */
function resized(): CounterMesh<"a" | "b"> {
  const { record } = viewOf(mesh({ a: 2, b: 2 }) as unknown as ActorMesh);
  for (const rank of [4, 5]) record.setLocation(rank, { proc: 200n, location: "unix:200", generation: rank - 4 });
  const region = new RankNumbers({ a: 2, b: 2 }).regionOf({ a: 2, b: 3 });
  return makeMesh(new MeshView(record, counterDescriptor, region)) as never;
}

/** The actor at rank 7 of a mesh, which was chosen by a key. */
function keyed(key: string): CounterMesh<never> {
  const { record } = viewOf(mesh({ a: 3, b: 4 }, { 7: 2 }) as unknown as ActorMesh);
  const region = { labels: [], sizes: [], offset: 7, strides: [] };
  return makeMesh(new MeshView(record, counterDescriptor, region, key)) as never;
}

/** All that is known of a mesh, as plain data. */
function known(given: unknown) {
  const view = viewOf(given as ActorMesh);
  const { id, name, owner, extent } = view.record;
  const targets = Array.from({ length: view.size }, (_, rank) => view.target(rank)).map(
    ({ rank, proc, location, generation }) => ({ rank, proc, location, generation }),
  );
  // A region with members is written without the members that it does not have.
  const region = view.region.members === undefined ? view.region : [...baseRanks(view.region)];
  return {
    id,
    name,
    owner,
    extent,
    region,
    labels: view.extent,
    key: view.key,
    descriptor: view.descriptor.key,
    targets,
  };
}

describe("the codec of meshes", () => {
  const grid = () => mesh({ a: 3, b: 4 }, { 0: 2, 7: 1, 11: 5 });
  test.each<[string, () => unknown]>([
    ["as it was spawned", grid],
    ["a part of it", () => grid().slice({ a: range(1, 3), b: range(0, 4, 2) })],
    ["one row", () => grid().slice({ a: 2 })],
    ["one place", () => grid().slice({ a: 2, b: 3 })],
    ["in another shape", () => grid().split({ b: ["c", "d"] } as never, { c: 2 } as never)],
    ["by another name", () => grid().rename({ a: "host" } as never)],
    ["that was resized", () => resized()],
    ["a part of one that was resized", () => resized().slice({ a: 1 })],
    ["of one actor", () => mesh({})],
    ["of the actor of a key", () => keyed("user-42")],
    ["of the actor of the longest key", () => keyed("é".repeat(512))],
    ["of one actor that has moved", () => mesh({}, { 0: 9 })],
  ])("keeps all properties of a mesh that another process reads: %s", (_, make) => {
    const given = make();
    const read = readThere(counters, counters.encode(given));
    expect(known(read)).toEqual(known(given));
    expect(viewOf(read as ActorMesh).record).not.toBe(viewOf(given as ActorMesh).record);
  });

  test("keeps the key of a mesh that is reshaped, and refuses a key that byKey would refuse", () => {
    const reshaped = (keyed("user-42") as unknown as ActorMesh).slice({} as never);
    expect(viewOf(readThere(counters, counters.encode(reshaped)) as ActorMesh).key).toBe("user-42");
    const long = counters.encode(keyed("k".repeat(1025)));
    expect(() => readThere(counters, long)).toThrow(
      'cannot find the actor of a key in mesh "grid": expected a key of 1 to 1024 bytes, got 1025',
    );
  });

  test("reads a mesh twice into the same record, and updates ranks that have moved", () => {
    const before = readThere(counters, counters.encode(mesh({ a: 2, b: 1 })));
    const after = readThere(counters, counters.encode(mesh({ a: 2, b: 1 }, { 1: 3 })));
    expect(viewOf(after as ActorMesh).record).toBe(viewOf(before as ActorMesh).record);
    expect(viewOf(before as ActorMesh).target(1).generation).toBe(3);
  });

  test("writes the location of each process only once", () => {
    const size = (extent: Record<string, number>) => counters.encode(mesh(extent)).length;
    // Two more ranks in one process take up its location once, and one number for each rank.
    expect(size({ a: 5 }) - size({ a: 4 })).toBeGreaterThan(8);
    expect(size({ a: 6 }) - size({ a: 5 })).toBeLessThanOrEqual(8);
  });

  test.each<[unknown, string]>([
    [5, "5"],
    [null, "null"],
    [undefined, "undefined"],
    ["counters", '"counters"'],
    [{}, "an object"],
    [Object.create(null), "an object"],
    [new Date(0), "a Date"],
  ])("refuses a value that is not a mesh: %o", (given, got) => {
    expect(() => counters.encode(given)).toThrow(`expected a mesh of Counter, got ${got}`);
  });

  const dims = (...names: string[]) => codec.mesh(() => counterDescriptor, names) as Codec<unknown>;
  test("accepts a mesh that has the requested dimensions in any order", () => {
    const bytes = dims("b", "a").encode(mesh({ a: 2, b: 2 }));
    expect(known(readThere(dims("a", "b"), bytes)).extent).toEqual({ a: 2, b: 2 });
    expect(dims().encode(mesh({})).length).toBeGreaterThan(0);
  });

  test.each<[string[], Record<string, number>, string]>([
    [["a"], { a: 2, b: 2 }, "expected a mesh with the dimensions a, got {'a': 2, 'b': 2}"],
    [["a", "b"], { a: 2 }, "expected a mesh with the dimensions a, b, got {'a': 2}"],
    [["a", "c"], { a: 2, b: 2 }, "expected a mesh with the dimensions a, c, got {'a': 2, 'b': 2}"],
    [[], { a: 2 }, "expected a mesh with no dimensions, got {'a': 2}"],
  ])("refuses to write or read a mesh that does not have exactly the dimensions %j: %j", (names, extent, text) => {
    expect(() => dims(...names).encode(mesh(extent))).toThrow(text);
    const bytes = counters.encode(mesh(extent));
    expect(() => readThere(dims(...names), bytes)).toThrow(text);
  });

  describe("a mesh of another interface", () => {
    const none = () => defineArgs(codec.tuple(), 0, 0);
    const define = (name: string, fingerprint: bigint, bases: readonly (() => ActorDescriptor)[] = []) =>
      defineActor({
        key: `test/values#${name}`,
        name,
        id: 3,
        fingerprint,
        args: none,
        endpoints: () => ({}),
        extends: bases,
      });
    const base = define("Base", 1n);
    const derived = define("Derived", 2n, [() => define("Other", 3n), () => base]);
    const asBase = codec.mesh(() => base) as Codec<unknown>;
    const made = (descriptor: ActorDescriptor) => {
      const record = new MeshRecord({ id: 6n, name: "made", owner: 7n, extent: {} });
      record.setLocation(0, { proc: 8n, location: "x" });
      return wholeMesh(record, descriptor);
    };

    test("is accepted if it extends the requested interface, and is read as that interface", () => {
      const read = readThere(asBase, asBase.encode(made(derived)));
      expect(viewOf(read as ActorMesh).descriptor).toBe(base);
    });

    test("is refused if it does not extend the requested interface, or has another fingerprint", () => {
      expect(() => asBase.encode(made(define("Other", 3n)))).toThrow("expected a mesh of Base, got a mesh of Other");
      expect(() => asBase.encode(made(define("Base", 9n)))).toThrow("expected a mesh of Base, got a mesh of Base");
      expect(() => (codec.mesh(() => derived) as Codec<unknown>).encode(made(base))).toThrow(
        "expected a mesh of Derived, got a mesh of Base",
      );
      expect(() => readThere(counters, asBase.encode(made(base)))).toThrow(
        "expected a mesh of test/counter#Counter, got a mesh of test/values#Base",
      );
    });
  });

  const samples: [string, () => unknown][] = [
    ["as it was spawned", () => mesh({ a: 2, b: 2 }, { 1: 4 })],
    ["that was resized", resized],
    ["of the actor of a key", () => keyed("user-42")],
  ];
  test.each(samples)("refuses to read a mesh that is truncated at any position: %s", (_, make) => {
    const bytes = counters.encode(make());
    for (let end = 0; end < bytes.length; end++) {
      expect(() => readThere(counters, bytes.slice(0, end)), `${end}`).toThrow();
    }
  });

  test.each(samples)(
    "reads a mesh with a changed byte completely, or throws an expected kind of error: %s",
    (_, make) => {
      const bytes = counters.encode(make());
      for (let at = 0; at < bytes.length; at++) {
        for (const value of [0, 1, 255]) {
          const changed = bytes.slice();
          changed[at] = value;
          try {
            const view = viewOf(readThere(counters, changed) as ActorMesh);
            for (let rank = 0; rank < view.size; rank++) expect(typeof view.target(rank).proc).toBe("bigint");
          } catch (error) {
            expect((error as Error).name).toMatch(/^(CodecError|RangeError|TypeError|ProtocolError)$/);
          }
        }
      }
    },
  );
});

describe("the codec of ports", () => {
  const texts = codec.port(() => codec.string) as Codec<Port<string>>;
  test("keeps the target of a port, and records the port as written and as read", () => {
    const [port] = Channel.open(codec.string);
    const bytes = texts.encode(port);
    expect(portsWritten).toEqual([port]);
    const read = readThere(texts, bytes) as ChannelPort<string>;
    expect(portsRead).toEqual([read]);
    expect(read.target).toEqual((port as ChannelPort<string>).target);
    expect(read.codec).toBe(codec.string);
  });

  test.each<[unknown, string]>([
    [5, "expected a port, got 5"],
    [null, "expected a port, got null"],
    [{}, "expected a port, got an object"],
  ])("refuses a value that is not a port: %o", (given, text) => {
    expect(() => texts.encode(given as never)).toThrow(text);
    expect(portsWritten).toEqual([]);
  });

  test("refuses a port with another value type", () => {
    const [port] = Channel.open(codec.int32);
    expect(() => texts.encode(port as never)).toThrow("expected a port of string, got a port of int32");
  });
});
