/** These tests run processes with different schemas of an actor. Compatible ones work, and others get an error. */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { SupervisionError } from "../../../runtime/actor/errors.js";
import { wholeMesh } from "../../../runtime/actor/mesh/actor-mesh.js";
import { currentMeshRecord } from "../../../runtime/actor/mesh/current-mesh-record.js";
import { Channel } from "../../../runtime/actor/port/channel.js";
import { ChannelPort } from "../../../runtime/actor/port/port.js";
import { schemaDifferences } from "../../../runtime/actor/schema/compare-schemas.js";
import { FrameFlag, FrameKind } from "../../../runtime/link/frame/frame.js";
import { Lane } from "../../../runtime/link/inbound/lane.js";
import type { Pipe } from "../../../runtime/link/transport/pipe.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { type ActorDescriptor, defineActor, defineArgs } from "../../../runtime/wire/descriptor.js";
import { delay, until } from "../counter.js";
import {
  type GaugeMesh,
  NewGauge,
  newGauge,
  newSample,
  OldGauge,
  OtherGauge,
  oldGauge,
  otherSample,
  type Sample,
} from "../gauge.js";
import { type TestProc, World } from "../world.js";

let world: World;
let there: TestProc;
let elsewhere: TestProc;
beforeEach(() => {
  world = new World();
  there = world.proc("there");
  elsewhere = world.proc("elsewhere");
});
afterEach(() => world.close());

type Build = typeof OldGauge;

/** Returns a mesh with one actor of each build, as seen by a process that has the schema `known`. */
function gauges(known: ActorDescriptor, ...builds: readonly Build[]): GaugeMesh<"gpus"> {
  const procs = [there, elsewhere].slice(0, builds.length);
  const record = ranksOf(builds, procs);
  return wholeMesh(record, known) as unknown as GaugeMesh<"gpus">;
}

/** Returns a mesh of one actor, without dimensions. */
function gauge(known: ActorDescriptor, build: Build, ordered = true): GaugeMesh<never> {
  return wholeMesh(ranksOf([build], [there], {}, ordered), known) as unknown as GaugeMesh<never>;
}

let lastMesh = 0n;
function ranksOf(
  builds: readonly Build[],
  procs: readonly TestProc[],
  extent: Record<string, number> = { gpus: builds.length },
  ordered = true,
) {
  lastMesh = world.root.proc.random.id();
  world.ordered.add(lastMesh);
  const owner = world.root.proc.id;
  const record = currentMeshRecord({ id: lastMesh, name: "gauges", owner, extent });
  for (const [rank, build] of builds.entries()) {
    const { proc } = procs[rank]!;
    record.setLocation(rank, { proc: proc.id, location: proc.location });
    if (ordered) create(rank, build, procs[rank]!, extent);
  }
  return record;
}

function create(rank: number, build: Build, { proc }: TestProc, extent: Record<string, number> = {}): void {
  const life = { mesh: lastMesh, rank, incarnation: 0, name: "gauges", extent, owner: world.root.proc.id };
  proc.createActor({ ...life, descriptor: build.descriptor, actorClass: build as never, args: [] });
}

function instance({ proc }: TestProc): OldGauge {
  return proc.cell(lastMesh)!.instance as OldGauge;
}

async function failure(call: PromiseLike<unknown>): Promise<Error> {
  return call.then(
    (value) => new Error(`resolved with ${String(value)}`),
    (error) => error,
  );
}

const sample: Sample = { name: "ä€", value: -7, raw: new Uint8Array([1, 2, 3]) };

