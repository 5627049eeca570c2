/**
 * The interface between actors and the layers above them (supervision, spawning, processes): what a proc reports to
 * those layers, and the orders that it takes from them. Types only. Actors do not know owners, agents or child
 * processes.
 */

import type { MeshId, ProcId } from "../../link/address.js";
import type { DeliveryReason } from "../../link/errors.js";
import type { ActorDescriptor } from "../../wire/descriptor.js";
import type { Actor } from "../actor.js";
import type { ActorCell } from "../cell/actor-cell.js";
import type { WatchLimits } from "../cell/watchdog.js";
import type { ActorTarget } from "./mesh-record.js";

/** The class of an actor, as given to `spawn`. */
export interface ActorClass<Args extends readonly never[] = readonly never[]> {
  new (...args: Args): Actor;
  readonly descriptor: ActorDescriptor;
}

/** The failure of an actor. */
export interface ActorFailure {
  /**
   * The kind of the failure:
   * `constructor` and `init`: the actor never started.
   * `message`: a handler threw and no caller waits for the answer, or code that the actor had left running threw.
   * `supervise`: the actor did not handle the failure of a mesh that it owns.
   * `stuck`: a handler exceeded its time limit.
   * `killed`: another actor ordered the failure.
   */
  readonly kind: "constructor" | "init" | "message" | "supervise" | "stuck" | "killed";
  readonly error: unknown;
  /** The endpoint whose handler threw. */
  readonly endpoint?: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The arguments of `proc.createActor`. */
export interface ActorRequest {
  readonly mesh: MeshId;
  readonly rank: number;
  readonly incarnation: number;
  /** The name that was given to `spawn`: `spawn("counters", …)`. */
  readonly name: string;
  /** The sizes of the spawned mesh, in the order of its dimensions. */
  readonly extent: Readonly<Record<string, number>>;
  /** The proc whose actor spawned the mesh. It answers questions about the mesh. */
  readonly owner: ProcId;
  /** The time limits of handlers. Undefined: there are none. */
  readonly watch?: WatchLimits | undefined;
  readonly descriptor: ActorDescriptor;
  readonly actorClass: ActorClass;
  /** The decoded constructor arguments. They are used once. */
  readonly args: readonly unknown[];
}

export interface StopOptions {
  readonly reason: string;
  /** The time in which queued messages are still handled, in milliseconds. 0: none is handled. */
  readonly drain: number;
  /** The error that caused the stop, which is passed to `cleanup(error)`. */
  readonly error?: Error;
}

/** A message that expected no answer and could not be delivered. */
export interface Undeliverable {
  /** The receiver: `Counter.increment`, or `port of int32`. */
  readonly to: string;
  /** Why the message could not be delivered. */
  readonly reason: DeliveryReason;
  /** The reason as text for people. */
  readonly message: string;
}

/** The callbacks of a proc to the layers above it. Hooks never throw. */
export interface ProcHooks {
  /** Called when the constructor and `init` of an actor have succeeded. The actor handles messages from then on. */
  actorStarted(cell: ActorCell): void;
  /**
   * Called once per failure, when an actor has failed. It takes no more messages and its callers have been answered.
   */
  actorFailed(cell: ActorCell, failure: ActorFailure): void;
  /** Stops everything that the actor of `cell` owns. Called before the actor's `cleanup`. */
  stopOwned(cell: ActorCell, options: StopOptions): Promise<void>;
  /** Called when a handler of a watched actor takes long. */
  handlerSlow(cell: ActorCell, message: string): void;
  /** Called when `cleanup` of an actor threw. The actor ends all the same. */
  cleanupFailed(cell: ActorCell, error: unknown): void;
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
   * status), or a promise of it that settles within about 30 ms. Calls to `peer` fail with that text.
   *
   * @param fault the error because of which this process gave up the link, if it did
   */
  peerLost(peer: ProcId, error: Error | undefined, fault: Error | undefined): string | Promise<string>;
  /** Called when a message could not be delivered and its sender has no method `undeliverable`. */
  undeliverable(cell: ActorCell, message: Undeliverable): void;
  /** Called once per proc, when `peer` is dead and everything that was pending on it has just failed. */
  peerDown(peer: ProcId, reason: string): void;
}
