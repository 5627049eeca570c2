/** The actor that most tests call: a counter, with its descriptor written by hand. */
import { Actor } from "../../runtime/actor/actor.js";
import type { Endpoint } from "../../runtime/actor/call/endpoint.js";
import type { StreamEndpoint } from "../../runtime/actor/call/stream-endpoint.js";
import { context } from "../../runtime/actor/context.js";
import type { ActorMesh } from "../../runtime/actor/mesh/actor-mesh.js";
import type { MeshKind } from "../../runtime/actor/mesh-kind.js";
import type { Port } from "../../runtime/actor/port/port.js";
import { codec } from "../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../runtime/wire/descriptor.js";
import type { TestProc } from "./world.js";

export const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until something has come true, however busy the machine is. */
export async function until(what: string, test: () => boolean): Promise<void> {
  const end = Date.now() + 100_000;
  for (let i = 0; !test(); i++) {
    if (Date.now() > end) throw new Error(`never came true: ${what}`);
    await delay(i < 10 ? 0 : 5);
  }
}

/** Waits until counters on these procs are about to be aborted, or stream: `untilAborted` or `endless` has been called. */
export function begun(...procs: readonly TestProc[]): Promise<void> {
  const has = ({ proc }: TestProc) =>
    [...proc.cells()].some(({ instance }) => (instance as Counter | undefined)?.begun);
  return until("all have begun", () => procs.every(has));
}

export interface Where {
  rank: number;
  point: string;
  actor: string;
  caller: string;
}

const where = codec.object("Where", {
  rank: codec.int32,
  point: codec.string,
  actor: codec.string,
  caller: codec.string,
});

const none = defineArgs(codec.tuple(), 0, 0);
const int = defineArgs(codec.tuple(codec.int32), 1, 1);
const text = defineArgs(codec.tuple(codec.string), 1, 1);

export const counterDescriptor = defineActor({
  key: "test/counter#Counter",
  name: "Counter",
  id: 7,
  fingerprint: 0x1234_5678_9abc_def0n,
  args: () => int,
  endpoints: () => ({
    increment: { id: 1, args: defineArgs(codec.tuple(codec.optional(codec.int32)), 0, 1) },
    value: { id: 2, args: none, result: codec.int32, reduce: "sum" },
    watch: { id: 3, args: int, result: codec.int32, stream: true },
    fail: { id: 4, args: text },
    sleep: { id: 5, args: int, result: codec.int32 },
    where: { id: 6, args: none, result: where },
    whereAfterAwait: { id: 7, args: none, result: where },
    meanwhile: { id: 8, args: int, result: codec.string, concurrent: true },
    note: { id: 9, args: defineArgs(codec.tuple(codec.string, codec.int32), 2, 2) },
    log: { id: 10, args: none, result: codec.array(codec.string) },
    answer: { id: 11, args: text, result: codec.string, respond: true },
    bytes: { id: 12, args: defineArgs(codec.tuple(codec.bytes), 1, 1), result: codec.bytes },
    feed: {
      id: 13,
      args: defineArgs(
        codec.tuple(
          codec.port(() => codec.int32),
          codec.int32,
        ),
        2,
        2,
      ),
    },
    endless: { id: 14, args: none, result: codec.int32, stream: true },
    streamEnded: { id: 15, args: none, result: codec.boolean },
    untilAborted: { id: 16, args: none, result: codec.string },
    failOnEven: { id: 17, args: none, result: codec.int32, idempotent: true },
    failingStream: { id: 18, args: int, result: codec.int32, stream: true },
    whereStream: { id: 19, args: none, result: where, stream: true },
    impatient: { id: 20, args: int, result: codec.int32, timeout: 500 },
    large: { id: 21, args: int, result: codec.bytes },
  }),
});

export interface CounterKind extends MeshKind {
  readonly args: [initial: number];
  readonly mesh: CounterMesh<this["dims"]>;
}

