/** The actor at the center of a context. It lives in the program that has opened the context. */
import {
  type ActorFound,
  type ActorRequest,
  type ContextDescription,
  type PlacedBundle,
  TaskRootActor,
} from "../../../generated/tasks.js";

/** What a root does. The program sets it before the actor is created. */
export interface RootState {
  describe(): ContextDescription;
  actor(request: ActorRequest): Promise<ActorFound>;
  stopActor(name: string): Promise<boolean>;
  reserve(
    group: bigint,
    bundles: readonly Readonly<Record<string, number>>[],
    strategy: "pack" | "spread" | "strictPack" | "strictSpread",
    timeout: number,
  ): Promise<PlacedBundle[]>;
  unreserve(group: bigint): void;
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

  constructor(context: string) {
    super();
    const state = states.get(context);
    if (state === undefined)
      throw new Error(`cannot be the root of context ${context}: it was opened in another process`);
    this.#state = state;
  }

  describe(): ContextDescription {
    return this.#state.describe();
  }

  actor(request: ActorRequest): Promise<ActorFound> {
    return this.#state.actor(request);
  }

  stopActor(name: string): Promise<boolean> {
    return this.#state.stopActor(name);
  }

  reserve(
    group: bigint,
    bundles: Record<string, number>[],
    strategy: "pack" | "spread" | "strictPack" | "strictSpread",
    timeout: number,
  ): Promise<PlacedBundle[]> {
    return this.#state.reserve(group, bundles, strategy, timeout);
  }

  unreserve(group: bigint): void {
    this.#state.unreserve(group);
  }
}
