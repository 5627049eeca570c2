/** Tests of casts to actors of different builds: each actor reads what it can, and errors name the ranks that cannot. */
import { expect, test } from "vitest";
import { wholeMesh } from "../../runtime/actor/mesh/actor-mesh.js";
import { currentMeshRecord } from "../../runtime/actor/mesh/current-mesh-record.js";
import { type GaugeMesh, NewGauge, OldGauge, OtherGauge, oldGauge } from "../actor/gauge.js";
import { World } from "../actor/world.js";

type Build = typeof OldGauge | typeof NewGauge | typeof OtherGauge;

/** A mesh that its caller knows by the old schema. */
function meshOf(world: World, builds: readonly Build[]): GaugeMesh<"gpus"> {
  const id = world.root.proc.random.id();
  world.ordered.add(id);
  const owner = world.root.proc.id;
  const extent = { gpus: builds.length };
  const record = currentMeshRecord({ id, name: "gauges", owner, extent });
  for (const [rank, build] of builds.entries()) {
    const { proc } = world.proc(`p${rank}`);
    record.setLocation(rank, { proc: proc.id, location: proc.location });
    const life = { mesh: id, rank, incarnation: 0, name: "gauges", extent, owner };
    proc.createActor({ ...life, descriptor: build.descriptor, actorClass: build as never, args: [] });
  }
  return wholeMesh(record, oldGauge) as unknown as GaugeMesh<"gpus">;
}

test("actors with another compatible schema get the same casts in the same order, and answer calls", async () => {
  const world = new World({ treeAbove: 1, treeFanout: 2 });
  const mesh = meshOf(world, [OldGauge, NewGauge, OldGauge, OldGauge, NewGauge, OldGauge]);
  const one = mesh.slice({ gpus: 4 });
  for (let i = 0; i < 6; i += 2) {
    mesh.note.broadcast(i);
    one.note.broadcast(i + 1);
  }
  const logs = [...(await mesh.log.call()).values()];
  for (const [rank, log] of logs.entries()) expect(log).toEqual(rank === 4 ? [0, 1, 2, 3, 4, 5] : [0, 2, 4]);
  world.close();
});

test("errors about an actor with an incompatible schema name its rank, and the other actors answer", async () => {
  const world = new World({ treeAbove: 1, treeFanout: 2 });
  const mesh = meshOf(world, [OldGauge, OldGauge, OtherGauge, OldGauge]);
  mesh.note.broadcast(1);
  const settled = [...(await mesh.log.callSettled()).values()];
  expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  const why = settled.flatMap((end) => (end.status === "rejected" ? [end.reason.message] : []));
  expect(why[0]).toContain("cannot call gauges.log on rank 2: gauges[2] has another schema of");
  const told = world.root.events.filter(({ kind }) => kind === "undeliverable");
  expect(told.map(({ detail }) => (detail as { to: string }).to)).toEqual(["Gauge.note"]);
  const direct = await mesh.slice({ gpus: 2 }).log.callSettled();
  expect([...direct.values()].map(({ status }) => status)).toEqual(["rejected"]);
  world.close();
});