describe.each([
  ["old", "new", oldGauge, NewGauge],
  ["new", "old", newGauge, OldGauge],
] as const)("a caller with the %s schema and an actor with the %s one", (_caller, _actor, known, build) => {
  test("exchange calls, answers, streams, answers by port and errors", async () => {
    const one = gauge(known, build);
    expect(await one.echo.callOne(sample)).toEqual(sample);
    const watched: Sample[] = [];
    for await (const [, value] of one.watch.stream(300)) watched.push(value);
    expect(watched.map(({ value }) => value)).toEqual(Array.from({ length: 300 }, (_, i) => i));
    expect(await one.answer.callOne(5)).toEqual({ name: "answered", value: 5 });
    expect(await failure(one.fail.callOne())).toMatchObject({ name: "ActorError", message: "out of range" });
  });

  test("messages that are sent before the schemas are compared arrive once, in order", async () => {
    const one = gauge(known, build);
    const answers = [];
    for (let number = 0; number < 100; number++) {
      one.note.broadcast(number);
      if (number % 10 === 0) answers.push(one.echo.callOne({ name: "n", value: number }));
    }
    expect(await one.log.callOne()).toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect((await Promise.all(answers)).map(({ value }) => value)).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
    expect(instance(there).echoed).toBe(10);
  });

  test("messages that are sent before the actor exists wait for it", async () => {
    const one = gauge(known, build, false);
    const answer = one.echo.callOne(sample);
    one.note.broadcast(1);
    await delay(20);
    create(0, build, there);
    expect(await answer).toEqual(sample);
    expect(await one.log.callOne()).toEqual([1]);
  });

  test("messages beyond the credit of the session wait, and arrive in order", async () => {
    const one = gauge(known, build);
    for (let number = 0; number < 10_000; number++) one.note.broadcast(number);
    expect(await one.log.callOne()).toEqual(Array.from({ length: 10_000 }, (_, i) => i));
  });

  test("a large byte array arrives as it was sent, even if the caller overwrites it afterwards", async () => {
    const one = gauge(known, build);
    const raw = new Uint8Array(100_000).fill(1);
    const answer = one.echo.callOne({ ...sample, raw });
    await delay(0);
    raw.fill(2);
    expect((await answer).raw).toEqual(new Uint8Array(100_000).fill(1));
  });

  test("a call that is cancelled before the schemas are compared is never handled", async () => {
    const one = gauge(known, build);
    const call = one.echo.callOne(sample);
    call.cancel();
    expect(await failure(call)).toMatchObject({ name: "AbortError" });
    expect(await one.log.callOne()).toEqual([]);
    expect(instance(there).echoed).toBe(0);
    const link = world.root.proc.routes.existingLink(there.proc.id)!;
    expect(link.calls.size).toBe(0);
  });

  test("the credit of messages that were sent twice returns to the session", async () => {
    const one = gauge(known, build);
    for (let number = 0; number < 50; number++) one.note.broadcast(number);
    await Promise.all(Array.from({ length: 50 }, () => one.echo.callOne(sample)));
    const link = world.root.proc.routes.existingLink(there.proc.id)!;
    const [session] = link.sessions.filter((known) => known !== undefined);
    expect(session!.load).toBe(50);
    for (let number = 50; number < 1024; number++) one.note.broadcast(number);
    await one.log.callOne();
    expect(session!.load).toBe(0);
  });

  test("messages of an actor that stops before the schemas are compared still arrive", async () => {
    const one = gauge(known, build);
    const mesh = lastMesh;
    class Hasty extends OldGauge {
      override note(number: number): void {
        one.note.broadcast(number);
      }
    }
    const record = ranksOf([Hasty as Build], [elsewhere], {});
    const hasty = wholeMesh(record, oldGauge) as unknown as GaugeMesh<never>;
    await hasty.note.callOne(7);
    await world.stop(elsewhere, lastMesh);
    const { noted } = there.proc.cell(mesh)!.instance as OldGauge;
    await until("it arrives", () => noted.length > 0);
    expect(noted).toEqual([7]);
    const link = elsewhere.proc.routes.existingLink(there.proc.id)!;
    await until("its lane is given up", () => link.sessions.every((session) => session === undefined));
  });

  test("an actor that is stopped before the schemas are compared still handles earlier messages", async () => {
    const one = gauge(known, build);
    const { noted } = instance(there);
    const { pause } = Lane.prototype;
    const stopped = new Promise<void>((resolve) => {
      vi.spyOn(Lane.prototype, "pause").mockImplementation(function (this: Lane) {
        pause.call(this);
        world.stop(there, lastMesh).then(resolve);
      });
    });
    one.note.broadcast(1);
    await stopped;
    vi.restoreAllMocks();
    expect(noted).toEqual([1]);
    expect(world.root.events).toEqual([]);
  });

  test("two actors with different schemas reach each other through a relay", async () => {
    const mesh = gauges(known, build, build === OldGauge ? NewGauge : OldGauge);
    await mesh.log.call();
    // Root has links to both actors, and they can reach each other only through root.
    world.unreachable.add("elsewhere");
    world.unreachable.add("there");
    mesh.slice({ gpus: 1 }).note.broadcast(4);
    expect(await mesh.slice({ gpus: 0 }).ask.callOne(mesh.slice({ gpus: 1 }) as never)).toEqual([4]);
  });

  test("a mesh can be an argument although the schemas differ", async () => {
    const mesh = gauges(known, build, build);
    mesh.slice({ gpus: 1 }).note.broadcast(4);
    expect(await mesh.slice({ gpus: 0 }).ask.callOne(mesh.slice({ gpus: 1 }) as never)).toEqual([4]);
  });
});

