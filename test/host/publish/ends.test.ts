/** Tests of the ends of published meshes: whoever ends, and however, calls of other programs reject and the name is free. */
import { lookup, publish, SupervisionError, thisHost } from "viceroy";
import { beforeAll, describe, expect, test } from "vitest";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { until } from "../../proc/until.js";
import { attachPatiently } from "../attach-patiently.js";
import { startHost } from "../start-host.js";
import { loadProject, startPublisher } from "./programs.js";
import type { IndexMesh } from "./project/generated/index.js";

let project: Awaited<ReturnType<typeof loadProject>>;
const faults = collectUnhandledFaults();
beforeAll(async () => {
  project = await loadProject();
});

type Shards = IndexMesh<"shards">;

const rejection = (call: PromiseLike<unknown>): Promise<Error> =>
  Promise.resolve(call).then(
    () => expect.unreachable("the call was answered"),
    (error) => error,
  );

describe.each([undefined, "tcp://127.0.0.1:0"])("over %s", (listen) => {
  test("when the publisher gets SIGKILL, calls under way and later ones reject, and another program can take the name", async () => {
    const host = await startHost(listen);
    await using _ = attachPatiently([host.address]);
    const [first, second] = await Promise.all([startPublisher([host]), startPublisher([host])]);
    await first.order("publish", "index", "shelves");
    const index = await lookup<Shards>("index");
    const pending = Array.from({ length: 20 }, () => rejection(index.sleep.call(60_000)));
    const stream = index.words.stream(0)[Symbol.asyncIterator]();
    await stream.next();
    await index.square.call(1);
    first.child.kill("SIGKILL");
    for (const error of await Promise.all(pending)) {
      expect(error).toBeInstanceOf(SupervisionError);
      expect(error.message).toMatch(
        new RegExp(
          `^cannot call index\\.sleep on rank \\d: process ${first.child.pid} on .*, which had published "index", has ended or has left the host$`,
        ),
      );
    }
    const streamed = await rejection(
      (async () => {
        for (;;) if ((await stream.next()).done === true) return;
      })(),
    );
    expect(streamed).toBeInstanceOf(SupervisionError);
    expect(await rejection(index.square.call(1))).toBeInstanceOf(SupervisionError);
    expect(() => index.note.broadcast("B", 1)).not.toThrow();
    await second.order("publish", "index", "shelves");
    const again = await lookup<Shards>("index");
    expect([...(await again.square.call(3)).values()]).toEqual([9, 9, 9]);
    expect(faults).toEqual([]);
  });
});

test("when the daemon gets SIGKILL, calls reject with SupervisionError", async () => {
  const host = await startHost();
  const publisher = await startPublisher([host]);
  await using _ = attachPatiently([host.address]);
  await publisher.order("publish", "index", "shelves");
  const index = await lookup<Shards>("index");
  const pending = rejection(index.sleep.call(60_000));
  await index.square.call(1);
  host.child.kill("SIGKILL");
  expect(await pending).toBeInstanceOf(SupervisionError);
  expect((await pending).message).toContain(`host ${host.address} is gone: `);
  expect(await rejection(index.square.call(1))).toBeInstanceOf(SupervisionError);
  expect(faults).toEqual([]);
});

test("when a program that has looked up ends by SIGKILL, its calls are cancelled, and the publisher goes on", async () => {
  const host = await startHost();
  const [publisher, seeker] = await Promise.all([startPublisher([host]), startPublisher([host])]);
  await publisher.order("publish", "index", "shelves");
  expect(await seeker.order("call", "index", "tea")).toEqual([1, 1, 1]);
  await seeker.order("leaveCalling", "index");
  await using _ = attachPatiently([host.address]);
  const index = await lookup<Shards>("index");
  seeker.child.kill("SIGKILL");
  const interruptions = async () => [...(await index.interruptions.call()).values()].flat();
  await until(async () => (await interruptions()).length === 3);
  expect([...(await index.add.call("tea")).values()]).toEqual([2, 2, 2]);
});

test.each([
  ["withdraws it", ["unpublish", "index"], 'its program has withdrawn the mesh that it had published as "index"'],
  ["stops it", ["stop", "shelves"], 'has stopped the mesh that it had published as "index"'],
  ["leaves the host", ["leave"], 'which had published "index", has ended or has left the host'],
])("when the publisher %s, calls reject with that reason", async (_what, order, why) => {
  const host = await startHost();
  const publisher = await startPublisher([host]);
  await using _ = attachPatiently([host.address]);
  await publisher.order("publish", "index", "shelves");
  const index = await lookup<Shards>("index");
  await index.square.call(1);
  await publisher.order(...order);
  await until(async () =>
    index.square.call(1).then(
      () => false,
      () => true,
    ),
  );
  const error = await rejection(index.square.call(1));
  expect(error).toBeInstanceOf(SupervisionError);
  expect(error.message).toContain(why);
  await expect(lookup("index")).rejects.toThrow(
    `cannot look up "index": no program has published a mesh by this name on host ${host.address}; nothing is`,
  );
  expect(faults).toEqual([]);
});

test("an actor that the publisher restarts answers again under the same mesh", async () => {
  const host = await startHost();
  const publisher = await startPublisher([host]);
  await using _ = attachPatiently([host.address]);
  await publisher.order("publish", "nests", "nests");
  const nests = await lookup<Shards>("nests");
  const one = nests.slice({ shards: 1 });
  expect(await one.add.callOne("egg")).toBe(1);
  const error = await rejection(one.exit.callOne(7));
  expect(error).toBeInstanceOf(SupervisionError);
  expect(error.message).toContain("exited with code 7");
  expect(await one.add.with({ wait: true }).callOne("egg")).toBe(1);
  expect([...(await nests.add.call("egg")).values()]).toEqual([1, 2]);
  await using procs = thisHost().spawnProcs({ gpus: 1 });
  const guest = procs.spawn("guests", project.PoliteGuest).slice({ gpus: 0 });
  expect(await guest.visit.callOne(nests, "egg")).toEqual([2, 3]);
  expect(faults).toEqual([]);
});

test("a program can publish and look up its own mesh, and gets the mesh itself", async () => {
  const host = await startHost();
  await using _ = attachPatiently([host.address]);
  await using procs = thisHost().spawnProcs({ shards: 2 });
  const shelves = procs.spawn("shelves", project.WordIndex);
  {
    await using published = await publish("own", shelves);
    expect(published.name).toBe("own");
    expect(await lookup("own")).toBe(shelves);
  }
  await expect(lookup("own")).rejects.toThrow("nothing is");
});
