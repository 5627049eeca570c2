/**
 * The actor of simulated clusters. It receives numbered messages by every kind of call, and sends messages to others.
 */
import { Actor } from "../../runtime/actor/actor.js";
import type { Endpoint } from "../../runtime/actor/call/endpoint.js";
import type { Settled } from "../../runtime/actor/call/gather-call.js";
import type { StreamEndpoint } from "../../runtime/actor/call/stream-endpoint.js";
import { context } from "../../runtime/actor/context.js";
import type { ActorMesh } from "../../runtime/actor/mesh/actor-mesh.js";
import type { MeshKind } from "../../runtime/actor/mesh-kind.js";
import type { Port } from "../../runtime/actor/port/port.js";
import { thisHost } from "../../runtime/host/mesh/host-mesh.js";
import { currentRuntime } from "../../runtime/proc/process/current-runtime.js";
import { range, type ValueMesh } from "../../runtime/shape/index.js";
import type { MeshFailure } from "../../runtime/supervise/mesh-failure.js";
import { codec } from "../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../runtime/wire/descriptor.js";
import { currentBook, type MessageReceiver } from "./message-book.js";

const none = defineArgs(codec.tuple(), 0, 0);
const int = defineArgs(codec.tuple(codec.int32), 1, 1);
const numbered = defineArgs(codec.tuple(codec.string, codec.int32), 2, 2);

export const ledgerDescriptor = defineActor({
  key: "test/ledger#Ledger",
  name: "Ledger",
  id: 9,
  fingerprint: 0x6c65_6467_6572_0001n,
  args: () => none,
  endpoints: () => ({
    note: { id: 1, args: numbered },
    add: { id: 2, args: numbered, result: codec.int32 },
    meet: {
      id: 3,
      args: defineArgs(
        codec.tuple(
          codec.mesh(() => ledgerDescriptor),
          codec.string,
        ),
        2,
        2,
      ),
    },
    gossip: {
      id: 4,
      args: defineArgs(codec.tuple(codec.int32, codec.int32), 2, 2),
      result: codec.int32,
      concurrent: true,
    },
    feed: {
      id: 5,
      args: defineArgs(
        codec.tuple(
          codec.port(() => codec.int32),
          codec.int32,
        ),
        2,
        2,
      ),
    },
    count: { id: 6, args: int, result: codec.int32, stream: true },
    sleep: { id: 7, args: int, result: codec.int32 },
    meanwhile: { id: 8, args: int, result: codec.int32, concurrent: true },
    answer: { id: 9, args: int, result: codec.int32, respond: true },
    fail: { id: 10, args: none },
    hire: { id: 11, args: int, result: codec.int32 },
    visit: {
      id: 13,
      args: defineArgs(
        codec.tuple(
          codec.mesh(() => ledgerDescriptor),
          codec.int32,
        ),
        2,
        2,
      ),
      result: codec.int32,
      concurrent: true,
    },
    lend: { id: 15, args: int, result: codec.mesh(() => ledgerDescriptor) },
    where: { id: 14, args: int, result: codec.array(codec.int32) },
    echo: { id: 12, args: defineArgs(codec.tuple(codec.bytes), 1, 1), result: codec.bytes },
    reach: { id: 16, args: int, result: codec.string, concurrent: true },
    patient: { id: 17, args: none, concurrent: true },
    keep: { id: 18, args: defineArgs(codec.tuple(codec.port(() => codec.int32)), 1, 1) },
  }),
});

export interface LedgerKind extends MeshKind {
  readonly args: [];
  readonly mesh: LedgerMesh<this["dims"]>;
}