describe("ports", () => {
  test("an actor with an older version of the value type can send to a port", async () => {
    const one = gauge(newGauge, OldGauge);
    const [port, receiver] = Channel.open(newSample);
    await one.feed.callOne(port);
    for (let value = 0; value < 3; value++) expect(await receiver.recv()).toEqual({ name: "fed", value });
    receiver.close();
  });

  test("values that an actor has sent to a port arrive before the news of its end", async () => {
    const one = gauge(newGauge, OldGauge);
    const [port, receiver] = Channel.open(newSample);
    const fed = one.feed.callOne(port);
    await fed;
    // The receiver has not taken the messages of the actor yet, so they are sent again.
    const stopped = world.stop(there, lastMesh);
    for (let value = 0; value < 3; value++) expect(await receiver.recv()).toEqual({ name: "fed", value });
    await expect(receiver.recv()).rejects.toThrow("everyone who held the port has ended");
    await stopped;
  });

  test("a sender whose schema has another type of the same name gets an error that names the difference", async () => {
    const back: string[] = [];
    const [port, receiver] = Channel.open(newSample);
    const { target } = port as ChannelPort<Sample>;
    class Careful extends OldGauge {
      override note(): void {
        void new ChannelPort(target, otherSample).send({ name: "fed", value: "1" as never });
      }
      override undeliverable({ to, reason, message }: { to: string; reason: string; message: string }): void {
        back.push(to, reason, message);
      }
    }
    const one = gauge(oldGauge, Careful);
    one.note.broadcast(1);
    await until("it is told", () => back.length > 0);
    expect(back).toEqual([
      "port.send",
      "refused",
      "the receiver of the port has another schema of port of Sample, and the two cannot be read by each other " +
        "(was: there, is: here):\n  VC5001 field-type-changed at Sample.value: its type was int32 and is string: neither side finds the other's " +
        "value, which has another wire type",
    ]);
    receiver.close();
  });
});

describe("incompatible schemas", () => {
  const apart =
    "gauges[1] has another schema of test/gauge#Gauge, and the two cannot be read by each other (was: there, is: here):" +
    "\n  VC5001 field-type-changed at Sample.value: its type was string and is int32: neither side finds the other's value, " +
    "which has another wire type";

  test("calls are rejected with each difference by its rule and place, and other ranks still answer", async () => {
    const mesh = gauges(oldGauge, OldGauge, OtherGauge);
    const error = await failure(mesh.echo.call(sample));
    expect(error).toBeInstanceOf(SupervisionError);
    expect(error.message).toBe(`cannot call gauges.echo on rank 1: ${apart}`);
    expect((await failure(mesh.slice({ gpus: 1 }).log.callOne())).message).toBe(
      `cannot call gauges.log on rank 0 (gauges[1]): ${apart}`,
    );
    expect(await mesh.slice({ gpus: 0 }).echo.callOne(sample)).toEqual(sample);
    const settled = [...(await mesh.count.callSettled()).values()];
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  });

  test("messages without an answer return to their sender as refused", async () => {
    const mesh = gauges(oldGauge, OldGauge, OtherGauge);
    mesh.note.broadcast(1);
    await until("they come back", () => world.root.events.length > 0);
    mesh.note.broadcast(2);
    await until("they come back again", () => world.root.events.length > 1);
    const detail = { to: "Gauge.note", reason: "refused", message: apart };
    expect(world.root.events.map((event) => event.detail)).toEqual([detail, detail]);
    expect(await mesh.slice({ gpus: 0 }).log.callOne()).toEqual([1, 2]);
  });

  test("a stream ends with an error that names the difference", async () => {
    const mesh = gauges(oldGauge, OtherGauge);
    const values = mesh.watch.stream(3)[Symbol.asyncIterator]();
    expect((await failure(values.next())).message).toBe(
      `cannot call gauges.watch on rank 0: ${apart.replace("gauges[1]", "gauges[0]")}`,
    );
  });

  test("a malformed schema description from a peer is reported as unreadable", async () => {
    for (const [index, text] of ["{", "{}", '{"messages":[["A"]]}', "[]", "null"].entries()) {
      // Results are cached by fingerprint, so each text needs its own.
      const other = { fingerprint: BigInt(1000 + index), description: text };
      expect(schemaDifferences(oldGauge, other)).toMatch(
        /^has another schema of test\/gauge#Gauge, and what it says of that cannot be read: ./,
      );
    }
  });
});

test("a call of an endpoint that the actor does not have is rejected by name, and others succeed", async () => {
  const one = gauge(newGauge, OldGauge);
  expect((await failure(one.reset.callOne())).message).toBe(
    'cannot call gauges.reset on rank 0: the actor gauges[0] has no endpoint 8 "reset": its process has another ' +
      "schema of test/gauge#Gauge",
  );
  expect(await one.echo.callOne(sample)).toEqual(sample);
});

test("a call is rejected if the actor has another interface, even with the same fingerprint", async () => {
  const stranger = { ...oldGauge, key: "test/dial#Dial" };
  const one = gauge(stranger as ActorDescriptor, OldGauge);
  expect((await failure(one.log.callOne())).message).toBe(
    "cannot call gauges.log on rank 0: the actor gauges[0] is no test/dial#Dial: it is a test/gauge#Gauge",
  );
});

