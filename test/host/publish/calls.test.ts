/** Tests of calls to meshes that another program has published: everything that meshes can do works through the host. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ActorError, context, lookup, range, SupervisionError, TimeoutError, thisHost } from "viceroy";
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

async function exchange(listen?: string) {
  const host = await startHost(listen);
  const publisher = await startPublisher([host]);
  const hosts = attachPatiently([host.address]);
  await publisher.order("publish", "index", "shelves");
  return { host, publisher, hosts, index: await lookup<Shards>("index") };
}

describe.each([undefined, "tcp://127.0.0.1:0"])("over %s", (listen) => {
  test("a mesh of another program has the same extent, and all adverbs work", async () => {
    const { hosts, publisher, index } = await exchange(listen);
    await using _ = hosts;
    expect(index.extent).toEqual({ shards: 3 });
    expect(index.toString()).toBe('index{"shards":3}');
    expect([...(await index.add.call("tea")).values()]).toEqual([1, 1, 1]);
    expect(await index.slice({ shards: 1 }).add.callOne("tea")).toBe(2);
    expect([...(await index.slice({ shards: range(1, 3) }).add.call("tea")).values()]).toEqual([3, 2]);
    expect(await index.square.reduce("sum", 3)).toBe(27);
    expect(await index.square.choose(4)).toBe(16);
    expect([...(await index.later.call("later")).values()]).toEqual(["later", "later", "later"]);
    expect([...(await index.square.callSettled(2)).values()]).toEqual(Array(3).fill({ status: "fulfilled", value: 4 }));
    const pids = [...(await index.where.call()).values()].map(({ pid }) => pid);
    expect(pids).toEqual(await publisher.order("pids", "shelves"));
    const squares: number[] = [];
    for await (const [n, square] of index.square.map([1, 2, 3, 4, 5, 6, 7])) squares.push(square - n);
    expect(squares).toEqual([0, 2, 6, 12, 20, 30, 42]);
    expect(await index.slice({ shards: 2 }).keep.callOne(new Uint8Array(1 << 20))).toBe(1 << 20);
  });
});

test("the handler sees its rank in the slice that was called, the key, and the trace of the caller", async () => {
  const { hosts, index } = await exchange();
  await using _ = hosts;
  const whole = [...(await index.where.call()).values()];
  expect(whole.map(({ point, actor }) => [point, actor])).toEqual([
    ["{'shards': 0/3}", "shelves[0]"],
    ["{'shards': 1/3}", "shelves[1]"],
    ["{'shards': 2/3}", "shelves[2]"],
  ]);
  const part = [...(await index.slice({ shards: range(1, 3) }).where.call()).values()];
  expect(part.map(({ point, actor }) => [point, actor])).toEqual([
    ["{'shards': 0/2}", "shelves[1]"],
    ["{'shards': 1/2}", "shelves[2]"],
  ]);
  await index.mark.broadcast();
  await index.slice({ shards: range(1, 3) }).mark.broadcast();
  expect([...(await index.marked.call()).values()]).toEqual([
    ["{'shards': 0/3}"],
    ["{'shards': 1/3}", "{'shards': 0/2}"],
    ["{'shards': 2/3}", "{'shards': 1/2}"],
  ]);
  const split = index.split({ shards: ["rows", "columns"] }, { columns: 1 });
  const [first] = [...(await split.where.call()).values()];
  expect(first!.point).toBe("{'rows': 0/3, 'columns': 0/1}");
  const keyed = await index.byKey("user-42").where.callOne();
  expect(keyed).toMatchObject({ key: "user-42", point: "{}" });
  expect(await index.byKey("user-42").where.callOne()).toMatchObject({ actor: keyed.actor });
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const traced = await index.slice({ shards: 0 }).where.with({ traceparent }).callOne();
  expect(traced.traceId).toBe("0af7651916cd43dd8448eb211c80319c");
});

test("the messages of a sender keep their order, also across endpoints, calls and broadcasts", async () => {
  const { hosts, index } = await exchange();
  await using _ = hosts;
  const calls: PromiseLike<unknown>[] = [];
  for (let n = 1; n <= 3000; n++) {
    if (n % 3 === 0) calls.push(index.confirm.call("B", n));
    else if (n % 3 === 1) await index.note.broadcast("B", n);
    else await index.hint.broadcast("B", n);
  }
  await Promise.all(calls);
  expect([...(await index.noted.call("B")).values()]).toEqual(["3000", "3000", "3000"]);
});

test("a slow actor holds up the senders of the other program, and nothing is lost", async () => {
  const { host, hosts, index } = await exchange();
  await using _ = hosts;
  const one = index.slice({ shards: 0 });
  const release = join(host.folder, "release");
  const blocked = one.block.callOne(release);
  // 128 MiB, more than fits into all windows between the sender and the actor.
  const messages = 2000;
  const bytes = new Uint8Array(64 * 1024);
  let sent = 0;
  const sending = (async () => {
    for (; sent < messages; sent++) await one.keep.broadcast(bytes);
  })();
  let last = -1;
  await until(async () => {
    const isHeldUp = sent === last || sent === messages;
    last = sent;
    if (!isHeldUp) await new Promise((resolve) => setTimeout(resolve, 1000));
    return isHeldUp;
  });
  expect(sent).toBeLessThan(messages);
  writeFileSync(release, "");
  await blocked;
  await sending;
  expect(await one.kept.callOne()).toBe(messages);
});

test("streams are pulled by their consumer, and leaving the loop ends them in the other program", async () => {
  const { hosts, index } = await exchange();
  await using _ = hosts;
  const one = index.slice({ shards: 1 });
  let last = 0;
  for await (const [, { word, count }] of one.words.stream(5)) {
    expect(word).toBe(`word${count}`);
    last = count;
    if (count === 2000) break;
  }
  expect(last).toBe(2000);
  await until(async () => (await one.yielded.callOne())[1] === 1);
  expect((await one.yielded.callOne())[0]).toBeLessThan(5000);
});

test("errors keep their class, message, stack and causes", async () => {
  const { hosts, index } = await exchange();
  await using _ = hosts;
  const error: ActorError = await index.fail.call("no such word").then(
    () => expect.unreachable(),
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(ActorError);
  expect(error).toMatchObject({
    remoteName: "RangeError",
    message: "no such word",
    actor: "index[0]",
    endpoint: "index.fail",
    rank: 0,
  });
  expect(error.stack).toContain("word-index.ts");
  expect(error.cause).toMatchObject({ name: "TypeError", message: "the deeper reason" });
  expect(error.others.map(({ rank }) => rank)).toEqual([1, 2]);
  expect(faults).toEqual([]);
});

test("timeouts and cancelled calls reach the handler in the other program", async () => {
  const { hosts, index } = await exchange();
  await using _ = hosts;
  const one = index.slice({ shards: 0 });
  // The actor must have started: a call whose time has passed before is not handled.
  await one.square.callOne(1);
  await expect(one.sleep.with({ timeout: 200 }).callOne(60_000)).rejects.toBeInstanceOf(TimeoutError);
  await until(async () => (await one.interruptions.callOne()).length === 1);
  const call = one.sleep.callOne(60_000);
  const signalled = new AbortController();
  const other = one.sleep.with({ signal: signalled.signal }).callOne(60_000);
  await one.square.callOne(1);
  call.cancel();
  signalled.abort(new Error("not needed"));
  await expect(call).rejects.toThrow("the call was cancelled");
  await expect(other).rejects.toThrow("not needed");
  await until(async () => (await one.interruptions.callOne()).length === 3);
  expect(await one.interruptions.callOne()).toEqual(["TimeoutError", "AbortError", "AbortError"]);
});

test("the mesh can be sent to other processes of the program that has looked it up", async () => {
  const { hosts, index } = await exchange();
  await using _ = hosts;
  await using procs = thisHost().spawnProcs({ gpus: 2 });
  const guests = procs.spawn("guests", project.PoliteGuest);
  const visits = [...(await guests.visit.call(index, "guest")).values()];
  expect(visits.flat().sort()).toEqual([1, 1, 1, 2, 2, 2]);
  await using far = hosts.spawnProcs({ gpus: 1 });
  expect(
    await far.spawn("guests", project.PoliteGuest).slice({ hosts: 0, gpus: 0 }).visit.callOne(index, "guest"),
  ).toEqual([3, 3, 3]);
});

test("a mesh of byKey keeps its key when it is sent on, from process to process and to another program", async () => {
  const { hosts, index } = await exchange();
  await using _ = hosts;
  await using procs = thisHost().spawnProcs({ gpus: 3 });
  const guests = procs.spawn("guests", project.PoliteGuest);
  const [first, ...others] = [0, 1, 2].map((gpus) => guests.slice({ gpus }));
  const own = procs.spawn("own", project.WordIndex);
  const expected = await own.byKey("user-42").where.callOne();
  expect(expected).toMatchObject({ key: "user-42", point: "{}" });
  for (const through of [[], others]) {
    const { traceId: _, ...place } = await first!.ask.callOne(own.byKey("user-42"), through);
    expect(place).toEqual({ pid: expected.pid, actor: expected.actor, key: "user-42", point: "{}" });
    expect(await first!.ask.callOne(index.byKey("user-7"), through)).toMatchObject({ key: "user-7", point: "{}" });
  }
  expect(await first!.ask.callOne(own.slice({ gpus: 1 }), others)).not.toHaveProperty("key");
});

test("endpoints with handles are refused with the reason, and the others work", async () => {
  const { hosts, index } = await exchange();
  await using _ = hosts;
  const { Channel, codec } = await import("viceroy");
  const [port] = Channel.open(codec.string);
  await expect(index.watch.call(port)).rejects.toMatchObject({
    remoteName: "TypeError",
    message:
      "cannot call Index.watch of another program: its arguments can contain a Port at port; handles have a meaning in one program only",
  });
  await expect(index.peers.call()).rejects.toMatchObject({
    message:
      "cannot call Index.peers of another program: its result can contain a Mesh at result; handles have a meaning in one program only",
  });
  const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
  index.watch.broadcast(port);
  expect((await warned).message).toContain(
    "cannot call Index.watch of another program: its arguments can contain a Port",
  );
  expect([...(await index.square.call(2)).values()]).toEqual([4, 4, 4]);
});

test("the program that has looked a mesh up is not its owner", async () => {
  const { hosts, index } = await exchange();
  await using _ = hosts;
  expect(() => index.stop()).toThrow('cannot stop mesh "index": only its owner can');
  await expect(index.slice({ shards: 1 }).exit.callOne(3)).rejects.toBeInstanceOf(SupervisionError);
  await expect(index.square.call(1)).rejects.toMatchObject({ ranks: [1] });
  expect([...(await index.slice({ shards: range(0, 1) }).square.call(3)).values()]).toEqual([9]);
  for (let i = 0; i < 20; i++) expect(await index.square.choose(3)).toBe(9);
  const results: number[] = [];
  for await (const [, square] of index.square.map([1, 2, 3, 4])) results.push(square);
  expect(results).toEqual([1, 4, 9, 16]);
  expect(faults).toEqual([]);
  expect(context().proc.rank).toBe(0);
});
