/** Chains of calls over three processes share their deadline, their cancellation and their trace. */
import { Channel, codec, thisHost } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import type { ChainMesh } from "../fixtures/guild/generated/chain.js";
import { until } from "../proc/until.js";
import { type Guild, loadGuild } from "../supervise/guild.js";

let IronChain: Guild["IronChain"];
beforeAll(async () => {
  ({ IronChain } = await loadGuild());
});

async function chain() {
  const procs = thisHost().spawnProcs({ links: 3 });
  const links = procs.spawn("links", IronChain);
  await links.ready;
  const [a, b, c] = [0, 1, 2].map((rank) => links.slice({ links: rank })) as [
    ChainMesh<never>,
    ChainMesh<never>,
    ChainMesh<never>,
  ];
  return { procs, links, a, b, c, [Symbol.asyncDispose]: () => procs.stop() };
}

/** Returns the events that a link has seen, once there are at least `count`. */
async function seen(link: ChainMesh<never>, count: number): Promise<string[]> {
  let events: string[] = [];
  await until(async () => {
    events = await link.seen.callOne();
    return events.length >= count;
  });
  return events;
}

const timeIsOver = "TimeoutError: the caller of wait waits no longer: its time is over";

test("the deadline of the first call applies to all calls of the chain, even to those with longer timeouts", async () => {
  await using world = await chain();
  const { a, b, c } = world;
  const call = a.wait.with({ timeout: 1000 }).callOne([b, c], 60_000);
  await expect(call).rejects.toThrow("cannot call links.wait: no answer within 1000 ms");
  expect(await seen(a, 2)).toEqual([
    `caller ${timeIsOver}`,
    `call TimeoutError: cannot call links.wait: the caller of wait waits no longer: its time is over; it waited in the chain root > links[0].wait > links[1].wait`,
  ]);
  expect(await seen(b, 2)).toEqual([
    `caller ${timeIsOver}`,
    `call TimeoutError: cannot call links.wait: the caller of wait waits no longer: its time is over; it waited in the chain links[0] > links[1].wait > links[2].wait`,
  ]);
  expect(await seen(c, 1)).toEqual([`caller ${timeIsOver}`]);
});

test("an inner call with a shorter timeout than its caller ends alone", async () => {
  await using world = await chain();
  const { a, b } = world;
  const call = a.wait.with({ timeout: 60_000 }).callOne([b], 500);
  await expect(call).rejects.toThrow("cannot call links.wait: no answer within 500 ms");
  expect(await seen(a, 1)).toEqual([
    "call TimeoutError: cannot call links.wait: no answer within 500 ms; it waited in the chain root > links[0].wait > links[1].wait",
  ]);
  expect(await seen(b, 1)).toEqual([`caller ${timeIsOver}`]);
});

test("aborting the first call aborts all calls that follow from it", async () => {
  await using world = await chain();
  const { a, b, c } = world;
  const abort = new AbortController();
  const call = a.wait.with({ signal: abort.signal }).callOne([b, c], 0);
  // All of them are waiting.
  await until(() => c.waits.callOne());
  abort.abort(new Error("enough"));
  await expect(call).rejects.toThrow("enough");
  const aborted = "caller AbortError: the caller of wait waits no longer";
  expect(await seen(c, 1)).toEqual([aborted]);
  expect(await seen(b, 2)).toEqual([
    aborted,
    "call AbortError: cannot call links.wait: the caller of wait waits no longer",
  ]);
  expect(await seen(a, 2)).toEqual([
    aborted,
    "call AbortError: cannot call links.wait: the caller of wait waits no longer",
  ]);
});

test("calls that a handler makes after its caller has left are not aborted, so that the handler can clean up", async () => {
  await using world = await chain();
  const { a, b } = world;
  const call = a.waitAndRelease.with({ timeout: 1000 }).callOne([b]);
  await expect(call).rejects.toThrow("no answer within 1000 ms");
  expect(await seen(b, 2)).toEqual([`caller ${timeIsOver}`, "let go"]);
});

test("idempotent calls are retried after a timeout, but not after the caller has left", async () => {
  await using world = await chain();
  const { a, b, c } = world;
  expect(await a.insist.callOne(b, 5)).toBe(3);
  await c.stall.callOne();
  await expect(a.insist.with({ timeout: 1000 }).callOne(c, 1000)).rejects.toThrow("no answer within 1000 ms");
  // Attempts that were made before the caller left can still be on their way.
  let made: number;
  await until(async () => {
    made = await c.counted.callOne();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    return (await c.counted.callOne()) === made;
  });
});

/** The parts of a `traceparent`. */
function parts(traceparent: string): { id: string; span: string } {
  const [, id, span] = /^00-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}$/.exec(traceparent)!;
  return { id: id!, span: span! };
}

test("all calls that follow from one call share a trace, and each handler has its own span", async () => {
  await using world = await chain();
  const { a, b, c } = world;
  const one = (await a.traces.callOne([b, c])).map(parts);
  expect(new Set(one.map(({ id }) => id)).size).toBe(1);
  expect(new Set(one.map(({ span }) => span)).size).toBe(3);
  const other = (await a.traces.callOne([])).map(parts);
  expect(other[0]!.id).not.toBe(one[0]!.id);
});

test("a trace that began elsewhere is continued, and an invalid traceparent is refused", async () => {
  await using world = await chain();
  const { a, b } = world;
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const traces = await a.traces.with({ traceparent }).callOne([b]);
  for (const trace of traces) expect(trace).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[\da-f]{16}-01$/);
  expect(() => a.traces.with({ traceparent: "00-0-0-00" })).toThrow(
    'cannot call links.traces: expected a traceparent, got "00-0-0-00"',
  );
});

test("a trace passes through broadcasts, ports and streams", async () => {
  await using world = await chain();
  const { links, a, b } = world;
  const [port, receiver] = Channel.open(codec.string);
  links.traceTo.broadcast(port);
  const ids = [await receiver.recv(), await receiver.recv(), await receiver.recv()].map((trace) => parts(trace).id);
  expect(new Set(ids).size).toBe(1);
  expect(receiver.trace?.id).toBe(ids[0]);
  const own = parts(await a.castTraces.callOne(links.slice({ links: 1 }), port));
  expect(parts(await receiver.recv()).id).toBe(own.id);
  const spans: string[] = [];
  for await (const [, trace] of b.traceStream.stream(3)) spans.push(trace);
  expect(spans).toEqual([spans[0], spans[0], spans[0]]);
  const [handler, sent, received] = (await a.traceBack.callOne(b)) as [string, string, string];
  expect(parts(sent).id).toBe(parts(handler).id);
  expect(received).toBe(sent);
});
