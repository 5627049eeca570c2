/**
 * Tests that procs without a listener are called directly by their parent, because a tree would send each message
 * through the parent again.
 */
import { afterEach, expect, test } from "vitest";
import { wholeMesh } from "../../runtime/actor/mesh/actor-mesh.js";
import { currentMeshRecord } from "../../runtime/actor/mesh/current-mesh-record.js";
import { systemRandom } from "../../runtime/link/clock.js";
import { Counter, type CounterMesh, counterDescriptor } from "../actor/counter.js";
import { type TestProc, World } from "../actor/world.js";

let world: World;
afterEach(() => world.close());

/** A mesh of the root on procs that it has links to, each known by a location. */
async function spawnAt(locationOf: (proc: TestProc) => string): Promise<CounterMesh> {
  const procs = ["a", "b", "c"].map((name) => world.proc(name));
  // A proc without a location is reached over an existing link.
  for (const [, one] of world.spawn("links", Counter, [0], procs)) await one.value.callOne();
  const extent = { gpus: procs.length };
  const shape = { mesh: systemRandom.id(), name: "counters", owner: world.root.proc.id, extent };
  const record = currentMeshRecord({ ...shape, id: shape.mesh });
  world.ordered.add(shape.mesh);
  for (const [rank, made] of procs.entries()) {
    record.setLocation(rank, { proc: made.proc.id, location: locationOf(made) });
    const request = {
      ...shape,
      rank,
      incarnation: 0,
      descriptor: counterDescriptor,
      actorClass: Counter,
      args: [rank],
    };
    made.proc.createActor(request as never);
  }
  return wholeMesh(record, counterDescriptor) as unknown as CounterMesh;
}

test.each([
  ["procs that can be dialled are called over a tree", (made: TestProc) => made.proc.location, 1],
  ["procs without a listener are called directly, without a tree", () => "", 0],
])("%s", async (_what, locationOf, trees) => {
  world = new World({ treeAbove: 1 });
  const counters = await spawnAt(locationOf);
  counters.increment.broadcast(5);
  expect([...(await counters.value.call()).values()]).toEqual([5, 6, 7]);
  expect(world.root.proc.casts.senders.size).toBe(trees);
});
