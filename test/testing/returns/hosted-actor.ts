/** The actor on hosts that are lost and come back: it says which incarnation it is, and calls others of its mesh. */
import { Actor } from "../../../runtime/actor/actor.js";
import type { Endpoint } from "../../../runtime/actor/call/endpoint.js";
import { context } from "../../../runtime/actor/context.js";
import type { ActorMesh } from "../../../runtime/actor/mesh/actor-mesh.js";
import type { MeshKind } from "../../../runtime/actor/mesh-kind.js";
import { currentRuntime } from "../../../runtime/proc/process/current-runtime.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../../runtime/wire/descriptor.js";
import { currentReturnBook } from "./return-book.js";

export const hostedActorDescriptor = defineActor({
  key: "test/hosted-actor#HostedActor",
  name: "HostedActor",
  id: 23,
  fingerprint: 0x7075_7069_6c00_0001n,
  args: () => defineArgs(codec.tuple(), 0, 0),
  endpoints: () => ({
    take: { id: 1, args: defineArgs(codec.tuple(codec.int32), 1, 1), result: codec.int32 },
    pass: {
      id: 2,
      args: defineArgs(
        codec.tuple(
          codec.mesh(() => hostedActorDescriptor),
          codec.int32,
        ),
        2,
        2,
      ),
      result: codec.int32,
      concurrent: true,
    },
  }),
});

export interface HostedActorKind extends MeshKind {
  readonly args: [];
  readonly mesh: HostedActorMesh<this["dims"]>;
}

export interface HostedActorMesh<D extends string = string> extends ActorMesh<HostedActorKind, D> {
  /** Handles a message. Returns the incarnation of the actor. */
  readonly take: Endpoint<[number: number], number, D>;
  /** Has an actor call another one. Returns the incarnation of that one, or -1 if it has not answered. */
  readonly pass: Endpoint<[to: HostedActorMesh, number: number], number, D>;
}

export class HostedActor extends Actor {
  static override readonly descriptor = hostedActorDescriptor;
  declare readonly $kind: HostedActorKind;
  readonly #book = currentReturnBook();
  readonly #rank: number;
  readonly #incarnation: number;

  constructor() {
    super();
    const { rank, id } = context().actor;
    this.#rank = rank.rank;
    this.#incarnation = id.incarnation;
    this.#book.begins(this.#rank, { incarnation: id.incarnation, pid: currentRuntime().platform.pid });
  }

  take(number: number): number {
    this.#book.takes(this.#rank, this.#incarnation, number);
    return this.#incarnation;
  }

  async pass(to: HostedActorMesh, number: number): Promise<number> {
    try {
      return await to.take.callOne(number);
    } catch {
      return -1;
    }
  }
}
