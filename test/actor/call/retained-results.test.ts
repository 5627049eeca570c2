/** Calls whose answers stay with the actors: what is told of them, by which endpoint they are called, and with which options. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CallOptions } from "../../../runtime/actor/call/call-guard.js";
import type { Codec } from "../../../runtime/wire/codec.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../../runtime/wire/descriptor.js";
import type { ArgumentsLayout, Kept, KeptCall, TensorSupport } from "../../../runtime/wire/tensor-support.js";
import { Counter, counterDescriptor } from "../counter.js";
import { type TestProc, World } from "../world.js";

const kept: unknown[] = [];
const support = {
  propagates: true,
  lend: (_: unknown, send: () => unknown) => send(),
  sending: (layout: ArgumentsLayout) => layout,
  receiving: (layout: ArgumentsLayout) => layout,
  arriving: () => undefined,
  answering: () => () => {},
  keptArgs: (args: Codec<readonly unknown[]>) => codec.tuple(codec.string, args),
  keptResult: codec.int32,
  keep: (label: string, key: unknown, answer: unknown) => {
    kept.push([label, key, answer]);
    return answer;
  },
  rref: (call: KeptCall) => call,
} as unknown as TensorSupport;

const args = defineArgs(codec.tuple(codec.int32), 1, 1);
const { key, name, id } = counterDescriptor;
class Keeping extends Counter {
  static override readonly descriptor = defineActor({
    key,
    name,
    id,
    fingerprint: 98n,
    args: () => args,
    endpoints: () => ({
      value: { id: 1, args: defineArgs(codec.tuple(), 0, 0), result: codec.int32, tensors: support },
      sleep: { id: 2, args, result: codec.int32, tensors: support },
    }),
  });
  override async sleep(ms: number): Promise<number> {
    if (ms === 13) throw new RangeError("refused");
    return ms;
  }
}

interface Propagated {
  rref(...args: unknown[]): KeptCall;
  with(options: CallOptions): Propagated;
  callOne(...args: unknown[]): Promise<number>;
}

let world: World;
let procs: TestProc[];
let sleep: Propagated;
beforeEach(() => {
  kept.length = 0;
  world = new World();
  procs = ["a", "b"].map((each) => world.proc(each));
  sleep = (world.spawn("keeping", Keeping, [0], procs) as unknown as { sleep: Propagated }).sleep;
});
afterEach(() => world.close());

test("they stay under the key of the call, and of each is told what became of it", async () => {
  const call = sleep.rref(5);
  expect(call).toMatchObject({ label: "keeping.sleep", procs: procs.map(({ proc }) => proc.id), args: [5] });
  const outcomes: Kept[] = [...(await call.send("one"))];
  expect(outcomes).toEqual([
    { status: "fulfilled", value: 5 },
    { status: "fulfilled", value: 5 },
  ]);
  expect(kept).toEqual([
    ["sleep", "one", 5],
    ["sleep", "one", 5],
  ]);
});

test("a handler that throws keeps nothing, and that is told", async () => {
  const outcomes: Kept[] = [...(await sleep.rref(13).send("one"))];
  expect(outcomes).toMatchObject([
    { status: "rejected", reason: { message: "refused" } },
    { status: "rejected", reason: { message: "refused" } },
  ]);
  expect(kept).toEqual([]);
});

test("arguments are checked before anything is told", () => {
  expect(() => sleep.rref()).toThrow("cannot call keeping.sleep");
});

test("the endpoint keeps its options, and has an rref with all of them", async () => {
  expect(() => sleep.with({ retry: 3 })).toThrow("cannot retry keeping.sleep: it is not @idempotent");
  const patient = sleep.with({ wait: true }).with({ timeout: 60_000 });
  expect([...(await patient.rref(7).send("two"))]).toEqual([
    { status: "fulfilled", value: 7 },
    { status: "fulfilled", value: 7 },
  ]);
  const hasty = patient.with({ timeout: 0 });
  expect([...(await Promise.resolve(hasty.rref(7).send("three")).catch((error: Error) => [error.name]))]).toEqual([
    "TimeoutError",
  ]);
});