export interface LedgerMesh<D extends string = string> extends ActorMesh<LedgerKind, D> {
  readonly note: Endpoint<[from: string, number: number], void, D>;
  readonly add: Endpoint<[from: string, number: number], number, D>;
  readonly meet: Endpoint<[peers: LedgerMesh, name: string], void, D>;
  readonly gossip: Endpoint<[rank: number, count: number], number, D>;
  readonly feed: Endpoint<[port: Port<number>, count: number], void, D>;
  readonly count: StreamEndpoint<[count: number], number, D>;
  readonly sleep: Endpoint<[ms: number], number, D>;
  readonly meanwhile: Endpoint<[ms: number], number, D>;
  readonly answer: Endpoint<[ms: number], number, D>;
  readonly fail: Endpoint<[], void, D>;
  readonly hire: Endpoint<[count: number], number, D>;
  readonly visit: Endpoint<[others: LedgerMesh, count: number], number, D>;
  readonly lend: Endpoint<[count: number], LedgerMesh<"hands">, D>;
  readonly where: Endpoint<[n: number], number[], D>;
  readonly echo: Endpoint<[bytes: Uint8Array], Uint8Array, D>;
  readonly reach: Endpoint<[rank: number], string, D>;
  readonly patient: Endpoint<[], void, D>;
  readonly keep: Endpoint<[port: Port<number>], void, D>;
}

/** Every n-th message between actors is a call. */
const callsEach = 4;

export class Ledger extends Actor {
  static override readonly descriptor = ledgerDescriptor;
  declare readonly $kind: LedgerKind;
  readonly #book = currentBook();
  readonly #name: string;
  readonly #taker: MessageReceiver;
  #peers: LedgerMesh | undefined;
  #size = 0;
  #meshName = "";
  /** The name of this actor as a sender to its peers. */
  #sender = "";
  #met = 0;
  /** The last number that this actor has sent. */
  #number = 0;
  #sum = 0;
  readonly #kept: Port<number>[] = [];
  /** The sequential message that is being handled. */
  #handling: string | undefined;

  constructor() {
    super();
    const { name, rank } = context().actor;
    const address = `${name}[${rank.rank}]`;
    this.#name = this.#book.life(address);
    this.#taker = this.#book.taker(this.#name, address, currentRuntime().platform.pid);
  }

  override supervise(failure: MeshFailure): boolean {
    this.#book.owner(this.#name, failure);
    return true;
  }

  override cleanup(): void {
    this.#isOver();
  }

  /** The calls of an ended actor are not awaited any more. */
  #isOver(): void {
    this.#taker.over = true;
    for (let met = 1; met <= this.#met; met++) this.#book.senderEnded(`${this.#name}/${met}`);
  }

  override undeliverable(): void {
    this.#book.bounced(this.#sender);
  }

  note(from: string, number: number): void {
    this.#take(from, number);
  }

  add(from: string, number: number): number {
    this.#take(from, number);
    return this.#sum;
  }

