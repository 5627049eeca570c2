/** Outcomes of orders to create actors that no process has reported: errors where the owner builds an order or reads an answer. */
import { expect, test } from "vitest";
import { SupervisionError } from "../../../runtime/actor/errors.js";
import { MeshRecord } from "../../../runtime/actor/reference/mesh-record.js";
import { settleSpawnOrder } from "../../../runtime/proc/mesh/spawn-orders.js";
import { type MeshOperations, SpawnedActors } from "../../../runtime/proc/mesh/spawned-actors.js";
import { wholeRegion } from "../../../runtime/shape/index.js";
import type { MeshFailure } from "../../../runtime/supervise/mesh-failure.js";
import { CodecError } from "../../../runtime/wire/codec-error.js";
import { counterDescriptor } from "../../actor/counter.js";
import { World } from "../../actor/world.js";

function twoCounters() {
  const world = new World();
  const { proc } = world.proc("owner");
  const record = new MeshRecord({ id: 5n, name: "counters", owner: proc.id, extent: { gpus: 2 } });
  for (const rank of [0, 1]) record.setLocation(rank, { proc: 100n + BigInt(rank), location: "" });
  const failures: MeshFailure[] = [];
  const operations = { proc, reportFailure: (_: unknown, failure: MeshFailure) => void failures.push(failure) };
  const plan = { descriptor: counterDescriptor, args: counterDescriptor.args.encode([0]), protobuf: false };
  const region = wholeRegion({ gpus: 2 });
  const mesh = new SpawnedActors(record, proc.root, region, plan as never, operations as unknown as MeshOperations);
  return { world, proc, mesh, failures };
}

test("an answer that cannot be read is the failure of its rank, and not of the others", async () => {
  const { world, mesh, failures } = twoCounters();
  const reason = new CodecError("decode", "SpawnOutcome.failure", "the message ends too early");
  mesh.recordOutcome(0, { status: "rejected", reason });
  mesh.recordOutcome(1, { status: "fulfilled", value: {} });
  expect(failures.map(({ ranks, kind, cause }) => [ranks, kind, cause.message])).toEqual([
    [[0], "spawn", "cannot decode SpawnOutcome.failure: the message ends too early"],
  ]);
  expect(mesh.statusOf(0)).toEqual({ state: "lost" });
  expect(mesh.statusOf(1)).toMatchObject({ state: "living" });
  await expect(mesh.ready).rejects.toThrow("the message ends too early");
  world.close();
});

test("the end of a process is not reported twice", () => {
  const { world, mesh, failures } = twoCounters();
  mesh.recordOutcome(0, { status: "rejected", reason: new SupervisionError("agent.createActor", [0], "gone") });
  expect(failures).toEqual([]);
  world.close();
});

test("an order that cannot be sent again in the other layout is refused with the reason", async () => {
  const { world, proc, mesh } = twoCounters();
  const refused: unknown[] = [];
  const agent = {
    createActor: {
      callSettled: () => {
        throw new RangeError("cannot send agent.createActor: its message has 300000000 bytes");
      },
    },
    refuse: { broadcast: (...args: unknown[]) => void refused.push(args) },
  };
  const order = { mesh: 5n, name: "counters", actor: {}, fingerprint: 1n, args: new Uint8Array(), incarnation: 0 };
  const { fingerprint } = counterDescriptor;
  const { schemaForPeer } = await import("../../../runtime/actor/schema/compare-schemas.js");
  const other = { ...schemaForPeer(counterDescriptor), fingerprint: fingerprint + 1n };
  const outcome = await settleSpawnOrder(proc, agent as never, mesh, order as never, {
    status: "fulfilled",
    value: { other },
  });
  expect(outcome).toMatchObject({
    status: "fulfilled",
    value: {
      failure: {
        rank: 0,
        kind: "spawn",
        cause: { message: "cannot send agent.createActor: its message has 300000000 bytes" },
      },
    },
  });
  expect(refused).toEqual([
    [5n, "counters", "cannot send agent.createActor: its message has 300000000 bytes", undefined],
  ]);
  world.close();
});
