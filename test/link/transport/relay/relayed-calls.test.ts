/** Tests of calls between procs that cannot dial each other, through a proc that both can reach. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { Actor } from "../../../../runtime/actor/actor.js";
import type { Endpoint } from "../../../../runtime/actor/call/endpoint.js";
import { SupervisionError } from "../../../../runtime/actor/errors.js";
import { type ActorMesh, wholeMesh } from "../../../../runtime/actor/mesh/actor-mesh.js";
import { currentMeshRecord } from "../../../../runtime/actor/mesh/current-mesh-record.js";
import type { MeshKind } from "../../../../runtime/actor/mesh-kind.js";
import { codec } from "../../../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../../../runtime/wire/descriptor.js";
import { Counter, type CounterMesh, counterDescriptor } from "../../../actor/counter.js";
import { type TestProc, World } from "../../../actor/world.js";

const forwarder = defineActor({
  key: "test/relay#Forwarder",
  name: "Forwarder",
  id: 3,
  fingerprint: 0x71n,
  args: () => defineArgs(codec.tuple(), 0, 0),
  endpoints: () => ({
    bytes: {
      id: 1,
      args: defineArgs(
        codec.tuple(
          codec.mesh(() => counterDescriptor),
          codec.bytes,
        ),
        2,
        2,
      ),
      result: codec.bytes,
    },
    increment: {
      id: 2,
      args: defineArgs(
        codec.tuple(
          codec.mesh(() => counterDescriptor),
          codec.int32,
        ),
        2,
        2,
      ),
    },
  }),
});
interface ForwarderKind extends MeshKind {
  readonly mesh: ForwarderMesh<this["dims"]>;
}
interface ForwarderMesh<D extends string = string> extends ActorMesh<ForwarderKind, D> {
  readonly bytes: Endpoint<[to: CounterMesh, bytes: Uint8Array], Uint8Array, D>;
  readonly increment: Endpoint<[to: CounterMesh, times: number], void, D>;
}
class Forwarder extends Actor {
  static override readonly descriptor = forwarder;
  declare readonly $kind: ForwarderKind;
  bytes(to: CounterMesh, bytes: Uint8Array): Promise<Uint8Array> {
    return to.bytes.callOne(bytes);
  }
  increment(to: CounterMesh, times: number): void {
    for (let i = 0; i < times; i++) to.increment.broadcast(1);
  }
}

const sleeper = defineActor({
  key: "test/relay#Sleeper",
  name: "Sleeper",
  id: 4,
  fingerprint: 0x72n,
  args: () => defineArgs(codec.tuple(), 0, 0),
  endpoints: () => ({
    sleep: {
      id: 1,
      args: defineArgs(
        codec.tuple(
          codec.mesh(() => counterDescriptor),
          codec.int32,
        ),
        2,
        2,
      ),
      result: codec.string,
    },
  }),
});
interface SleeperKind extends MeshKind {
  readonly mesh: SleeperMesh<this["dims"]>;
}
interface SleeperMesh<D extends string = string> extends ActorMesh<SleeperKind, D> {
  readonly sleep: Endpoint<[on: CounterMesh, ms: number], string, D>;
}
class Sleeper extends Actor {
  static override readonly descriptor = sleeper;
  declare readonly $kind: SleeperKind;
  sleep(on: CounterMesh, ms: number): Promise<string> {
    return on.meanwhile.callOne(ms);
  }
}

let world: World;
let near: TestProc;
let far: TestProc;
let counter: CounterMesh<never>;
let through: ForwarderMesh<never>;

beforeEach(async () => {
  world = new World();
  near = world.proc("near");
  far = world.proc("far");
  counter = world.spawn<typeof Counter, never>("counter", Counter, [0], [far], {});
  through = world.spawn<typeof Forwarder, never>("through", Forwarder, [], [near], {});
  await counter.value.callOne();
  await through.increment.callOne(counter, 0);
  world.unreachable.add("far").add("near");
});
afterEach(() => world.close());

test("small and large messages pass through the relaying proc in order and without loss", async () => {
  await through.increment.callOne(counter, 1000);
  const bytes = new Uint8Array(500_000).map((_, i) => i * 7);
  expect(Buffer.compare(await through.bytes.callOne(counter, bytes), bytes)).toBe(0);
  expect(await counter.value.callOne()).toBe(1000);
});

test("calls through a relaying proc fail when that proc is down", async () => {
  await through.increment.callOne(counter, 1);
  const call = through.bytes.callOne(counter, new Uint8Array(1));
  near.proc.peerDown(world.root.proc.id, "the parent was killed");
  await expect(call).rejects.toBeInstanceOf(SupervisionError);
  const link = near.proc.routes.existingLink(far.proc.id);
  expect(link?.ended).toBe(undefined);
});

test("a call to a proc that the relaying proc does not reach fails instead of waiting", async () => {
  world.root.proc.peerDown(far.proc.id, "it was killed");
  const error = await through.bytes.callOne(counter, new Uint8Array(1)).then(undefined, (e) => e);
  expect(error.remoteName).toBe("SupervisionError");
  expect(error.message).toBe(
    "cannot call counter.bytes on rank 0: its process cannot be reached: " +
      "the process that relays to it has no connection to it; it has ended, or its host is cut off",
  );
});

test("pending calls fail when the proc behind the relay is down, also if their caller sends nothing more", async () => {
  const sleeping = world.spawn<typeof Sleeper, never>("sleeping", Sleeper, [], [near], {});
  const call = sleeping.sleep.callOne(counter, 100_000);
  await through.increment.callOne(counter, 1);
  while ((await counter.value.callOne()) < 1);
  world.root.proc.peerDown(far.proc.id, "it was killed");
  const error = await call.then(undefined, (e) => e);
  expect(error.remoteName).toBe("SupervisionError");
  expect(error.message).toContain("cannot call counter.meanwhile on rank 0: ");
});

test("a call to a proc without any route fails instead of waiting", async () => {
  const mesh = world.proc("alone").proc;
  world.unreachable.add("alone");
  const record = currentMeshRecord({ id: 77n, name: "nowhere", owner: mesh.id, extent: {} });
  record.setLocation(0, { proc: mesh.id, location: "" });
  const nowhere = wholeMesh(record, counterDescriptor) as unknown as CounterMesh<never>;
  await expect(nowhere.value.callOne()).rejects.toThrow(
    "cannot call nowhere.value on rank 0: its process cannot be reached",
  );
});
