/** Tests of calls between two programs whose actors call each other back. */
import { lookup, publish, thisHost } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import { attachPatiently } from "../attach-patiently.js";
import { startHost } from "../start-host.js";
import { loadProject, startPublisher } from "./programs.js";
import type { IndexMesh } from "./project/generated/index.js";

let project: Awaited<ReturnType<typeof loadProject>>;
beforeAll(async () => {
  project = await loadProject();
});

const deadlock =
  "DeadlockError: cannot call home.ask on rank 0: home[0] waits for the answer of this call chain itself; " +
  "make the endpoint that called out @concurrent, or use broadcast";

test("a call chain over two programs that comes back to a waiting actor rejects with DeadlockError", async () => {
  const host = await startHost();
  const publisher = await startPublisher([host]);
  await using _ = attachPatiently([host.address]);
  await using procs = thisHost().spawnProcs({ shards: 2 });
  const home: IndexMesh<"shards"> = procs.spawn("home", project.WordIndex);
  await using published = await publish("home", home);
  await publisher.order("publish", "index", "shelves");
  await publisher.order("introduce", "shelves", published.name);
  const index = await lookup<IndexMesh<"shards">>("index");
  await home.introduce.call(index);

  const first = home.slice({ shards: 0 });
  expect(await first.ask.callOne(2)).toBe(deadlock);
  // The actors are not stuck, and other actors of both meshes are no part of the chain.
  expect(await home.slice({ shards: 1 }).ask.callOne(2)).toBe("answered");
  expect(await first.ask.callOne(1)).toBe("answered");
  // A concurrent handler does not make its actor wait.
  expect(await first.askAside.callOne(2)).toBe("answered");
  // The chain passes through a further actor of the other program.
  expect(await index.slice({ shards: 1 }).ask.callOne(3)).toBe(deadlock);
});