export interface CounterMesh<D extends string = string> extends ActorMesh<CounterKind, D> {
  readonly increment: Endpoint<[by?: number], void, D>;
  readonly value: Endpoint<[], number, D, "sum">;
  readonly watch: StreamEndpoint<[count: number], number, D>;
  readonly fail: Endpoint<[message: string], void, D>;
  readonly sleep: Endpoint<[ms: number], number, D>;
  readonly where: Endpoint<[], Where, D>;
  readonly whereAfterAwait: Endpoint<[], Where, D>;
  readonly meanwhile: Endpoint<[ms: number], string, D>;
  readonly note: Endpoint<[text: string, ms: number], void, D>;
  readonly log: Endpoint<[], string[], D>;
  readonly answer: Endpoint<[how: string], string, D>;
  readonly bytes: Endpoint<[bytes: Uint8Array], Uint8Array, D>;
  readonly feed: Endpoint<[port: Port<number>, count: number], void, D>;
  readonly endless: StreamEndpoint<[], number, D>;
  readonly streamEnded: Endpoint<[], boolean, D>;
  readonly untilAborted: Endpoint<[], string, D>;
  readonly failOnEven: Endpoint<[], number, D>;
  readonly failingStream: StreamEndpoint<[after: number], number, D>;
  readonly whereStream: StreamEndpoint<[], Where, D>;
  readonly impatient: Endpoint<[ms: number], number, D>;
  readonly large: Endpoint<[size: number], Uint8Array, D>;
}

export class Counter extends Actor {
  static override readonly descriptor = counterDescriptor;
  declare readonly $kind: CounterKind;
  #value: number;
  readonly #log: string[] = [];
  #streamEnded = false;
  aborted = "";
  /** Whether `untilAborted` or `endless` has been called. */
  begun = false;

  constructor(initial: number) {
    super();
    if (initial === -1) throw new RangeError("no counting below zero");
    this.#value = initial;
  }

  override init(): void | Promise<void> {
    if (this.#value === -2) return Promise.reject(new Error("init refused"));
    this.#log.push("init");
  }

  increment(by = 1): void {
    this.#value += by;
  }

  value(): number {
    return this.#value;
  }

  async *watch(count: number): AsyncGenerator<number> {
    for (let i = 0; i < count; i++) yield this.#value;
  }

  fail(message: string): void {
    throw new TypeError(message, { cause: new Error("the root of it") });
  }

  async sleep(ms: number): Promise<number> {
    await delay(ms);
    return ms;
  }

  #where(): Where {
    const c = context();
    return {
      rank: c.rank.rank,
      point: c.rank.toString(),
      actor: `${c.actor.name} ${c.actor.rank.rank}`,
      caller: c.caller.name,
    };
  }

  where(): Where {
    return this.#where();
  }

  async whereAfterAwait(): Promise<Where> {
    await delay(2);
    return this.#where();
  }

  async meanwhile(ms: number): Promise<string> {
    this.#log.push("meanwhile");
    await delay(ms);
    return `slept ${ms}`;
  }

  async note(what: string, ms: number): Promise<void> {
    this.#log.push(`+${what}`);
    if (ms > 0) await delay(ms);
    this.#log.push(`-${what}`);
  }

  log(): string[] {
    return this.#log;
  }

  answer(port: Port<string>, how: string): void {
    if (how === "now") port.send("at once");
    else if (how === "later") setTimeout(() => port.send("later"), 5);
    else if (how === "error") port.exception(new RangeError("refused"));
    else if (how === "throw") throw new EvalError("thrown");
    else if (how === "twice") {
      port.send("first");
      try {
        port.send("second");
      } catch (error) {
        this.#log.push((error as Error).message);
      }
    }
  }

  bytes(bytes: Uint8Array): Uint8Array {
    return bytes;
  }

  async feed(port: Port<number>, count: number): Promise<void> {
    for (let i = 0; i < count; i++) await port.send(i);
  }

  async *endless(): AsyncGenerator<number> {
    this.begun = true;
    try {
      for (let i = 0; ; i++) yield i;
    } finally {
      this.#streamEnded = true;
    }
  }

  streamEnded(): boolean {
    return this.#streamEnded;
  }

  async untilAborted(): Promise<string> {
    const { signal } = context();
    this.begun = true;
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    this.#log.push(`aborted: ${(signal.reason as Error).name}`);
    return "aborted";
  }

  failOnEven(): number {
    const { rank } = context().rank;
    if (rank % 2 === 0) throw new Error(`even rank ${rank}`);
    return rank;
  }

  async *failingStream(after: number): AsyncGenerator<number> {
    for (let i = 0; i < after; i++) yield i;
    throw new Error("stream broke");
  }

  async impatient(ms: number): Promise<number> {
    await delay(ms);
    return ms;
  }

  large(size: number): Uint8Array {
    return new Uint8Array(size);
  }

  async *whereStream(): AsyncGenerator<Where> {
    yield this.#where();
    await delay(2);
    yield this.#where();
  }
}