  #take(from: string, number: number): void {
    this.#begin(`${number} of ${from}`)();
    this.#book.take(from, number, this.#taker);
    this.#sum++;
  }

  /** Marks the start of a sequential message. @returns a function that marks its end */
  #begin(what: string): () => void {
    if (this.#taker.over) this.#book.violation(`${this.#taker.address}: ${what} was handled after its end`);
    if (this.#handling !== undefined) {
      this.#book.violation(`${this.#taker.address}: ${what} was handled during ${this.#handling}`);
    }
    this.#handling = what;
    return () => {
      this.#handling = undefined;
    };
  }

  meet(peers: LedgerMesh, name: string): void {
    if (this.#peers !== undefined && this.#meshName === name) return;
    this.#peers = peers;
    this.#size = peers.size;
    this.#meshName = name;
    this.#sender = `${this.#name}/${++this.#met}`;
    this.#book.sender(this.#sender, this.#taker.pid);
  }

  /** Sends notes and calls to a peer over a direct link, and sometimes to many peers. */
  async gossip(rank: number, count: number): Promise<number> {
    const all = this.#peers;
    if (all === undefined) return 0;
    for (let i = 0; i < count; i++) {
      const many = i % 5 === 3;
      const [low, high] = many ? [rank % 2, this.#size] : [rank, rank + 1];
      const call = i % callsEach === 0;
      const number = ++this.#number;
      const addresses = Array.from({ length: high - low }, (_, at) => `${this.#meshName}[${low + at}]`);
      const to = all.slice({ gpus: range(low, high) } as never) as LedgerMesh;
      const undo = this.#book.sent(this.#sender, addresses, number, call);
      let sent: PromiseLike<unknown>;
      try {
        sent = call ? to.add.callSettled(this.#sender, number) : to.note.broadcast(this.#sender, number);
      } catch (error) {
        undo();
        throw error;
      }
      const outcome = await sent;
      if (!call && !many) this.#book.credited(this.#sender, addresses[0]!, number);
      if (!call) continue;
      for (const { status } of (outcome as ValueMesh<Settled<number>>).values()) {
        if (status === "rejected") this.#book.bounced(this.#sender);
      }
    }
    return count;
  }

  where(n: number): number[] {
    return [context().rank.rank * 1000 + n];
  }

  async feed(port: Port<number>, count: number): Promise<void> {
    const end = this.#begin("feed");
    for (let i = 0; i < count; i++) await port.send(i);
    end();
  }

  async *count(count: number): AsyncGenerator<number> {
    const end = this.#begin("count");
    this.#taker.unfinished++;
    try {
      for (let i = 0; i < count; i++) {
        if (i % 8 === 7) await pause(1);
        yield i;
      }
    } finally {
      this.#taker.unfinished--;
      end();
    }
  }

  async sleep(ms: number): Promise<number> {
    const end = this.#begin("sleep");
    await pause(ms);
    end();
    return ms;
  }

  /** Holds a port until the end of the actor, and never sends a value. */
  keep(port: Port<number>): void {
    this.#kept.push(port);
  }

  /** Waits until its caller cancels the call. */
  async patient(): Promise<void> {
    const { signal } = context();
    this.#taker.unfinished++;
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    this.#taker.unfinished--;
  }

  /** Calls a peer. @returns the error, or an empty text */
  async reach(rank: number): Promise<string> {
    if (this.#peers === undefined) return "";
    const one = this.#peers.slice({ gpus: rank } as never) as unknown as LedgerMesh;
    const [outcome] = [...(await one.meanwhile.callSettled(0)).values()];
    return outcome?.status === "rejected" ? outcome.reason.message : "";
  }

  async meanwhile(ms: number): Promise<number> {
    await pause(ms);
    return ms;
  }

  answer(port: Port<number>, ms: number): void {
    setTimeout(() => port.send(ms), ms);
  }

  fail(): void {
    // Its calls are cancelled first, then its processes end, and then `cleanup` runs.
    this.#isOver();
    this.#book.failed(this.#taker.address);
    throw new Error("told to fail");
  }

  /** Spawns processes, which must end with this actor. */
  async hire(count: number): Promise<number> {
    const answers = await this.#crew(count).sleep.callSettled(1);
    return [...answers.values()].filter(({ status }) => status === "fulfilled").length;
  }

  /** Spawns processes for others, which may call them after their end or the end of this actor. */
  lend(count: number): LedgerMesh<"hands"> {
    return this.#crew(count);
  }

  #crew(count: number): LedgerMesh<"hands"> {
    const name = this.#book.crew(this.#taker);
    const hands = thisHost().spawnProcs({ hands: count }, { name });
    return hands.spawn(`${name} hands`, Ledger) as unknown as LedgerMesh<"hands">;
  }

  /** Calls actors that may have ended. */
  async visit(others: LedgerMesh, count: number): Promise<number> {
    for (let i = 0; i < count; i++) {
      await others.meanwhile.callSettled(1);
      await pause(i);
    }
    return count;
  }

  echo(bytes: Uint8Array): Uint8Array {
    return bytes;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
