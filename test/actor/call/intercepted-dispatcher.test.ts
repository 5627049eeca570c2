/** Messages whose arguments may be tensors: they are lent to the processes of their receivers, by every adverb. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDispatcher } from "../../../runtime/actor/call/intercepted-dispatcher.js";
import { type ActorMesh, viewOf } from "../../../runtime/actor/mesh/actor-mesh.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../../runtime/wire/descriptor.js";
import { protobufArguments } from "../../../runtime/wire/protobuf-messages.js";
import type { Addressed, ArgumentsLayout, TensorSupport } from "../../../runtime/wire/tensor-support.js";
import { Writer } from "../../../runtime/wire/writer.js";
import { Counter, type CounterMesh, counterDescriptor } from "../counter.js";
import { type TestProc, World } from "../world.js";

let told: unknown[];
const support = {
  propagates: false,
  lend: (to: Addressed, send: () => unknown) => {
    told.push(to);
    return send();
  },
  sending: (layout: ArgumentsLayout) => ({
    encodeInto: (w: Writer, args: readonly unknown[]) => {
      told.push(["encoded", args]);
      layout.encodeInto(w, args);
    },
  }),
  receiving: (layout: ArgumentsLayout) => layout,
  arriving: () => undefined,
} as unknown as TensorSupport;

const args = defineArgs(codec.tuple(codec.int32), 1, 1);
const { key, name, id } = counterDescriptor;
class Lent extends Counter {
  static override readonly descriptor = defineActor({
    key,
    name,
    id,
    fingerprint: 99n,
    args: () => args,
    endpoints: () => ({
      increment: { id: 1, args, tensors: support },
      sleep: { id: 2, args, result: codec.int32, tensors: support },
      value: { id: 3, args: defineArgs(codec.tuple(), 0, 0), result: codec.int32 },
    }),
  });
}

let world: World;
let procs: TestProc[];
let mesh: CounterMesh<"gpus">;
beforeEach(() => {
  told = [];
  world = new World();
  procs = ["a", "b", "c"].map((each) => world.proc(each));
  mesh = world.spawn("lent", Lent, [0], procs) as unknown as CounterMesh<"gpus">;
});
afterEach(() => world.close());
const ids = (...ranks: number[]) => ranks.map((rank) => procs[rank]!.proc.id);

test("a call to one actor is lent to its process", async () => {
  expect(await mesh.slice({ gpus: 1 }).sleep.callOne(0)).toBe(0);
  expect(told).toEqual([{ label: "lent.sleep", procs: ids(1) }, ["encoded", [0]]]);
});

test("a call to all is lent to all their processes, in rank order", async () => {
  expect([...(await mesh.sleep.call(0)).values()]).toEqual([0, 0, 0]);
  expect(told).toEqual([{ label: "lent.sleep", procs: ids(0, 1, 2) }, ["encoded", [0]]]);
});

test("a broadcast is lent to all their processes, too", async () => {
  await mesh.increment.broadcast(5);
  expect(told).toEqual([{ label: "lent.increment", procs: ids(0, 1, 2) }, ["encoded", [5]]]);
  expect([...(await mesh.value.call()).values()]).toEqual([5, 5, 5]);
  expect(told.length).toBe(2);
});

test("it is encoded as what is lent in the protobuf layout, too", () => {
  const dispatcher = createDispatcher(viewOf(mesh as unknown as ActorMesh), 0, {});
  const [w, plain] = [new Writer(), new Writer()];
  dispatcher.protobuf.encodeInto(w, [5]);
  protobufArguments(args.codec).encodeInto(plain, [5]);
  expect(w.copy(0)).toEqual(plain.copy(0));
  expect(told).toEqual([["encoded", [5]]]);
});
