/**
 * Tests that the guarantees of calls hold for casts over trees: positions in slices, deadlines, credit, ports, large
 * messages and faulty peers.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import { BackpressureError, TimeoutError } from "../../runtime/actor/errors.js";
import { Channel } from "../../runtime/actor/port/channel.js";
import { beginFrame, FrameKind } from "../../runtime/link/frame/frame.js";
import { range } from "../../runtime/shape/index.js";
import { codec } from "../../runtime/wire/composed/index.js";
import { begun, Counter, type CounterMesh, delay, until } from "../actor/counter.js";
import { type TestProc, World } from "../actor/world.js";

const size = 12;
let world: World;
let procs: TestProc[];
let mesh: CounterMesh<"gpus">;

beforeEach(() => {
  world = new World({ treeAbove: 3, treeFanout: 2, creditMessages: 4, sendWindowMessages: 8 });
  procs = Array.from({ length: size }, (_, i) => world.proc(`p${i}`));
  mesh = world.spawn("counters", Counter, [0], procs);
});
afterEach(() => world.close());

test("a handler knows its rank and its point in the slice that was called", async () => {
  const where = [...(await mesh.slice({ gpus: range(2, 12, 2) }).where.call()).values()];
  expect(where.map(({ rank, point, actor }) => [rank, point, actor])).toEqual([
    [0, "{'gpus': 0/5}", "counters 2"],
    [1, "{'gpus': 1/5}", "counters 4"],
    [2, "{'gpus': 2/5}", "counters 6"],
    [3, "{'gpus': 3/5}", "counters 8"],
    [4, "{'gpus': 4/5}", "counters 10"],
  ]);
});

test("the deadline of a caller reaches every handler, and the next call is not delayed", async () => {
  await mesh.value.call();
  await expect(mesh.untilAborted.with({ timeout: 1000 }).call()).rejects.toThrow(TimeoutError);
  for (const log of (await mesh.log.call()).values()) expect(log.at(-1)).toMatch(/^aborted: TimeoutError/);
});

test("a cancelled call is cancelled at all actors, and later messages are handled", async () => {
  await mesh.value.call();
  const call = mesh.untilAborted.call();
  await begun(...procs);
  call.cancel();
  await expect(call).rejects.toThrow("the call was cancelled");
  await mesh.increment.broadcast(1);
  expect(await mesh.value.reduce("sum")).toBe(size);
  for (const log of (await mesh.log.call()).values()) expect(log.at(-1)).toBe("aborted: AbortError");
});

test("casts to slow actors throw BackpressureError at a full send window, and no accepted cast is lost", async () => {
  let sent = 0;
  const flood = (): void => {
    for (; sent < 1000; sent++) mesh.note.broadcast(`${sent}`, 1);
  };
  expect(flood).toThrow(BackpressureError);
  expect(sent).toBeLessThan(100);
  const inTime = async <T>(send: () => T): Promise<T> => {
    let sent: { readonly value: T } | undefined;
    await until("there is room again", () => {
      try {
        sent = { value: send() };
        return true;
      } catch {
        return false;
      }
    });
    return sent!.value;
  };
  await inTime(() => mesh.note.broadcast("last", 0));
  const logs = await inTime(() => mesh.log.call());
  const numbers = Array.from({ length: sent }, (_, i) => `+${i}`);
  for (const log of logs.values()) {
    expect(log.filter((line) => line.startsWith("+") && line !== "+last")).toEqual(numbers);
  }
});

test("all receivers of a cast can send to a port in the cast", async () => {
  const [port, receiver] = Channel.open(codec.int32);
  mesh.feed.broadcast(port, 2);
  const received: number[] = [];
  for (let i = 0; i < 2 * size; i++) received.push(await receiver.recv());
  expect(received.reduce((a, b) => a + b, 0)).toBe(size);
  receiver.close();
});

test("large byte arrays are cast and returned unchanged", async () => {
  const bytes = new Uint8Array(100_000).map((_, i) => i);
  for (const answer of (await mesh.bytes.call(bytes)).values()) expect(Buffer.compare(answer, bytes)).toBe(0);
});

test("a call to a failed actor is rejected with the failure, and the other actors still answer", async () => {
  mesh.slice({ gpus: 5 }).fail.broadcast("harmed");
  await until("it has failed", () => procs[5]!.failures().length === 1);
  await expect(mesh.value.call()).rejects.toThrow(
    "cannot call counters.value on rank 5: the actor counters[5] has failed: TypeError: harmed",
  );
  const settled = [...(await mesh.value.callSettled()).values()];
  expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(size - 1);
});

test("invalid tree frames end only the link of their sender, and frames for unknown parts are ignored", async () => {
  await mesh.value.call();
  for (const kind of [FrameKind.tree, FrameKind.sync]) {
    const evil = world.proc(`evil ${kind}`);
    const link = evil.proc.routes.linkTo(procs[3]!.proc.id, procs[3]!.proc.location, undefined);
    await until("they know each other", () => link.isIntroduced);
    const at = beginFrame(link.outbox.writer, kind, 7, 7);
    link.outbox.writer.reserve(40);
    link.outbox.commit(at);
    await until("the link has ended", () => link.ended !== undefined);
  }
  // Frames for parts that do not exist, or no longer exist, are ignored.
  const late = world.proc("late");
  const link = late.proc.routes.linkTo(procs[3]!.proc.id, procs[3]!.proc.location, undefined);
  await until("they know each other", () => link.isIntroduced);
  for (const kind of [FrameKind.cast, FrameKind.answers, FrameKind.taken, FrameKind.castCancel, FrameKind.treeFlush]) {
    link.outbox.commit(beginFrame(link.outbox.writer, kind, 99, 1));
  }
  await delay(20);
  expect(link.ended).toBeUndefined();
  expect(await mesh.value.reduce("count")).toBe(size);
});
