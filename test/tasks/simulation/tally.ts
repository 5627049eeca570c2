/** The actor of simulated contexts. It counts its calls, and records when it lives. */
import { Actor } from "../../../runtime/actor/actor.js";
import type { Endpoint } from "../../../runtime/actor/call/endpoint.js";
import type { ActorMesh } from "../../../runtime/actor/mesh/actor-mesh.js";
import type { MeshKind } from "../../../runtime/actor/mesh-kind.js";
import type { ProcessView } from "../../../runtime/testing/index.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../../runtime/wire/descriptor.js";
import type { SlotUse } from "./resource-use.js";
import type { TaskBook } from "./task-book.js";

export const tallyDescriptor = defineActor({
  key: "test/tally#Tally",
  name: "Tally",
  id: 11,
  fingerprint: 0x7461_6c6c_7900_0001n,
  args: () => defineArgs(codec.tuple(codec.string, codec.int32), 2, 2),
  endpoints: () => ({
    add: { id: 1, args: defineArgs(codec.tuple(codec.int32), 1, 1), result: codec.int32 },
    fail: { id: 2, args: defineArgs(codec.tuple(codec.int32), 1, 1), result: codec.int32 },
  }),
});

interface TallyKind extends MeshKind {
  readonly args: [name: string, slots: number];
  readonly mesh: TallyMesh<this["dims"]>;
}

interface TallyMesh<D extends string = string> extends ActorMesh<TallyKind, D> {
  readonly add: Endpoint<[call: number], number, D>;
  readonly fail: Endpoint<[call: number], number, D>;
}

/** The actors that live, by name, and the calls that have been handled. */
export class TallyBook {
  readonly #book: TaskBook;
  readonly #living = new Map<string, { readonly process: ProcessView; hasEnded: boolean }>();
  readonly #handled = new Set<number>();

  constructor(book: TaskBook) {
    this.#book = book;
  }

  /** An actor begins to live. Returns what is called when it ends. */
  begin(name: string, slots: number): () => void {
    const { process, resources } = this.#book;
    const taken = slots === 0 ? undefined : resources.take(`actor ${name}`, process, slots);
    if (taken?.violation !== undefined) this.#book.violation(taken.violation);
    const use: SlotUse | undefined = taken?.use;
    const life = { process, hasEnded: false };
    const before = this.#living.get(name);
    this.#living.set(name, life);
    if (before !== undefined && !before.hasEnded && !before.process.ended && this.#book.calm) {
      this.#book.violation(`actor ${name} lives on ${process.name} at the same time as on ${before.process.name}`);
    }
    return () => {
      life.hasEnded = true;
      if (use !== undefined) use.isOver = true;
    };
  }

  handle(name: string, call: number): void {
    if (this.#handled.has(call)) this.#book.violation(`call ${call} of actor ${name} was handled twice`);
    this.#handled.add(call);
  }
}

let current: TallyBook | undefined;

/** Sets the record of the next actors. */
export function setTallyBook(book: TallyBook): void {
  current = book;
}

export class Tally extends Actor {
  static override readonly descriptor = tallyDescriptor;
  declare readonly $kind: TallyKind;
  readonly #name: string;
  readonly #book = current!;
  readonly #end: () => void;
  #count = 0;

  constructor(name: string, slots: number) {
    super();
    this.#name = name;
    this.#end = this.#book.begin(name, slots);
  }

  add(call: number): number {
    this.#book.handle(this.#name, call);
    return ++this.#count;
  }

  /** Answers, and fails then. */
  fail(call: number): number {
    this.#book.handle(this.#name, call);
    throw new RangeError("planned by the program");
  }

  override cleanup(): void {
    this.#end();
  }
}
