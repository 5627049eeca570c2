/** Meshes, shapes and adverbs, as contract.md promises them, over processes, threads and the own process. */
import {
  ActorError,
  BackpressureError,
  Channel,
  codec,
  context,
  firstCompleted,
  range,
  TimeoutError,
  thisHost,
} from "viceroy";
import "../generated/registry.js";
import { MemoryCounter } from "../src/memory-counter.js";
import { RealProbe } from "../src/probe.js";
import { check, done, equal, rejection, thrown } from "./check.js";

const isolation = (process.argv[2] ?? "process") as "process" | "thread" | "inline";
const procs = thisHost().spawnProcs({ gpus: 4 }, { isolation });
const counters = procs.spawn("counters", MemoryCounter, 3);
const probes = procs.spawn("probes", RealProbe);

await check("calls made before anything is ready are answered in order", async () => {
  counters.increment.broadcast(1);
  const values = await counters.value.call();
  equal([...values.values()], [4, 4, 4, 4]);
  equal(await counters.slice({ gpus: 0 }).value.callOne(), 4);
});
await check("ready resolves", async () => {
  await procs.ready;
  await counters.ready;
});
await check("an omitted optional argument is the implementation's default", async () => {
  counters.slice({ gpus: 2 }).increment.broadcast();
  equal([...(await counters.value.call()).values()], [4, 4, 5, 4]);
});
await check("stream yields [point, value], many per rank", async () => {
  const seen: string[] = [];
  for await (const [point, value] of counters.watch.stream(2)) seen.push(`${point} ${value}`);
  equal(seen.length, 8);
  equal(seen.filter((s) => s === "{'gpus': 2/4} 5").length, 2);
});
await check("leaving the loop of an endless stream ends the generators", async () => {
  let n = 0;
  // A generator that was never started has nothing to end.
  const started = new Set<number>();
  for await (const [point] of probes.endless.stream()) {
    started.add(point.rank);
    if (++n >= 100 && started.size === probes.size) break;
  }
  for (let i = 0; i < 1000; i++) {
    if ([...(await probes.streamEnded.call()).values()].every(Boolean)) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("a generator still runs");
});
await check("a stream that fails rejects with the remote error", async () => {
  const seen: number[] = [];
  const error = await rejection(
    (async () => {
      for await (const [, v] of probes.slice({ gpus: 1 }).failingStream.stream(3)) seen.push(v);
    })(),
  );
  equal(seen, [0, 1, 2]);
  equal(error instanceof ActorError, true);
  equal(/stream broke/.test(error.message), true);
});
await check("context() in a handler, after an await and in a streaming body", async () => {
  const sub = probes.slice({ gpus: range(2, 4) });
  const where = await sub.where.call();
  equal(where.at({ gpus: 0 }).point, "{'gpus': 0/2}");
  equal(where.at({ gpus: 0 }).actorRank, 2);
  equal(where.at({ gpus: 1 }).rank, 1);
  const after = await sub.whereAfterAwait.call();
  equal(after.at({ gpus: 1 }).point, "{'gpus': 1/2}");
  for await (const [point, w] of sub.streamWhere.stream()) equal(w.point, point.toString());
});
await check("context() outside a handler throws for rank and signal", () => {
  thrown(() => context().rank);
  thrown(() => context().signal);
});
await check("shape: extent, size, at, split, rename, flatten, iteration, points", async () => {
  equal(counters.extent, { gpus: 4 });
  equal(counters.size, 4);
  const grid = counters.split({ gpus: ["dp", "tp"] }, { tp: 2 });
  equal(grid.extent, { dp: 2, tp: 2 });
  equal(await grid.slice({ dp: 1, tp: 0 }).value.callOne(), 5);
  equal(grid.rename({ tp: "model" }).extent, { dp: 2, model: 2 });
  equal(grid.flatten("rank").extent, { rank: 4 });
  thrown(() => counters.slice({ gpus: range(0, 4, 3) }).split({ gpus: ["a", "b"] }, { a: 3 }));
  thrown(() => grid.slice({ tp: 0 }).flatten("x"));
  const values = await grid.value.call();
  equal(
    [...values].map(([p, v]) => `${p} ${v}`),
    ["{'dp': 0/2, 'tp': 0/2} 4", "{'dp': 0/2, 'tp': 1/2} 4", "{'dp': 1/2, 'tp': 0/2} 5", "{'dp': 1/2, 'tp': 1/2} 4"],
  );
  equal([...values.slice({ dp: 1 }).values()], [5, 4]);
  for (const [point] of values) equal(values.at(point), [...values.values()][point.rank]);
  equal(typeof values.toTable(), "string");
  equal(await grid.slice([...values][2]![0]).value.callOne(), 5);
});
await check("what is known before sending throws synchronously", () => {
  equal(
    thrown(() => counters.value.callOne()).message.includes("callOne requires exactly 1 actor, but mesh has 4"),
    true,
  );
  thrown(() => counters.slice({ gpus: 4 }));
  thrown(() => counters.slice({ gpus: -1 }));
  thrown(() => counters.increment.broadcast(2 ** 31));
  thrown(() => counters.increment.broadcast(Number.NaN));
  thrown(() => counters.increment.broadcast(1.5));
  thrown(() => counters.increment.call("1" as unknown as number));
  thrown(() => (counters.increment.call as (...a: unknown[]) => unknown)(1, 2));
  thrown(() => (probes.echo.call as (...a: unknown[]) => unknown)());
  thrown(() => procs.spawn("bad", MemoryCounter, "x" as unknown as number));
});
await check("a handler's throw is an ActorError, and the actor lives", async () => {
  const one = probes.slice({ gpus: 1 });
  const error = await rejection(one.fail.callOne("nope"));
  if (!(error instanceof ActorError)) throw error;
  equal(error.remoteName, "TypeError");
  equal(error.message.includes("nope"), true);
  equal(error.endpoint.includes("fail"), true);
  equal(String((error.cause as Error | undefined)?.message ?? "").includes("the root of it"), true);
  equal(await one.echo.callOne("still here"), "still here");
});
await check("call rejects with the lowest failed rank and holds the others", async () => {
  const error = await rejection(probes.failOnEven.call());
  if (!(error instanceof ActorError)) throw error;
  equal(error.message.includes("even rank 0"), true);
  equal(error.others.length, 1);
  const settled = await probes.failOnEven.callSettled();
  equal(
    [...settled.values()].map((s) => s.status),
    ["rejected", "fulfilled", "rejected", "fulfilled"],
  );
});
await check("one message at a time, also across await; a concurrent endpoint doesn't hold others up", async () => {
  const one = probes.slice({ gpus: 3 });
  const slow = one.meanwhile.callOne(300);
  one.note.broadcast("a", 20);
  one.note.broadcast("b", 0);
  const log = await one.log.callOne();
  equal(log.slice(-4), ["+a", "-a", "+b", "-b"]);
  equal(await slow, "slept 300");
});
await check("init ran before the first message", async () => {
  equal((await probes.slice({ gpus: 0 }).log.callOne())[0], "init");
});
await check("timeout reaches the handler's signal and rejects with TimeoutError", async () => {
  const one = probes.slice({ gpus: 0 });
  const error = await rejection(one.untilAborted.with({ timeout: 3000 }).callOne());
  equal(error instanceof TimeoutError, true);
  equal(await one.aborted.callOne(), true);
});
await check("an abort signal reaches the handler", async () => {
  const one = probes.slice({ gpus: 2 });
  const abort = new AbortController();
  const [port, receiver] = Channel.open(codec.boolean);
  const call = one.untilAborted.with({ signal: abort.signal }).callOne(port);
  await receiver.recv();
  abort.abort();
  await rejection(call);
  equal(await one.aborted.callOne(), true);
});
await check("Future: get with timeout leaves it usable; firstCompleted", async () => {
  const one = probes.slice({ gpus: 0 });
  const f = one.sleep.callOne(100);
  equal(f instanceof Promise, true);
  equal((await rejection(f.get({ timeout: 10 }))) instanceof TimeoutError, true);
  equal(f.settled, false);
  equal(await f, 100);
  equal(f.settled, true);
  const slow = probes.slice({ gpus: 1 }).sleep.callOne(500);
  const quick = probes.slice({ gpus: 2 }).sleep.callOne(1);
  const first = await firstCompleted([slow, quick], 1);
  equal(first.length, 1);
  await slow;
});
await check("@respond: later, refused, dropped, twice", async () => {
  const one = probes.slice({ gpus: 0 });
  equal(await one.later.callOne("soon"), "soon");
  const refused = await rejection(one.refuse.callOne());
  equal(refused instanceof ActorError && refused.remoteName === "RangeError", true);
  equal((await rejection(one.forget.callOne())) instanceof ActorError, true);
  equal(await one.twice.callOne(), "first");
});
await check("choose answers from one rank", async () => {
  equal(await probes.echo.choose("any"), "any");
});
await check("reduce folds the answers of all ranks", async () => {
  equal(await counters.value.reduce("sum"), 17);
  equal(await counters.value.reduce("max"), 5);
  equal(await counters.value.reduce("min"), 4);
  equal(await counters.value.reduce("count"), 4);
});
await check("meshes are arguments and results, pending ones too", async () => {
  const fresh = procs.spawn("fresh", MemoryCounter, 10);
  equal(await probes.slice({ gpus: 0 }).sum.callOne(fresh), 40);
  equal(await probes.slice({ gpus: 0 }).sum.callOne(fresh.slice({ gpus: range(0, 2) })), 20);
  const made = await probes.slice({ gpus: 1 }).make.callOne(7);
  equal(await made.value.callOne(), 7);
});
await check("a call to an actor already in the call chain is a DeadlockError", async () => {
  const one = probes.slice({ gpus: 0 });
  const error = await rejection(one.callBack.callOne(one));
  equal(/DeadlockError/.test(`${error.name} ${(error as ActorError).remoteName ?? ""}`), true);
});
await check("megabytes go through", async () => {
  const data = new Uint8Array(8 << 20).map((_, i) => (i * 31) & 255);
  const back = await probes.slice({ gpus: 0 }).bytes.callOne(data);
  equal(back.constructor, Uint8Array);
  equal(Buffer.compare(back, data), 0);
});
await check("a sender that doesn't await gets a BackpressureError, synchronously, and nothing is dropped", async () => {
  const one = counters.slice({ gpus: 0 });
  const before = await one.value.callOne();
  const busy = probes.slice({ gpus: 0 }).sleep.callOne(1);
  let sent = 0;
  let last: PromiseLike<void> = Promise.resolve();
  const error = thrown(() => {
    for (;;) {
      last = one.increment.broadcast(1);
      sent++;
    }
  });
  equal(error instanceof BackpressureError, true);
  await last;
  equal(await one.value.callOne(), before + sent);
  await busy;
});
await check("a name spawned twice is refused", () => {
  thrown(() => procs.spawn("counters", MemoryCounter, 3));
});
await check("stop is idempotent, and later calls and spawns throw", async () => {
  await counters.stop({ reason: "done" });
  await counters.stop();
  thrown(() => counters.value.call());
  await procs.stop();
  await procs[Symbol.asyncDispose]();
  thrown(() => procs.spawn("late", MemoryCounter, 3));
});
done();
