/**
 * The actor that simulated clusters are made of: it takes numbered messages in every way there is, and notes whatever comes
 * twice, out of order, or after a gap. All processes of a simulation run in one thread, so that one book is enough.
 */
import { Actor } from "../../runtime/actor/actor.js";
import { context } from "../../runtime/actor/context.js";
import type { Endpoint, StreamEndpoint } from "../../runtime/actor/endpoint.js";
import type { MeshKind } from "../../runtime/actor/kind.js";
import type { ActorMesh } from "../../runtime/actor/mesh.js";
import type { Port } from "../../runtime/actor/port.js";
import { thisHost } from "../../runtime/host/host-mesh.js";
import type { MeshFailure } from "../../runtime/supervise/failure.js";
import { codec } from "../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../runtime/wire/descriptor.js";

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
          codec.int32,
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
    echo: { id: 12, args: defineArgs(codec.tuple(codec.bytes), 1, 1), result: codec.bytes },
  }),
});

export interface LedgerKind extends MeshKind {
  readonly args: [];
  readonly mesh: LedgerMesh<this["dims"]>;
}

export interface LedgerMesh<D extends string = string> extends ActorMesh<LedgerKind, D> {
  readonly note: Endpoint<[from: string, number: number], void, D>;
  readonly add: Endpoint<[from: string, number: number], number, D>;
  readonly meet: Endpoint<[peers: LedgerMesh, rank: number], void, D>;
  readonly gossip: Endpoint<[rank: number, count: number], number, D>;
  readonly feed: Endpoint<[port: Port<number>, count: number], void, D>;
  readonly count: StreamEndpoint<[count: number], number, D>;
  readonly sleep: Endpoint<[ms: number], number, D>;
  readonly meanwhile: Endpoint<[ms: number], number, D>;
  readonly answer: Endpoint<[ms: number], number, D>;
  readonly fail: Endpoint<[], void, D>;
  readonly hire: Endpoint<[count: number], number, D>;
  readonly visit: Endpoint<[others: LedgerMesh, count: number], number, D>;
  readonly echo: Endpoint<[bytes: Uint8Array], Uint8Array, D>;
}

/** Of the messages that actors send to each other, so many-th ones are calls. */
const callsEach = 4;

/** Whether something has happened that explains what is seen. */
export interface FaultsSoFar {
  /** Connections were cut: what was on its way may be lost, or come after what went another way. */
  cut(): boolean;
  /** Processes have died: calls of theirs that wait are not made any more. */
  crash(): boolean;
}

/** What has been seen in one run. */
export class Book {
  readonly violations: string[] = [];
  /** Messages that have been handled. */
  deliveries = 0;
  /** Ranks that owners have been told of: how often, by owner, mesh and rank. */
  readonly told = new Map<string, number>();
  readonly #faults: FaultsSoFar;
  readonly #replaced = new Map<string, number>();
  readonly #seen = new Map<string, Set<number>>();
  #lives = 0;

  constructor(faults: FaultsSoFar) {
    this.#faults = faults;
  }

  /** A name that no other actor of this run has. */
  life(name: string, rank: number): string {
    return `${name}[${rank}]~${++this.#lives}`;
  }

