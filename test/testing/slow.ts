/** Actors that take time for each message and note what they have handled, for simulated clusters. */
import { Actor } from "../../runtime/actor/actor.js";
import type { Endpoint } from "../../runtime/actor/call/endpoint.js";
import { context } from "../../runtime/actor/context.js";
import type { ActorMesh } from "../../runtime/actor/mesh/actor-mesh.js";
import type { MeshKind } from "../../runtime/actor/mesh-kind.js";
import { codec } from "../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../runtime/wire/descriptor.js";

const two = defineArgs(codec.tuple(codec.int32, codec.int32), 2, 2);

const slowDescriptor = defineActor({
  key: "test/slow#Slow",
  name: "Slow",
  id: 10,
  fingerprint: 0x736c_6f77_0000_0001n,
  args: () => defineArgs(codec.tuple(), 0, 0),
  endpoints: () => ({
    note: { id: 1, args: two },
    sum: { id: 2, args: two, result: codec.int32, concurrent: true },
    pass: {
      id: 3,
      args: defineArgs(
        codec.tuple(
          codec.mesh(() => slowDescriptor),
          codec.int32,
        ),
        2,
        2,
      ),
    },
  }),
});

interface SlowKind extends MeshKind {
  readonly args: [];
  readonly mesh: SlowMesh<this["dims"]>;
}

export interface SlowMesh<D extends string = string> extends ActorMesh<SlowKind, D> {
  readonly note: Endpoint<[number: number, ms: number], void, D>;
  readonly sum: Endpoint<[number: number, ms: number], number, D>;
  readonly pass: Endpoint<[to: SlowMesh, count: number], void, D>;
}

/** The handled numbers by rank, in order, each with the incarnation of the actor. */
let handled: Map<number, { number: number; life: number }[]>;
let lives = 0;

/** Forgets what the actors of earlier tests have handled. */
export function forgetHandled(): void {
  handled = new Map();
}

/** Returns the numbers that the actors of a rank have handled, in order. */
export function numbersOf(rank: number): number[] {
  return (handled.get(rank) ?? []).map(({ number }) => number);
}

/** Returns the numbers that each actor of a rank has handled, in order. */
export function numbersByLife(rank: number): number[][] {
  const lives = new Map<number, number[]>();
  for (const { number, life } of handled.get(rank) ?? []) lives.set(life, [...(lives.get(life) ?? []), number]);
  return [...lives.values()];
}

/** Returns how many actors of a rank have handled numbers. */
export function livesOf(rank: number): number {
  return new Set((handled.get(rank) ?? []).map(({ life }) => life)).size;
}

export class Slow extends Actor {
  static override readonly descriptor = slowDescriptor;
  declare readonly $kind: SlowKind;
  readonly #life = ++lives;

  async note(number: number, ms: number): Promise<void> {
    const { rank } = context().actor.rank;
    const known = handled.get(rank) ?? [];
    handled.set(rank, [...known, { number, life: this.#life }]);
    await pause(ms);
  }

  async sum(number: number, ms: number): Promise<number> {
    await pause(ms);
    return number;
  }

  pass(to: SlowMesh, count: number): void {
    for (let number = 0; number < count; number++) void to.note.broadcast(number, 50);
  }
}

/** Resolves after a time in ms. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
