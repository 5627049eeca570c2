/**
 * The hooks by which a proc reports to the layers above it (supervision, spawning, processes). Types only. Actors do not
 * know owners, agents or child processes.
 */
import type { MeshId, ProcId } from "../../link/address.js";
import type { ActorFailure } from "./actor-failure.js";
import type { LocalActor } from "./local-actor.js";
import type { ActorTarget } from "./mesh-record.js";
import type { SavedState } from "./saved-state.js";
import type { StopOptions } from "./stop-options.js";
import type { Undeliverable } from "./undeliverable.js";

/** The callbacks of a proc to the layers above it. Hooks never throw. */
export interface ProcHooks {
  /** Called when the constructor and `init` of an actor have succeeded. The actor handles messages from then on. */
  actorStarted(actor: LocalActor): void;
  /**
   * Called once per failure, when an actor has failed. It takes no more messages and its callers have been answered.
   */
  actorFailed(actor: LocalActor, failure: ActorFailure): void;
  /** Stops everything that `actor` owns. Called before the actor's `cleanup`. */
  stopOwned(actor: LocalActor, options: StopOptions): Promise<void>;
  /**
   * Stores the last state of an actor that is being stopped. Called before `stopOwned`. Rejects when the state is not
   * stored.
   */
  storeLastState(actor: LocalActor, saved: SavedState): Promise<void>;
  /** Called when the last state of an actor could not be saved or stored. The actor ends all the same. */
  lastStateLost(actor: LocalActor, error: unknown): void;
  /**
   * Called when an actor with `maxCalls` has handled so many messages, and nothing is being handled. It handles no other message
   * until they are passed on to the actor in another process.
   */
  callsSpent(actor: LocalActor): void;
  /** Called when a handler of a watched actor takes long. */
  handlerSlow(actor: LocalActor, message: string): void;
  /** Called when `cleanup` of an actor threw. The actor ends all the same. */
  cleanupFailed(actor: LocalActor, error: unknown): void;
  /**
   * Asks about a mesh that this proc owns, because a message for it arrived in a process that does not know the mesh.
   * Resolves to true if the actors have been ordered or will be: `createActor` or `refuseActor` must then follow in
   * that process. Resolves to false if there is no such mesh or it is being stopped.
   */
  meshOrdered(mesh: MeshId): Promise<boolean>;
  /**
   * Called when a call is to go to an actor that is known to have ended. The owner of the actor knows whether the actor
   * comes back, and the hook must report that to `target`. Called for each such call until `target` knows that the
   * actor does not come back.
   */
  targetDown(target: ActorTarget): void;
  /**
   * Called when the last link to `peer` has ended without a farewell. Returns what is known about the end (an exit
   * status), or a promise of it that settles within about 250 ms. Calls to `peer` fail with that text.
   *
   * @param fault the error because of which this process gave up the link, if it did
   */
  peerLost(peer: ProcId, error: Error | undefined, fault: Error | undefined): string | Promise<string>;
  /** Called when a message could not be delivered and its sender has no method `undeliverable`. */
  undeliverable(actor: LocalActor, message: Undeliverable): void;
  /** Called once per proc, when `peer` is dead and everything that was pending on it has just failed. */
  peerDown(peer: ProcId, reason: string): void;
}