  /** A failure has reached an owner. */
  owner(name: string, { mesh, ranks, affected }: MeshFailure): void {
    for (const lost of [{ mesh, ranks }, ...affected]) {
      for (const rank of lost.ranks) {
        const key = `${name}: ${lost.mesh}[${rank}]`;
        const times = (this.told.get(key) ?? 0) + 1;
        this.told.set(key, times);
        if (times > 1 + (this.#replaced.get(key) ?? 0)) this.violations.push(`told ${times} times: ${key}`);
      }
    }
  }

  /** A rank is to be replaced: its next life may fail, too. */
  replaced(mesh: string, rank: number): void {
    const key = `program: ${mesh}[${rank}]`;
    this.#replaced.set(key, (this.#replaced.get(key) ?? 0) + 1);
  }

  /** @param address of the receiver, whatever its incarnation */
  take(from: string, number: number, address: string, last: Map<string, number>): void {
    this.deliveries++;
    const before = last.get(from);
    const path = `${from} -> ${address}`;
    if (before !== undefined && !this.#follows(before, number) && !this.#faults.cut()) {
      this.violations.push(`${path}: ${number} came after ${before}`);
    }
    last.set(from, number);
    let seen = this.#seen.get(path);
    if (seen === undefined) {
      seen = new Set();
      this.#seen.set(path, seen);
    }
    if (seen.has(number)) this.violations.push(`${path}: ${number} came twice`);
    seen.add(number);
  }

  /** Nothing is missing between two messages, but calls that were not made since their caller had died. */
  #follows(before: number, number: number): boolean {
    if (number <= before) return false;
    for (let missing = before + 1; missing < number; missing++) {
      if (missing % callsEach !== 0 || !this.#faults.crash()) return false;
    }
    return true;
  }
}

let book: Book;

export function newBook(faults: FaultsSoFar): Book {
  book = new Book(faults);
  return book;
}

export class Ledger extends Actor {
  static override readonly descriptor = ledgerDescriptor;
  declare readonly $kind: LedgerKind;
  readonly #name: string;
  readonly #address: string;
  readonly #last = new Map<string, number>();
  readonly #sent = new Map<number, number>();
  #peers: LedgerMesh | undefined;
  #met = 0;
  #crews = 0;
  #sum = 0;

  constructor() {
    super();
    const { name, rank } = context().actor;
    this.#name = book.life(name, rank.rank);
    this.#address = `${name}[${rank.rank}]`;
  }

  override supervise(failure: MeshFailure): boolean {
    book.owner(this.#name, failure);
    return true;
  }

  override undeliverable(): void {}

  note(from: string, number: number): void {
    book.take(from, number, this.#address, this.#last);
    this.#sum++;
  }

  add(from: string, number: number): number {
    this.note(from, number);
    return this.#sum;
  }

  meet(peers: LedgerMesh): void {
    this.#peers = peers;
    this.#met++;
    this.#sent.clear();
  }

  /** Sends notes to a peer, over a link of its own. */
  async gossip(rank: number, count: number): Promise<number> {
    const peer = this.#peers?.slice({ gpus: rank } as never) as LedgerMesh | undefined;
    if (peer === undefined) return 0;
    const from = `${this.#name}/${this.#met}`;
    for (let i = 0; i < count; i++) {
      const number = (this.#sent.get(rank) ?? 0) + 1;
      this.#sent.set(rank, number);
      if (number % callsEach === 0) await peer.add.callSettled(from, number);
      else await peer.note.broadcast(from, number);
    }
    return count;
  }

  async feed(port: Port<number>, count: number): Promise<void> {
    for (let i = 0; i < count; i++) await port.send(i);
  }

  async *count(count: number): AsyncGenerator<number> {
    for (let i = 0; i < count; i++) {
      if (i % 8 === 7) await pause(1);
      yield i;
    }
  }

  async sleep(ms: number): Promise<number> {
    await pause(ms);
    return ms;
  }

  async meanwhile(ms: number): Promise<number> {
    await pause(ms);
    return ms;
  }

  answer(port: Port<number>, ms: number): void {
    setTimeout(() => port.send(ms), ms);
  }

  fail(): void {
    throw new Error("told to fail");
  }

  /** Makes processes of its own, which must go with it. */
  async hire(count: number): Promise<number> {
    const name = `crew${++this.#crews}`;
    const hands = thisHost().spawnProcs({ hands: count }, { name });
    const crew = hands.spawn(`${name} hands`, Ledger) as unknown as LedgerMesh<"hands">;
    const answers = await crew.sleep.callSettled(1);
    return [...answers.values()].filter(({ status }) => status === "fulfilled").length;
  }

  /** Calls actors that may be gone by then. */
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
