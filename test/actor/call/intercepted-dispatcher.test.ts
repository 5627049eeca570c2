/** Sending to endpoints with an interceptor: the interceptor gets the receivers and encodes the arguments. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDispatcher } from "../../../runtime/actor/call/intercepted-dispatcher.js";
import { type ActorMesh, viewOf } from "../../../runtime/actor/mesh/actor-mesh.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../../runtime/wire/descriptor.js";
import type {
  ArgumentsLayout,
  EndpointInterceptor,
  MessageReceivers,
} from "../../../runtime/wire/endpoint-interceptor.js";
import { protobufArguments } from "../../../runtime/wire/protobuf-messages.js";
import type { Reader } from "../../../runtime/wire/reader.js";
import { Writer } from "../../../runtime/wire/writer.js";
import { Counter, type CounterMesh, counterDescriptor } from "../counter.js";
import { type TestProc, World } from "../world.js";

let events: unknown[];
/** A function that only the next encoding calls. */
let whileEncoding: (() => void) | undefined;
const interceptor = {
  retainsResults: false,
  beforeSend: (receivers: MessageReceivers) => {
    events.push(receivers);
    return {
      encodeArguments: (layout: ArgumentsLayout, w: Writer, args: readonly unknown[]) => {
        events.push(["encoded", args]);
        const nested = whileEncoding;
        whileEncoding = undefined;
        nested?.();
        layout.encodeInto(w, args);
      },
      afterSend: () => void events.push("sent"),
    };
  },
  decodeArguments: (layout: ArgumentsLayout, r: Reader) => layout.decodeFrom(r),
  beforeHandler: () => undefined,
} as unknown as EndpointInterceptor;

const args = defineArgs(codec.tuple(codec.int32), 1, 1);
const { key, name, id } = counterDescriptor;
class Intercepted extends Counter {
  static override readonly descriptor = defineActor({
    key,
    name,
    id,
    fingerprint: 99n,
    args: () => args,
    endpoints: () => ({
      increment: { id: 1, args, interceptor },
      sleep: { id: 2, args, result: codec.int32, interceptor },
      value: { id: 3, args: defineArgs(codec.tuple(), 0, 0), result: codec.int32 },
    }),
  });
}

let world: World;
let procs: TestProc[];
let mesh: CounterMesh<"gpus">;
beforeEach(() => {
  events = [];
  world = new World();
  procs = ["a", "b", "c"].map((each) => world.proc(each));
  mesh = world.spawn("intercepted", Intercepted, [0], procs) as unknown as CounterMesh<"gpus">;
});
afterEach(() => world.close());
const ids = (...ranks: number[]) => ranks.map((rank) => procs[rank]!.proc.id);

test("a call to one actor has its process as receiver", async () => {
  expect(await mesh.slice({ gpus: 1 }).sleep.callOne(0)).toBe(0);
  expect(events).toEqual([{ label: "intercepted.sleep", procs: ids(1) }, ["encoded", [0]], "sent"]);
});

test("a call to all actors has all their processes as receivers, in rank order", async () => {
  expect([...(await mesh.sleep.call(0)).values()]).toEqual([0, 0, 0]);
  expect(events).toEqual([{ label: "intercepted.sleep", procs: ids(0, 1, 2) }, ["encoded", [0]], "sent"]);
});

test("a broadcast to all actors has all their processes as receivers", async () => {
  await mesh.increment.broadcast(5);
  const sent = [{ label: "intercepted.increment", procs: ids(0, 1, 2) }, ["encoded", [5]], "sent"];
  expect(events).toEqual(sent);
  expect([...(await mesh.value.call()).values()]).toEqual([5, 5, 5]);
  expect(events).toEqual(sent);
});

test("a message that cannot be encoded is not reported as sent", () => {
  expect(() => mesh.increment.broadcast("five" as never)).toThrow("cannot encode");
  expect(events).toEqual([{ label: "intercepted.increment", procs: ids(0, 1, 2) }, ["encoded", ["five"]]]);
});

test("the interceptor also encodes arguments in the protobuf layout", async () => {
  const [w, plain] = [new Writer(), new Writer()];
  const dispatcher = createDispatcher(viewOf(mesh as unknown as ActorMesh), 0, {});
  whileEncoding = () => dispatcher.protobuf.encodeInto(w, [5]);
  await dispatcher.cast([4]);
  protobufArguments(args.codec).encodeInto(plain, [5]);
  expect(w.copy(0)).toEqual(plain.copy(0));
  expect(events.slice(1)).toEqual([["encoded", [4]], ["encoded", [5]], "sent"]);
});

test("arguments that are encoded outside of a send do not reach the interceptor", () => {
  const dispatcher = createDispatcher(viewOf(mesh as unknown as ActorMesh), 0, {});
  const [w, plain] = [new Writer(), new Writer()];
  dispatcher.protobuf.encodeInto(w, [5]);
  protobufArguments(args.codec).encodeInto(plain, [5]);
  expect([w.copy(0), events]).toEqual([plain.copy(0), []]);
});
