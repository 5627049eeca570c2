/** Endpoints that handle a limited number of messages at once: `@concurrent 2`. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { Actor } from "../../../runtime/actor/actor.js";
import type { Endpoint } from "../../../runtime/actor/call/endpoint.js";
import type { StreamEndpoint } from "../../../runtime/actor/call/stream-endpoint.js";
import type { ActorMesh } from "../../../runtime/actor/mesh/actor-mesh.js";
import type { MeshKind } from "../../../runtime/actor/mesh-kind.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../../runtime/wire/descriptor.js";
import { type TestProc, World } from "../world.js";

const name = defineArgs(codec.tuple(codec.string), 1, 1);
const gates = defineActor({
  key: "test/gates#Gates",
  name: "Gates",
  id: 9,
  fingerprint: 0x99n,
  args: () => defineArgs(codec.tuple(), 0, 0),
  endpoints: () => ({
    two: { id: 1, args: name, result: codec.string, concurrent: 2 },
    one: { id: 2, args: name, result: codec.string, concurrent: 1 },
    items: { id: 3, args: name, result: codec.string, stream: true, concurrent: 1 },
    serial: { id: 4, args: name, result: codec.string },
    open: { id: 5, args: name },
    log: { id: 6, args: defineArgs(codec.tuple(), 0, 0), result: codec.array(codec.string) },
  }),
});

interface GatesKind extends MeshKind {
  readonly mesh: GatesMesh<this["dims"]>;
}
interface GatesMesh<D extends string = string> extends ActorMesh<GatesKind, D> {
  readonly two: Endpoint<[name: string], string, D>;
  readonly one: Endpoint<[name: string], string, D>;
  readonly items: StreamEndpoint<[name: string], string, D>;
  readonly serial: Endpoint<[name: string], string, D>;
  readonly open: Endpoint<[name: string], void, D>;
  readonly log: Endpoint<[], string[], D>;
}

/** Each handler waits at the gate of its name. `-` does not wait; names that start with `x` throw after the gate. */
class Gates extends Actor {
  static override readonly descriptor = gates;
  declare readonly $kind: GatesKind;
  readonly #log: string[] = [];
  readonly #waiting = new Map<string, () => void>();

  constructor() {
    super();
    actor = this;
  }

  async #pass(name: string): Promise<string> {
    this.#log.push(`+${name}`);
    if (name !== "-") await new Promise<void>((resolve) => this.#waiting.set(name, resolve));
    this.#log.push(`-${name}`);
    if (name.startsWith("x")) throw new Error(name);
    return name;
  }

  two(name: string): Promise<string> {
    return this.#pass(name);
  }
  one(name: string): Promise<string> {
    return this.#pass(name);
  }
  async *items(name: string): AsyncGenerator<string> {
    yield await this.#pass(name);
  }
  serial(name: string): Promise<string> {
    return this.#pass(name);
  }
  open(name: string): void {
    this.#waiting.get(name)?.();
  }
  log(): string[] {
    return this.#log;
  }
}

/** The actor of the running test. */
let actor: Gates;

/** Opens a gate without a message, once a handler waits at it. */
async function open(name: string): Promise<void> {
  while (!actor.log().includes(`+${name}`)) await new Promise((resolve) => setImmediate(resolve));
  actor.open(name);
}

let world: World;
let there: TestProc;
let mesh: GatesMesh<never>;
beforeEach(() => {
  world = new World();
  there = world.proc("there");
  mesh = world.spawn<typeof Gates, never>("gates", Gates, [], [there], {});
});
afterEach(() => world.close());

const lastMesh = (): bigint => [...world.ordered].at(-1) as bigint;

/** Returns the starts and ends of handlers so far, in order. */
const log = () => mesh.log.callOne();

test("calls over the limit wait, and messages of other endpoints are still handled", async () => {
  const calls = ["a", "b", "c", "d"].map((it) => mesh.two.callOne(it));
  mesh.open.broadcast("nobody");
  const other = mesh.one.callOne("other");
  const serial = mesh.serial.callOne("-");
  expect(await serial).toBe("-");
  expect(await log()).toEqual(["+a", "+b", "+other", "+-", "--"]);
  mesh.open.broadcast("b");
  expect(await calls[1]).toBe("b");
  expect((await log()).slice(5)).toEqual(["-b", "+c"]);
  mesh.open.broadcast("a");
  expect(await calls[0]).toBe("a");
  mesh.open.broadcast("c");
  expect(await calls[2]).toBe("c");
  expect((await log()).slice(7)).toEqual(["-a", "+d", "-c"]);
  mesh.open.broadcast("d");
  mesh.open.broadcast("other");
  expect(await Promise.all([calls[3], other])).toEqual(["d", "other"]);
});

