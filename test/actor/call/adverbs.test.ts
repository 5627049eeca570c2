/** The adverbs of calls, on a mesh over several processes. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ActorError, SupervisionError, TimeoutError } from "../../../runtime/actor/errors.js";
import { range } from "../../../runtime/shape/index.js";
import { Counter, type CounterMesh, until } from "../counter.js";
import { type TestProc, World } from "../world.js";

let world: World;
let procs: TestProc[];
let counters: CounterMesh<"gpus">;

beforeEach(() => {
  world = new World();
  procs = ["a", "b", "c", "d"].map((name) => world.proc(name));
  counters = world.spawn("counters", Counter, [3], procs);
});
afterEach(() => world.close());

describe("call", () => {
  test("resolves with the values of all ranks in rank order", async () => {
    counters.slice({ gpus: 2 }).increment.broadcast(5);
    const values = await counters.value.call();
    expect([...values.values()]).toEqual([3, 3, 8, 3]);
    expect(values.extent).toEqual({ gpus: 4 });
  });

  test("uses the default of the implementation for an omitted argument", async () => {
    await counters.increment.call();
    expect([...(await counters.value.call()).values()]).toEqual([4, 4, 4, 4]);
  });

  test("waits for all ranks, then rejects with the error of the lowest rank and lists the others", async () => {
    const error = await counters.failOnEven.call().then(undefined, (e) => e);
    expect(error).toBeInstanceOf(ActorError);
    expect(error.message).toBe("even rank 0");
    expect(error.rank).toBe(0);
    expect(error.actor).toBe("counters[0]");
    expect(error.endpoint).toBe("counters.failOnEven");
    expect(error.others.map((e: ActorError) => e.message)).toEqual(["even rank 2"]);
  });

  test("on a slice returns the shape of the slice, and the handlers see their ranks in the slice", async () => {
    const upper = counters.slice({ gpus: range(2, 4) });
    const where = await upper.where.call();
    expect([...where.values()]).toEqual([
      { rank: 0, point: "{'gpus': 0/2}", actor: "counters 2", caller: "root" },
      { rank: 1, point: "{'gpus': 1/2}", actor: "counters 3", caller: "root" },
    ]);
  });
});

describe("callOne", () => {
  test("resolves with the value of the actor", async () => {
    expect(await counters.slice({ gpus: 1 }).value.callOne()).toBe(3);
  });

  test("refuses a mesh of more than one actor before anything is sent", () => {
    expect(() => counters.value.callOne()).toThrow(new RangeError("callOne requires exactly 1 actor, but mesh has 4"));
  });

  test("rejects with the class name, message and cause of a handler's error, and the actor lives on", async () => {
    const one = counters.slice({ gpus: 1 });
    const error: ActorError = await one.fail.callOne("nope").then(undefined as never, (e) => e);
    expect(error).toBeInstanceOf(ActorError);
    expect(error.remoteName).toBe("TypeError");
    expect(error.message).toBe("nope");
    expect((error.cause as Error).message).toBe("the root of it");
    expect(error.remoteStack).toMatch(/^TypeError: nope\n/);
    expect(error.actor).toBe("counters[1]");
    expect(await one.value.callOne()).toBe(3);
  });
});

test("the timeout of an endpoint applies to each call, and with() replaces it", async () => {
  const one = counters.slice({ gpus: 0 });
  expect(await one.impatient.callOne(1)).toBe(1);
  await expect(one.impatient.callOne(60_000)).rejects.toEqual(
    new TimeoutError("cannot call counters.impatient: no answer within 500 ms"),
  );
  await expect(counters.slice({ gpus: 1 }).impatient.with({ timeout: 60_000 }).callOne(600)).resolves.toBe(600);
});

test("an answer too large for a frame rejects its call with a MessageSizeError, and the actor lives on", async () => {
  const small = new World({ maxFrame: 10_000 });
  const counter = small.spawn<typeof Counter, never>("counter", Counter, [0], [small.proc("there")], {});
  const error: ActorError = await counter.large.callOne(50_000).then(undefined as never, (e) => e);
  expect([error.name, error.remoteName]).toEqual(["ActorError", "MessageSizeError"]);
  expect((await counter.large.callOne(5000)).length).toBe(5000);
  small.close();
});

describe("a call with invalid arguments", () => {
  test("throws before anything is sent if there are too many arguments", () => {
    const call = counters.increment.call.bind(counters.increment) as (...args: unknown[]) => unknown;
    expect(() => call(1, 2)).toThrow(new TypeError("cannot call counters.increment: expected 0 to 1 arguments, got 2"));
  });

  test("throws before anything is sent if a value has a wrong type", async () => {
    expect(() => counters.increment.call(1.5)).toThrow(/cannot encode .*expected an integer/);
    expect(() => counters.slice({ gpus: 0 }).increment.broadcast(2 ** 31)).toThrow(/cannot encode/);
    expect([...(await counters.value.call()).values()]).toEqual([3, 3, 3, 3]);
  });
});

test("choose resolves with the answer of one rank", async () => {
  expect(await counters.value.choose()).toBe(3);
});

test("choose never picks an actor whose link is lost, even before the cause of the loss is known", async () => {
  const ranks = () => counters.where.choose().then(({ rank }) => rank);
  await counters.value.call();
  const end = { explain: (_reason: string) => {} };
  const why = new Promise<string>((resolve) => {
    end.explain = resolve;
  });
  Object.assign(world.root.proc.hooks, { peerLost: () => why });
  world.pipesBetween("root", "b")[0]!.destroy(new Error("cut"));
  const pending = counters.slice({ gpus: 1 }).value.callOne();
  await until("the end of the link is known", () => world.root.proc.routes.hasLostPeers);
  for (let i = 0; i < 50; i++) expect(await ranks()).not.toBe(1);
  end.explain("it was killed");
  await expect(pending).rejects.toThrow("cannot call counters.value on rank 0 (counters[1]): it was killed");
  for (let i = 0; i < 50; i++) expect(await ranks()).not.toBe(1);
});

test("callSettled returns the outcome of each rank", async () => {
  const settled = await counters.failOnEven.callSettled();
  expect([...settled.values()].map((s) => (s.status === "fulfilled" ? s.value : s.reason.message))).toEqual([
    "even rank 0",
    1,
    "even rank 2",
    3,
  ]);
});

test("reduce folds the answers in rank order", async () => {
  counters.slice({ gpus: 3 }).increment.broadcast(4);
  expect(await counters.value.reduce("sum")).toBe(16);
  expect(await counters.value.reduce()).toBe(16);
  expect(await counters.value.reduce("max")).toBe(7);
  expect(await counters.value.reduce("min")).toBe(3);
  expect(await counters.value.reduce("count")).toBe(4);
  expect(await counters.value.reduce((a, b) => a * 10 + b)).toBe(3337);
  await expect(counters.failOnEven.reduce("sum")).rejects.toThrow("even rank 0");
});

test("stream yields the answer of each rank together with its point", async () => {
  const seen: string[] = [];
  for await (const [point, value] of counters.value.stream()) seen.push(`${point} ${value}`);
  expect(seen.sort()).toEqual(["{'gpus': 0/4} 3", "{'gpus': 1/4} 3", "{'gpus': 2/4} 3", "{'gpus': 3/4} 3"]);
});

test("calls to a failed actor reject at once, and slices without that actor still work", async () => {
  counters.slice({ gpus: 1 }).fail.broadcast("fatal");
  const error = await counters.value.call().then(undefined, (e) => e);
  expect(error).toBeInstanceOf(SupervisionError);
  expect(error.message).toBe(
    "cannot call counters.value on rank 1: the actor counters[1] has failed: TypeError: fatal",
  );
  expect([...(await counters.slice({ gpus: range(2, 4) }).value.call()).values()]).toEqual([3, 3]);
  expect(procs[1]!.failures().map(({ kind, endpoint }) => [kind, endpoint])).toEqual([["message", "fail"]]);
});
