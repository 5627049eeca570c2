/**
 * The seam between actors and everything above them (supervision, spawning, processes): what a proc tells upwards, and
 * what it is told to do. Types only. Actors know nothing of owners, agents or child processes.
 */

import type { MeshId, ProcId } from "../../link/address.js";
import type { DeliveryReason } from "../../link/errors.js";
import type { ActorDescriptor } from "../../wire/descriptor.js";
import type { Actor } from "../actor.js";
import type { ActorCell } from "../cell/actor-cell.js";
import type { WatchLimits } from "../cell/watchdog.js";
import type { ActorTarget } from "./mesh-record.js";

/** The class of an actor, as `spawn` is given it. */
export interface ActorClass<Args extends readonly never[] = readonly never[]> {
  new (...args: Args): Actor;
  readonly descriptor: ActorDescriptor;
}

/** Why an actor failed. */
export interface ActorFailure {
  /**
   * `constructor` and `init`: it never came to be. `message`: a handler threw where nobody waits for the answer, or code
   * that it had left running did.
   * `supervise`: it did not handle the failure of something it owns. `stuck`: a handler took longer than it may.
   * `killed`: somebody ordered it.
   */
  readonly kind: "constructor" | "init" | "message" | "supervise" | "stuck" | "killed";
  readonly error: unknown;
  /** The endpoint whose handler threw. */
  readonly endpoint?: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** What `proc.createActor` is given. */
export interface ActorRequest {
  readonly mesh: MeshId;
  readonly rank: number;
  readonly incarnation: number;
  /** The mesh's name: `spawn("counters", …)`. */
  readonly name: string;
  /** Sizes of the mesh as it was spawned, in order. */
  readonly extent: Readonly<Record<string, number>>;
  /** The proc whose actor made the mesh: who is asked about it. */
  readonly owner: ProcId;
  /** Undefined: its handlers may take as long as they do. */
  readonly watch?: WatchLimits | undefined;
  readonly descriptor: ActorDescriptor;
  readonly actorClass: ActorClass;
  /** Decoded; they are used once. */
  readonly args: readonly unknown[];
}

export interface StopOptions {
  readonly reason: string;
  /** Milliseconds in which queued messages are still handled; 0: none of them. */
  readonly drain: number;
  /** What made it stop, handed to `cleanup(error)`. */
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

/** What a proc tells upwards. Hooks never throw. */
export interface ProcHooks {
  /** An actor's constructor and `init` have ended well: it takes messages now. */
  actorStarted(cell: ActorCell): void;
  /** An actor failed: it takes no more messages, its callers have been told. Once per failure. */
  actorFailed(cell: ActorCell, failure: ActorFailure): void;
  /** Stop what `cell`'s actor owns; called before its `cleanup`. */
  stopOwned(cell: ActorCell, options: StopOptions): Promise<void>;
  /** A handler of an actor that is watched takes long. */
  handlerSlow(cell: ActorCell, message: string): void;
  /** An actor's `cleanup` threw; it ends all the same. */
  cleanupFailed(cell: ActorCell, error: unknown): void;
  /**
   * Somebody asks about a mesh that this proc owns, because a message for it came where it is not known. Resolves true
   * when its actors have been ordered or will be: `createActor` or `refuseActor` must then follow there. Resolves false
   * when there is none, or it is being stopped.
   */
  meshOrdered(mesh: MeshId): Promise<boolean>;
  /**
   * A call would go to an actor that is known to have ended. Its owner knows whether it comes back: `target` is to be told.
   * Called for each such call until it has been told that the actor does not come back.
   */
  targetDown(target: ActorTarget): void;
  /**
   * The last link to `peer` ended without a farewell. May return what is known about the end (an exit status), or a
   * promise of it that settles within some 30 ms: calls to `peer` fail with that text.
   * @param fault the link was given up here, because of this error
   */
  peerLost(peer: ProcId, error: Error | undefined, fault: Error | undefined): string | Promise<string>;
  /** A message came back, and the actor that sent it has no `undeliverable` of its own. */
  undeliverable(cell: ActorCell, message: Undeliverable): void;
  /** `peer` is dead: everything pending on it has just failed. Once per proc. */
  peerDown(peer: ProcId, reason: string): void;
}