test("a handler that throws frees its place, and so does a message without an answer", async () => {
  const thrown = mesh.two.callOne("x1");
  mesh.two.broadcast("quiet");
  const next = ["c", "d"].map((it) => mesh.two.callOne(it));
  expect(await log()).toEqual(["+x1", "+quiet"]);
  mesh.open.broadcast("x1");
  await expect(thrown).rejects.toThrow("x1");
  expect(await log()).toEqual(["+x1", "+quiet", "-x1", "+c"]);
  mesh.open.broadcast("quiet");
  await open("d");
  await open("c");
  expect(await log()).toEqual(["+x1", "+quiet", "-x1", "+c", "-quiet", "+d", "-d", "-c"]);
  expect(await Promise.all(next)).toEqual(["c", "d"]);
});

test("a call that waits for the limit can start while a serial handler still runs", async () => {
  const first = mesh.one.callOne("first");
  const second = mesh.one.callOne("second");
  const serial = mesh.serial.callOne("serial");
  while (!actor.log().includes("+serial")) await new Promise((resolve) => setImmediate(resolve));
  await open("first");
  expect(await first).toBe("first");
  await open("second");
  expect(await second).toBe("second");
  await open("serial");
  expect(await serial).toBe("serial");
  expect(await log()).toEqual(["+first", "+serial", "-first", "+second", "-second", "-serial"]);
});

test("a stream counts toward the limit until it has ended", async () => {
  const first = mesh.items.stream("first")[Symbol.asyncIterator]();
  const second = mesh.items.stream("second")[Symbol.asyncIterator]();
  const [one, two] = [first.next(), second.next()];
  expect(await log()).toEqual(["+first"]);
  mesh.open.broadcast("first");
  expect((await one).value?.[1]).toBe("first");
  expect((await first.next()).done).toBe(true);
  expect(await log()).toEqual(["+first", "-first", "+second"]);
  mesh.open.broadcast("second");
  expect((await two).value?.[1]).toBe("second");
});

test("a waiting call that is cancelled never starts, and the next one starts instead", async () => {
  const running = mesh.one.callOne("running");
  const waiting = mesh.one.callOne("waiting");
  const next = mesh.one.callOne("next");
  expect(await log()).toEqual(["+running"]);
  waiting.cancel();
  await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
  mesh.open.broadcast("running");
  expect(await running).toBe("running");
  expect(await log()).toEqual(["+running", "-running", "+next"]);
  mesh.open.broadcast("next");
  expect(await next).toBe("next");
});

test("stopping the actor without drain time rejects running and waiting calls", async () => {
  const calls = ["a", "b", "c", "d"].map((it) => mesh.one.callOne(it));
  expect(await log()).toEqual(["+a"]);
  const ended = Promise.allSettled(calls);
  await world.stop(there, lastMesh(), { drain: 0 });
  expect((await ended).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected", "rejected"]);
});

test("a stopped actor handles its waiting calls within the drain time", async () => {
  const [a, b] = [mesh.one.callOne("a"), mesh.one.callOne("b")];
  expect(await log()).toEqual(["+a"]);
  const stopped = world.stop(there, lastMesh(), { drain: 60_000 });
  await open("a");
  expect(await a).toBe("a");
  await open("b");
  expect(await b).toBe("b");
  await stopped;
});

test("thousands of waiting calls start in order, and do not delay other endpoints", async () => {
  const names = Array.from({ length: 3000 }, (_, i) => `${i}`);
  const calls = names.map((it) => mesh.one.callOne(it));
  expect(await mesh.serial.callOne("-")).toBe("-");
  for (const it of names) {
    mesh.open.broadcast(it);
    await calls[Number(it)];
  }
  const begun = (await log()).filter((line) => line.startsWith("+") && line !== "+-");
  expect(begun).toEqual(names.map((it) => `+${it}`));
});
