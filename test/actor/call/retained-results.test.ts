/** `rref`: calls whose results are retained in the processes of the actors. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CallOptions } from "../../../runtime/actor/call/call-guard.js";
import { type ActorMesh, viewOf } from "../../../runtime/actor/mesh/actor-mesh.js";
import type { Codec } from "../../../runtime/wire/codec.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../../runtime/wire/descriptor.js";
import type {
  ArgumentsLayout,
  EndpointInterceptor,
  OutgoingMessage,
  RetainedOutcome,
  RetainingCall,
} from "../../../runtime/wire/endpoint-interceptor.js";
import type { Reader } from "../../../runtime/wire/reader.js";
import { messageHandles } from "../../../runtime/wire/wire-environment.js";
import { Counter, counterDescriptor } from "../counter.js";
import { settled } from "../parts.js";
import { type TestProc, World } from "../world.js";

const retained: unknown[] = [];
const outgoing: OutgoingMessage = {
  encodeArguments: (layout, w, args) => layout.encodeInto(w, args),
  afterSend: () => {},
};
const interceptor: EndpointInterceptor = {
  retainsResults: true,
  forwardedHandles: messageHandles({}),
  beforeSend: () => outgoing,
  decodeArguments: (layout: ArgumentsLayout, r: Reader) => layout.decodeFrom(r),
  beforeHandler: () => undefined,
  beforeRetaining: () => () => {},
  retainingArguments: (args: Codec<readonly unknown[]>) => codec.tuple(codec.string, args) as Codec<readonly unknown[]>,
  retainedResult: codec.int32 as Codec<unknown>,
  retainResult: (label: string, key: unknown, answer: unknown) => {
    retained.push([label, key, answer]);
    return answer;
  },
  callRetaining: (call: RetainingCall) => call,
};

const args = defineArgs(codec.tuple(codec.int32), 1, 1);
const { key, name, id } = counterDescriptor;
class Retaining extends Counter {
  static override readonly descriptor = defineActor({
    key,
    name,
    id,
    fingerprint: 98n,
    args: () => args,
    endpoints: () => ({
      value: { id: 1, args: defineArgs(codec.tuple(), 0, 0), result: codec.int32, interceptor },
      sleep: { id: 2, args, result: codec.int32, interceptor },
    }),
  });
  override async sleep(ms: number): Promise<number> {
    if (ms === 13) throw new RangeError("refused");
    return ms;
  }
}

interface Propagated {
  rref(...args: unknown[]): RetainingCall;
  with(options: CallOptions): Propagated;
  callOne(...args: unknown[]): Promise<number>;
}

let world: World;
let procs: TestProc[];
let mesh: ActorMesh;
let sleep: Propagated;
beforeEach(() => {
  retained.length = 0;
  world = new World();
  procs = ["a", "b"].map((each) => world.proc(each));
  mesh = world.spawn("retaining", Retaining, [0], procs) as unknown as ActorMesh;
  sleep = (mesh as unknown as { sleep: Propagated }).sleep;
});
afterEach(() => world.close());

test("each rank retains its result under the key of the call, and the caller gets one outcome per rank", async () => {
  const call = sleep.rref(5);
  expect(call).toMatchObject({ label: "retaining.sleep", procs: procs.map(({ proc }) => proc.id), args: [5] });
  const outcomes: RetainedOutcome[] = [...(await call.send("one"))];
  expect(outcomes).toEqual([
    { status: "fulfilled", value: 5 },
    { status: "fulfilled", value: 5 },
  ]);
  expect(retained).toEqual([
    ["sleep", "one", 5],
    ["sleep", "one", 5],
  ]);
});

test("a handler that throws retains no result, and the outcome holds its error", async () => {
  const outcomes: RetainedOutcome[] = [...(await sleep.rref(13).send("one"))];
  expect(outcomes).toMatchObject([
    { status: "rejected", reason: { message: "refused" } },
    { status: "rejected", reason: { message: "refused" } },
  ]);
  expect(retained).toEqual([]);
});

test("a wrong number of arguments is refused before the call is sent", () => {
  expect(() => sleep.rref()).toThrow("cannot call retaining.sleep");
});

test("rref with wait is sent when an actor that is being restarted is back, and at once without wait", async () => {
  const target = viewOf(mesh).target(1);
  target.markDown();
  const waiting = Promise.resolve(sleep.with({ wait: true }).rref(7).send("late"));
  await settled();
  expect(retained).toEqual([]);
  await sleep.rref(8).send("now");
  expect(retained.map((each) => (each as unknown[])[1])).toEqual(["now", "now"]);
  target.markBack();
  expect([...(await waiting)]).toMatchObject([{ value: 7 }, { value: 7 }]);
});

test("rref uses the options of the endpoint", async () => {
  expect(() => sleep.with({ retry: 3 })).toThrow("cannot retry retaining.sleep: it is not @idempotent");
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
