/** Generated base classes and meshes at run time: one actor with every kind of endpoint, in the process of the test. */

import { Channel, thisHost } from "viceroy";
import { type Port, registerActors } from "viceroy/codegen/v1";
import { afterAll, expect, test } from "vitest";
import {
  type Config,
  ConfigCodec,
  CounterActor,
  type CounterMesh,
  counterDescriptor,
} from "./golden/actors/expected/actors.js";
import { WorkerActor, type WorkerMesh, workerDescriptor } from "./golden/actors/expected/deep/worker.js";

class MemoryCounter extends CounterActor {
  #value: number;
  #config: Config | undefined;

  constructor(initial: number, config?: Config) {
    super();
    this.#value = initial;
    this.#config = config;
  }

  increment(by = 1): void {
    this.#value += by;
  }
  value(): number {
    return this.#value;
  }
  *watch(count: number): Iterable<number> {
    for (let i = 0; i < count; i++) yield this.#value + i;
  }
  async configure(config: Config, force: boolean, reason?: string): Promise<Config> {
    if (this.#config === undefined || force) this.#config = config;
    return reason === undefined ? this.#config : { ...this.#config, name: reason };
  }
  get(key: string): string | null {
    return key === "name" ? (this.#config?.name ?? null) : null;
  }
  ask(port: Port<string>, question: string): void {
    port.send(`${question}!`);
  }
  total(): number {
    return this.#value;
  }
  async feed(port: Port<Config>, points: [x: number, y: number][]): Promise<void> {
    for (const [x, y] of points) await port.send({ name: `${x},${y}`, size: this.#value });
  }
  workers(workers: WorkerMesh<"gpus">, _others: WorkerMesh<"hosts" | "gpus">): WorkerMesh {
    return workers;
  }
  *others(counter: CounterMesh): Iterable<CounterMesh> {
    yield counter;
  }
}

class Echo extends WorkerActor {
  readonly #counter: CounterMesh;

  constructor(counter: CounterMesh) {
    super();
    this.#counter = counter;
  }
  async work(config: Config): Promise<Config[]> {
    const values = await this.#counter.value.call();
    return [...values.values()].map((size) => ({ ...config, size }));
  }
}

registerActors(import.meta.url, {
  package: "golden",
  version: "0.1.0",
  schemas: {
    [counterDescriptor.key]: counterDescriptor.fingerprint,
    [workerDescriptor.key]: workerDescriptor.fingerprint,
  },
  actors: {
    "golden/test/spawn#MemoryCounter": { schema: counterDescriptor.key, load: async () => MemoryCounter },
    "golden/test/spawn#Echo": { schema: workerDescriptor.key, load: async () => Echo },
  },
});

const procs = thisHost().spawnProcs({ gpus: 2 }, { isolation: "inline" });
afterAll(() => procs.stop());

test("every kind of endpoint behaves as its schema declares", async () => {
  const counters = procs.spawn("counters", MemoryCounter, 3, { name: "first" });
  const one = counters.slice({ gpus: 0 });
  await counters.increment.call();
  await one.increment.callOne(2);
  expect([...(await counters.value.call()).values()]).toEqual([6, 4]);
  const seen: number[] = [];
  for await (const [, value] of one.watch.stream(2)) seen.push(value);
  expect(seen).toEqual([6, 7]);
  expect(await one.configure.callOne({ name: "second", size: 2 }, false)).toEqual({ name: "first" });
  expect(await one.configure.callOne({ name: "second", size: 2 }, true)).toEqual({ name: "second", size: 2 });
  expect(await one.configure.callOne({ name: "third" }, false, "why")).toEqual({ name: "why", size: 2 });
  expect([await one.get.callOne("name"), await one.get.callOne("size")]).toEqual(["second", null]);
  expect(await one.ask.callOne("why")).toBe("why!");
  expect(await counters.total.reduce("sum")).toBe(10);
});

test("ports and meshes can be passed as arguments, and meshes as items of a stream", async () => {
  const counters = procs.spawn("travellers", MemoryCounter, 1);
  const one = counters.slice({ gpus: 0 });
  const [port, receiver] = Channel.open(ConfigCodec);
  const fed = one.feed.callOne(port, [[1, 2]]);
  expect(await receiver.recv()).toEqual({ name: "1,2", size: 1 });
  await fed;
  const workers = procs.spawn("workers", Echo, counters);
  expect(await workers.slice({ gpus: 1 }).work.callOne({ name: "w" })).toEqual([
    { name: "w", size: 1 },
    { name: "w", size: 1 },
  ]);
  const others: number[][] = [];
  for await (const [, other] of one.others.stream(counters)) others.push([...(await other.value.call()).values()]);
  expect(others).toEqual([[1, 1]]);
});

test("a mesh that an actor gets and answers has the dimensions of its declaration, and reaches the same actors", async () => {
  const counters = procs.spawn("senders", MemoryCounter, 5);
  const one = counters.slice({ gpus: 0 });
  const workers = procs.spawn("employees", Echo, counters);
  await using hosts = thisHost().spawnProcs({ hosts: 2, gpus: 1 }, { isolation: "inline" });
  const others = hosts.spawn("others", Echo, counters);
  const answered = await one.workers.callOne(workers, others);
  expect(answered.extent.toString()).toBe(workers.extent.toString());
  const answers = await answered.work.call({ name: "w" });
  expect([...answers.values()]).toEqual(Array(2).fill(Array(2).fill({ name: "w", size: 5 })));
  const misfit = one.workers.callOne as (...args: unknown[]) => unknown;
  expect(() => misfit.call(one.workers, counters, others)).toThrow(/^cannot encode Counter\.workers\(workers\): /);
  expect(() => misfit.call(one.workers, others, others)).toThrow(/^cannot encode Counter\.workers\(workers\): /);
});

test("a call whose arguments do not fit the schema throws before a message is sent", () => {
  const counters = procs.spawn("refusers", MemoryCounter, 1);
  const configure = counters.configure.call as (...args: unknown[]) => unknown;
  expect(() => configure.call(counters.configure, { name: 1 }, true)).toThrow(
    /^cannot encode Counter\.configure\(config\)\.name: invalid string/,
  );
  expect(() => counters.increment.broadcast(0.5)).toThrow(/^cannot encode Counter\.increment\(by\): invalid int32/);
});
