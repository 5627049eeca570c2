/** The base class of actors: what generated base classes extend. It adds nothing but types to a class. */
import type { ActorDescriptor } from "../wire/descriptor.js";
import type { MeshKind } from "./mesh-kind.js";
import type { Undeliverable } from "./reference/proc-hooks.js";

/** What an owner is told: `MeshFailure`, as far as this layer knows it. */
export interface SupervisedFailure {
  readonly mesh: string;
  readonly ranks: readonly number[];
  readonly kind: string;
  readonly cause: Error;
  readonly at: Date;
  report(): string;
}

/**
 * An actor: one object that takes messages one at a time, also across `await`. Extend the generated base class of a
 * schema, never this one.
 */
export abstract class Actor {
  declare static readonly descriptor: ActorDescriptor;
  /** For the type checker alone: which mesh `spawn` makes of the class. */
  declare readonly $kind: MeshKind;

  /** Runs after the constructor and before any message. When it throws, the actor has failed. */
  init?(): void | Promise<void>;

  /**
   * Told, on the owner alone, that ranks of a mesh it owns have failed; in a turn of its own, also between a handler's
   * awaits, never two at once.
   * @returns true: handled. Otherwise this actor fails too.
   */
  supervise?(failure: SupervisedFailure): boolean | Promise<boolean>;

  /** Told of each message without an answer that this actor sent and that could not be delivered. */
  undeliverable?(message: Undeliverable): void;

  /**
   * Runs once when the actor stops or has failed, after everything it owns has stopped.
   * @param error why, unless it was ordered to stop
   */
  cleanup?(error?: Error): void | Promise<void>;
}