/** Handles of both interfaces share one lane, and the schema of each interface may differ. */
describe("two interfaces of one actor", () => {
  const meter = (fingerprint: bigint): ActorDescriptor =>
    defineActor({
      key: "test/gauge#Meter",
      name: "Meter",
      id: 11,
      fingerprint,
      args: () => defineArgs(codec.tuple(), 0, 0),
      endpoints: () => ({ note: { id: 1, args: defineArgs(codec.tuple(codec.int32), 1, 1) } }),
    });
  class Both extends OldGauge {
    static override get descriptor(): ActorDescriptor {
      return { ...oldGauge, extends: [() => meter(5n)] };
    }
  }

  test("keep the order of their messages, whichever schema differs", async () => {
    const random = fc.array(fc.record({ byMeter: fc.boolean(), call: fc.boolean(), pause: fc.boolean() }), {
      minLength: 2,
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(random, fc.boolean(), fc.boolean(), async (steps, meterDiffers, gaugeDiffers) => {
        const record = ranksOf([Both as Build], [there], {});
        const own = gaugeDiffers ? newGauge : oldGauge;
        const asMeter = wholeMesh(record, meter(meterDiffers ? 6n : 5n)) as unknown as GaugeMesh<never>;
        const asGauge = wholeMesh(record, own) as unknown as GaugeMesh<never>;
        for (const [number, { byMeter, call, pause }] of steps.entries()) {
          const { note } = byMeter ? asMeter : asGauge;
          if (call) void note.callOne(number);
          else note.broadcast(number);
          if (pause) await delay(0);
        }
        expect(await asGauge.log.callOne()).toEqual(steps.map((_, number) => number));
      }),
      { numRuns: 60 },
    );
  });
});

describe("the layout of a cast", () => {
  class Spied extends World {
    /** The bytes that root has written to the processes that it dialled. */
    readonly written: Uint8Array[] = [];

    override async dial(location: string, from: string): Promise<Pipe> {
      const pipe = await super.dial(location, from);
      const { write } = pipe;
      pipe.write = (chunks, done) => {
        for (const chunk of chunks) this.written.push(new Uint8Array(chunk));
        write.call(pipe, chunks, done);
      };
      return pipe;
    }

    /** Returns the layouts of the messages since the last call. */
    layouts(): string[] {
      const found: string[] = [];
      for (const bytes of this.written.splice(0)) {
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
        for (let at = 0; at < bytes.length; at += (view.getUint32(at, true) + 7) & ~7) {
          const word = view.getUint32(at + 4, true);
          if ((word & 0xff) !== FrameKind.message) continue;
          found.push(((word >>> 8) & FrameFlag.protobuf) === 0 ? "lockstep" : "protobuf");
        }
      }
      return found;
    }
  }

  let spied: Spied;
  beforeEach(() => {
    world.close();
    spied = new Spied();
    world = spied;
    there = world.proc("there");
    elsewhere = world.proc("elsewhere");
  });

  test("is lockstep from the first message on if all schemas are equal", async () => {
    const mesh = gauges(oldGauge, OldGauge, OldGauge);
    await mesh.echo.call(sample);
    await mesh.note.broadcast(1);
    expect(await mesh.count.reduce("sum")).toBe(2);
    expect(new Set(spied.layouts())).toEqual(new Set(["lockstep"]));
    const links = ["there", "elsewhere"].map(
      (name) => world.root.proc.routes.existingLink(world.procs.get(name)!.proc.id)!,
    );
    const sessions = links.flatMap((link) => link.sessions.filter((session) => session !== undefined));
    // Once the receivers have confirmed the schema, the sessions no longer expect a difference.
    expect(sessions.map(({ maySchemaDiffer }) => maySchemaDiffer)).toEqual([false, false]);
  });

  test("is protobuf for all ranks if one schema differs, and lockstep for a slice without that rank", async () => {
    const mesh = gauges(oldGauge, OldGauge, NewGauge);
    expect([...(await mesh.echo.call(sample)).values()]).toEqual([sample, sample]);
    spied.layouts();
    expect([...(await mesh.echo.call(sample)).values()]).toEqual([sample, sample]);
    mesh.note.broadcast(1);
    expect(await mesh.count.reduce("sum")).toBe(2);
    expect(spied.layouts()).toEqual(Array.from({ length: 6 }, () => "protobuf"));
    expect(await mesh.slice({ gpus: 0 }).echo.callOne(sample)).toEqual(sample);
    expect(spied.layouts()).toEqual(["lockstep"]);
    expect(await mesh.slice({ gpus: 1 }).echo.callOne(sample)).toEqual(sample);
    expect(spied.layouts()).toEqual(["protobuf"]);
  });
});
