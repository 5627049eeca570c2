/** The base class of actors, which generated base classes extend. It adds nothing but types to a class. */
import type { ActorDescriptor } from "../wire/descriptor.js";
import type { MeshKind } from "./mesh-kind.js";
import type { Undeliverable } from "./reference/undeliverable.js";

/** The failure that `supervise` receives. At run time the value is a {@link MeshFailure}, which has more members. */
export interface SupervisedFailure {
  /** The name of the mesh that failed, as given to `spawn`. */
  readonly mesh: string;
  /** The ranks that failed, ascending, as numbered in the mesh that was spawned. */
  readonly ranks: readonly number[];
  /** How the ranks failed: one of the values of {@link FailureKind}. */
  readonly kind: string;
  /** The error that made the ranks fail. */
  readonly cause: Error;
  /** The time of the failure, by the clock of the process that noticed it. */
  readonly at: Date;
  /** Returns a description of several lines: the mesh, the ranks and the chain of causes. */
  report(): string;
}

/**
 * The base class of all actors. An actor handles one message at a time, also while a handler awaits. Extend the base
 * class that the compiler generates for an actor interface, never this class.
 */
export abstract class Actor {
  /** Describes the endpoints and codecs of the actor interface. Generated code sets it. */
  declare static readonly descriptor: ActorDescriptor;
  /** Exists only for the type checker, which derives the type of the mesh that `spawn` returns from it. */
  declare readonly $kind: MeshKind;

  /** Runs after the constructor and before the actor handles any message. If it throws or rejects, the actor fails. */
  init?(): void | Promise<void>;

  /**
   * Handles the failure of ranks of a mesh that this actor owns. Only the owner of the mesh receives the failure. The
   * call is a turn of its own: it can run while a handler awaits, and two calls of `supervise` never overlap.
   *
   * @param failure a {@link MeshFailure}
   * @returns true if the failure has been handled; otherwise this actor fails, too
   */
  supervise?(failure: SupervisedFailure): boolean | Promise<boolean>;

  /** Receives each message that this actor sent without expecting an answer and that could not be delivered. */
  undeliverable?(message: Undeliverable): void;

  /**
   * Runs once when the actor stops or has failed, after everything that the actor owns has stopped. It does not run
   * after SIGKILL.
   *
   * @param error the reason why the actor ends, absent if it was stopped
   */
  cleanup?(error?: Error): void | Promise<void>;
}
