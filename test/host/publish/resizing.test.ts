/** Tests of published meshes that are resized, before or after they are published. */
import { lookup, SupervisionError } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { attachPatiently } from "../attach-patiently.js";
import { startHost } from "../start-host.js";
import { loadProject, startPublisher } from "./programs.js";
import { IndexActor, type IndexMesh } from "./project/generated/index.js";

const faults = collectUnhandledFaults();
beforeAll(async () => {
  await loadProject();
});

type Shards = IndexMesh<"shards">;

async function exchange() {
  const host = await startHost();
  const publisher = await startPublisher([host]);
  const hosts = attachPatiently([host.address]);
  await hosts.ready;
  return { publisher, hosts };
}

test("a mesh that grows stays published with the extent that it had, and its larger handle can be published", async () => {
  const { publisher, hosts } = await exchange();
  await using _ = hosts;
  await publisher.order("publish", "index", "shelves");
  const before = await lookup<Shards>("index", IndexActor);
  expect([...(await before.add.call("tea")).values()]).toEqual([1, 1, 1]);
  await publisher.order("resize", "shelves", "5");
  expect([...(await before.add.call("tea")).values()]).toEqual([2, 2, 2]);
  expect((await lookup<Shards>("index", IndexActor)).extent).toEqual({ shards: 3 });
  await publisher.order("publish", "larger", "resized");
  const larger = await lookup<Shards>("larger", IndexActor);
  expect(larger.extent).toEqual({ shards: 5 });
  expect([...(await larger.add.call("tea")).values()]).toEqual([3, 3, 3, 1, 1]);
  const places = [...(await larger.where.call()).values()];
  expect(places.map(({ pid }) => pid)).toEqual(await publisher.order("pids", "resized"));
  expect(places.map(({ point }) => point)).toEqual([0, 1, 2, 3, 4].map((rank) => `{'shards': ${rank}/5}`));
  expect(await larger.slice({ shards: 4 }).where.callOne()).toMatchObject({ pid: places[4]!.pid, point: "{}" });
  // An actor that joined later fails and is known to be lost.
  await expect(larger.slice({ shards: 4 }).exit.callOne(3)).rejects.toBeInstanceOf(SupervisionError);
  await expect(larger.add.call("tea")).rejects.toMatchObject({ ranks: [4] });
  expect(faults).toEqual([]);
});

test("ranks that leave a published mesh reject with the reason, and the others go on", async () => {
  const { publisher, hosts } = await exchange();
  await using _ = hosts;
  await publisher.order("publish", "index", "shelves");
  const before = await lookup<Shards>("index", IndexActor);
  expect([...(await before.add.call("tea")).values()]).toEqual([1, 1, 1]);
  await publisher.order("resize", "shelves", "2");
  const gone = before.slice({ shards: 2 });
  const error: Error = await gone.add.callOne("tea").then(
    () => expect.unreachable(),
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(SupervisionError);
  expect(error.message).toBe(
    "cannot call index.add on rank 0 (index[2]): the actor index[2] has failed: Error: it has left the mesh: mesh \"shelves\" was resized to {'shards': 2}",
  );
  await expect(gone.add.callOne("tea")).rejects.toBeInstanceOf(SupervisionError);
  for (let i = 0; i < 20; i++) expect(await before.square.choose(3)).toBe(9);
  await publisher.order("unpublish", "index");
  await publisher.order("publish", "index", "resized");
  const after = await lookup<Shards>("index", IndexActor);
  expect(after.extent).toEqual({ shards: 2 });
  expect([...(await after.add.call("tea")).values()]).toEqual([2, 2]);
  await expect(before.square.call(1)).rejects.toThrow("its program has withdrawn the mesh");
  expect(faults).toEqual([]);
});
