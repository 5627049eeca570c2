/**
 * The actor at the center of a context. It lives in the program that has opened the context, and owns the managers of the hosts:
 * the failure of a host is that of its tasks and actors, and not one of the program.
 */
import {
  type ActorFound,
  type ActorRequest,
  type ContextDescription,
  type PlacedBundle,
  TaskRootActor,
} from "../../../generated/tasks.js";
import type { MeshFailure } from "../../index.js";
import { currentCell, NoMessageTurn, runInTurn, runWithoutStorage } from "../kernel.js";
import type { PlacementStrategy } from "../placement/plan-bundles.js";
import type { GroupRequest } from "../placement/reserve-bundles.js";

/** Runs code whose meshes the root owns. */
export type AsRoot = <T>(body: () => T) => T;

/** The functions that a root calls for its messages. The program sets them before the actor is created. */
export interface RootState {
  /** Called when the actor is created. */
  created(asRoot: AsRoot): void;
  /** Called when a mesh that the root owns has failed, with its name and those of the meshes that failed with it. */
  failed(meshes: readonly string[]): void;
  describe(): ContextDescription;
  actor(request: ActorRequest): Promise<ActorFound>;
  findActor(name: string): Promise<ActorFound | null>;
  stopActor(name: string): Promise<boolean>;
  endActor(id: bigint, reason: string, drain: number): Promise<void>;
  actorEnded(id: bigint): void;
  /** Returns the index of the host of each bundle. */
  reserve(request: GroupRequest): Promise<number[]>;
  unreserve(group: bigint): Promise<void>;
}

const states = new Map<string, RootState>();

/** Sets what the root of a context does. */
export function addRootState(context: string, state: RootState): void {
  states.set(context, state);
}

/** Forgets a context that has been closed. */
export function removeRootState(context: string): void {
  states.delete(context);
}

/** @internal */
export class ContextRoot extends TaskRootActor {
  readonly #state: RootState;

  static {
    // Each program that has a context has a root of it. Promises cost the program less without storage.
    runWithoutStorage(ContextRoot, ["describe"]);
  }

  constructor(context: string) {
    super();
    const state = states.get(context);
    if (state === undefined)
      throw new Error(`cannot be the root of context ${context}: it was opened in another process`);
    this.#state = state;
    const turn = new NoMessageTurn(currentCell());
    state.created((body) => runInTurn(turn, body) as ReturnType<typeof body>);
  }

  override supervise({ mesh, affected }: MeshFailure): boolean {
    this.#state.failed([mesh, ...affected.map((other) => other.mesh)]);
    return true;
  }

  describe(): ContextDescription {
    return this.#state.describe();
  }

  actor(request: ActorRequest): Promise<ActorFound> {
    return this.#state.actor(request);
  }

  findActor(name: string): Promise<ActorFound | null> {
    return this.#state.findActor(name);
  }

  stopActor(name: string): Promise<boolean> {
    return this.#state.stopActor(name);
  }

  endActor(id: bigint, reason: string, drain: number): Promise<void> {
    return this.#state.endActor(id, reason, drain);
  }

  actorEnded(id: bigint): void {
    this.#state.actorEnded(id);
  }

  async reserve(
    group: bigint,
    bundles: Record<string, number>[],
    strategy: PlacementStrategy,
    timeout: number,
  ): Promise<PlacedBundle[]> {
    const hosts = await this.#state.reserve({ group, bundles, strategy, timeout });
    return hosts.map((host) => ({ host }));
  }

  unreserve(group: bigint): Promise<void> {
    return this.#state.unreserve(group);
  }
}
